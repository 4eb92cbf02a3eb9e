"""The Compare page: two models or two runs, what changed, and the code of both sides."""

from collections.abc import Iterable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import state
from dashboard.state import View
from dashboard.text import diff_view
from evaluator.model import Mode, Task, TestCase, Verdict
from tests.dashboard import rows
from tests.dashboard.rows import Show
from tests.dashboard.test_pages import cards, click, component, text, visit
from tests.manifests import manifest_of

REWARDS = {"P": 1.0, "W": 0.0, "E": 0.0, "?": None}
VERDICTS = {verdict.letter: verdict for verdict in Verdict}
WRONG, RIGHT = "def f(n):\n    return n - 1\n", "def f(n):\n    return n + 1\n"
SMALL = {f"t/{n}": "W" for n in range(8)} | {"t/8": "P", "t/same": "P", "t/gone": "P"}
LARGE = {f"t/{n}": "P" for n in range(8)} | {"t/8": "E", "t/same": "P", "t/new": "?"}


def write(path: Path, sides: Iterable[tuple[str, dict[str, str]]], **manifest: object) -> Path:
    """A run of (model, letters of each task's samples)."""
    cases = (TestCase(0, "", "1\n"),)
    names = dict.fromkeys(name for _, letters in sides for name in letters)
    tasks = [Task(task_id=name, mode=Mode.STDIN, prompt="Print.", cases=cases) for name in names]
    samples = [(model, name, it) for model, letters in sides for name, all_ in letters.items() for it in all_]
    found = [
        rows.row(
            name, f"{name}#{place}", reward=REWARDS[letter], verdict=VERDICTS[letter], model=model,
            code=RIGHT if letter == "P" else WRONG,
        )
        for place, (model, name, letter) in enumerate(samples)
    ]  # fmt: skip
    return rows.write(path, found, *tasks, manifest=manifest_of(**manifest))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("compared")
    sides = [("small", SMALL), ("large|r", LARGE)]
    return [
        write(folder / "models", sides, dataset_hash="x"),
        write(folder / "alone", sides[:1], dataset_hash="alone"),
        write(folder / "again", [("small", LARGE)], dataset_hash="x"),
        write(folder / "many", [("m", {"t": "PW" * 40}), ("n", {"t": "WWPP"})]),
    ]


@pytest.fixture(autouse=True)
def opened(stored: list[Path], show: Show) -> None:
    show(*stored)


def listed(app: AppTest) -> list[dict[str, object]]:
    found: list[dict[str, object]] = component(app, "compare_tasks")["rows"]
    return [row for row in found if row["label"] != "together"]


def test_a_run_of_two_models_compares_them_at_once() -> None:
    app = visit("compare", run="models")
    assert "B is worse by 70.0 points (95%: " in text(app)
    assert "over 10 shared tasks; exact McNemar p = 0.039" in text(app)
    named = View(run="models", a="models|large|r", b="models|small")
    assert component(app, "name")["address"].endswith(state.href("compare", named))


def test_the_tasks_are_listed_by_change_and_the_means_lead_to_the_rollouts_of_each_side() -> None:
    app = visit("compare", a="models|small", b="models|large|r")
    found = listed(app)
    assert [(row["label"], row["note"]) for row in found[7:]] == [
        ("7", "fixed"), ("8", "broken"), ("same", "same"), ("gone", "only in A"), ("new", "only in B"),
    ]  # fmt: skip
    assert found[8]["cells"] == [[["P", ""]], [["E", ""]]]
    assert [row["selected"] is True for row in found] == [True] + [False] * 11
    assert {name: card["value"] for name, card in cards(app).items()} == {"A: small": "20.0%", "B: large|r": "90.0%"}
    assert cards(app)["B: large|r"]["href"] == "rollouts?run=models&model=large%7Cr"


def test_a_change_lists_its_tasks_alone_and_counts_all() -> None:
    app = visit("compare", a="models|small", b="models|large|r", view="broken")
    assert [row["label"] for row in listed(app)] == ["t/8"]
    [control] = app.get("button_group")
    labels = [option.content for option in control.proto.options]
    assert labels == ["all 12", "fixed 8", "broken 1", "same 1", "only in A 1", "only in B 1"]


def test_the_code_of_both_sides_is_shown_beside_each_other() -> None:
    body = text(visit("compare", a="models|small", b="models|large|r", task="t/3"))
    assert "t/3 · fixed" in body
    assert "A: wrong_answer" in body
    assert "B: passed" in body
    assert "return n <i>-</i> 1" in body


def test_a_filter_holds_for_both_sides_and_by_outcome_takes_the_headline() -> None:
    assert [row["label"] for row in listed(visit("compare", run="models", q="t/2"))] == ["t/2"]
    ignored = visit("compare", run="models", model="small")
    assert "the filter&#x27;s model is ignored here" in text(ignored)
    assert len(listed(ignored)) == 12
    by_outcome = text(visit("compare", run="models", verdict="failed"))
    assert "No headline." in by_outcome
    assert "the filter selects rollouts by outcome" in by_outcome


def test_a_run_of_one_model_is_compared_with_a_run_of_the_same_dataset() -> None:
    app = visit("compare", run="again")
    assert component(app, "name")["address"].endswith("a=again&b=models")
    assert "B is worse" in text(app) or "No difference" in text(app)


def test_a_single_model_is_compared_with_itself_first_step_against_last(tmp_path: Path, show: Show) -> None:
    found = [
        rows.row(f"t{task}", f"t{task}#{step}", reward=float(task < step), model="m", step=step)
        for step in (1, 5, 9)
        for task in range(8)
    ]
    other = [rows.row("elsewhere", "x", reward=1.0)]
    show(rows.write(tmp_path / "trained", found), rows.write(tmp_path / "other", other))
    app = visit("compare")
    named = View(run="trained", a="trained", b="trained", a_step=1, b_step=9)
    assert component(app, "name")["address"].endswith(state.href("compare", named))
    assert "B is better by 87.5 points" in text(app)
    assert [row["note"] for row in listed(app)] == ["fixed"] * 7 + ["same"]
    assert cards(app)["B: trained, step 9"]["href"] == "rollouts?run=trained&step_min=9&step_max=9"
    assert app.selectbox(key="w_b").options == ["trained"]  # the other run has none of its tasks
    app = visit("compare", **named.params())
    app.selectbox(key="w_step_b").set_value(5).run()
    assert app.query_params["b_step"] == "5"
    assert "B - A is 50.0 points" in text(app)


def test_without_a_second_side_the_page_says_what_to_open(stored: list[Path], show: Show) -> None:
    show(stored[1])
    app = visit("compare")
    assert "no other run with its tasks is open" in text(app)
    assert f"rollscope view {stored[1]} OTHER_RUN" in text(app)


@pytest.mark.parametrize("name", ["../models", "modelssmall"])
def test_an_address_opens_only_what_the_command_opened(name: str) -> None:
    app = visit("compare", a="models|small", b=name)
    assert f"{name} is not open here. Choose another run:" in text(app)
    assert "better" not in text(app)


def test_a_model_that_the_run_lacks_shows_no_task_of_it() -> None:
    app = visit("compare", a="models|small", b="models|nobody")
    assert "no shared task has graded rollouts on both sides" in text(app)


def test_many_samples_are_counted_by_letter_and_can_be_chosen_and_swapped() -> None:
    app = visit("compare", a="many|m", b="many|n", sample="t#3")
    [row] = listed(app)
    assert row["cells"] == [[["P", "40"], ["W", "40"]], [["W", ""], ["W", ""], ["P", ""], ["P", ""]]]
    assert component(app, "compare_tasks")["rows"][0]["cells"] == row["cells"]  # of all tasks together
    chosen = {box.label: box.value for box in app.selectbox}
    assert chosen["Sample of A"] == "t#3"
    assert chosen["Sample of B"] == "t#82"  # the first that passes, where A's does not
    app = click(visit("compare", a="many|m", b="many|n", sample="t#3", at="t#81"), "swap")
    params = state.parse({name: "".join(value) for name, value in app.query_params.items()})
    assert (params.a, params.b, params.sample, params.at) == ("many|n", "many|m", "t#81", "t#3")


def test_similar_lines_mark_what_differs_and_others_do_not() -> None:
    similar = diff_view.two_codes("total = a + b\n", "total = a * b\n", "9px")
    assert "<i>+</i>" in similar
    assert "<i>" not in diff_view.two_codes("for x in range(3):\n", "yield None\n", "9px")
    assert "<b>" not in diff_view.two_codes("print('<b>')\n", "print('<i>')\n", "9px")
    assert diff_view.two_codes("x = 1\n", "x = 1\n", "9px").count('class="ln"') == 2
