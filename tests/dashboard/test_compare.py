"""The Compare page: two models or two runs, what changed, and the code of both sides."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import state, workspace
from dashboard.compare import compare_view
from dashboard.state import View
from evaluator.model import Grade, Limits, Mode, Rollout, Task, TestCase, Verdict
from evaluator.runs.reading import Manifest, RunWriter
from tests.dashboard import sample_run
from tests.dashboard.test_pages import component, no_exception, text, visit

HOSTILE = sample_run.HOSTILE
LETTERS = {verdict.letter: verdict for verdict in Verdict}
WRONG, RIGHT = "def f(n):\n    return n - 1\n", "def f(n):\n    return n + 1\n"
SMALL = {f"t/{n}": "W" for n in range(8)} | {"t/8": "P", "t/same": "P", "t/gone": "P"}
LARGE = {f"t/{n}": "P" for n in range(8)} | {"t/8": "E", "t/same": "P", "t/new": "?"}


def write(path: Path, sides: Iterable[tuple[str, dict[str, str]]], **manifest: object) -> Path:
    """A run of (model, letters of each task's samples)."""
    row = 0
    with RunWriter.create(path, Manifest(**manifest)) as writer:  # type: ignore[arg-type]
        for name in dict.fromkeys(name for _, letters in sides for name in letters):
            cases = (TestCase(0, "", "1\n"),)
            writer.add_task(Task(task_id=name, mode=Mode.STDIN, prompt="Print.", cases=cases), cases)
        for model, letters in sides:
            for name, verdicts in letters.items():
                for letter in verdicts:
                    verdict, sample = LETTERS[letter], f"{name}#{row}"
                    reward = float(verdict is Verdict.PASSED) if verdict.graded else None
                    code = RIGHT if letter == "P" else WRONG
                    grade = Grade(task_id=name, sample_id=sample, verdict=verdict, reward=reward, code=code)
                    writer.add(Rollout(task_id=name, sample_id=sample, completion=code, model=model), grade, row)
                    row += 1
        writer.close()
    return path


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    sides = [("small", SMALL), ("large|r", LARGE)]
    runs = [
        write(tmp_path / "models", sides, dataset_hash="x"),
        write(tmp_path / "alone", sides[:1], dataset_hash="alone"),
        write(tmp_path / "again", [("small", LARGE)], dataset_hash="x"),
        write(tmp_path / "strict", sides, limits=Limits(wall_s=1.0), dataset_hash="x"),
        write(tmp_path / "many", [("m", {"t": "PW" * 40}), ("n", {"t": "WWPP"})]),
        write(tmp_path / "hostile", [(HOSTILE, {HOSTILE: "P"}), ("plain", {HOSTILE: "W"})]),
    ]
    monkeypatch.setenv(workspace.VARIABLE, json.dumps({"runs": [str(run) for run in runs]}))
    return tmp_path


def compared(**params: str) -> AppTest:
    app = visit("compare", **params)
    no_exception(app)
    return app


def rows(app: AppTest) -> list[dict[str, object]]:
    found: list[dict[str, object]] = component(app, "compare_tasks")["rows"]
    return found


@pytest.mark.usefixtures("opened")
def test_a_run_of_two_models_compares_them_at_once() -> None:
    app = compared(run="models")
    assert "B is worse by 70.0 points (95%: " in text(app)
    assert "over 10 shared tasks; exact McNemar p = 0.039" in text(app)
    named = View(run="models", a="models|large|r", b="models|small")
    assert component(app, "name")["address"].endswith(state.href("compare", named))


@pytest.mark.usefixtures("opened")
def test_the_tasks_are_listed_by_change_with_the_letters_of_both_sides() -> None:
    listed = rows(compared(a="models|small", b="models|large|r"))
    assert [(row["label"], row["note"]) for row in listed[7:]] == [
        ("t/7", "fixed"),
        ("t/8", "broken"),
        ("t/same", "same"),
        ("t/gone", "only in A"),
        ("t/new", "only in B"),
    ]
    assert listed[8]["cells"] == [[["P", ""]], [["E", ""]]]
    assert listed[0]["selected"] is True
    assert sum(row["selected"] is True for row in listed) == 1


@pytest.mark.usefixtures("opened")
def test_a_change_lists_its_tasks_alone_and_counts_all() -> None:
    app = compared(a="models|small", b="models|large|r", view="broken")
    assert [row["label"] for row in rows(app)] == ["t/8"]
    [control] = app.get("button_group")
    labels = [option.content for option in control.proto.options]
    assert labels == ["all 12", "fixed 8", "broken 1", "same 1", "only in A 1", "only in B 1"]


@pytest.mark.usefixtures("opened")
def test_the_code_of_both_sides_is_shown_beside_each_other() -> None:
    app = compared(a="models|small", b="models|large|r", task="t/3")
    body = text(app)
    assert "t/3 · fixed" in body
    assert "A: wrong_answer" in body
    assert "B: passed" in body
    assert "return n <i>-</i> 1" in body
    assert "return n <i>+</i> 1" in body


@pytest.mark.usefixtures("opened")
def test_other_limits_take_the_headline_and_leave_the_lists() -> None:
    app = compared(a="models|small", b="strict|large|r")
    assert "No headline." in text(app)
    assert "wall_s differs: 10 in A, 1 in B" in text(app)
    assert "better" not in text(app)
    assert len(rows(app)) == 12


@pytest.mark.usefixtures("opened")
def test_a_filter_holds_for_both_sides_and_by_outcome_takes_the_headline() -> None:
    assert [row["label"] for row in rows(compared(run="models", q="t/2"))] == ["t/2"]
    ignored = compared(run="models", model="small")
    assert "the filter&#x27;s model is ignored here" in text(ignored)
    assert len(rows(ignored)) == 12
    assert "the filter selects rollouts by outcome" in text(compared(run="models", verdict="failed"))


@pytest.mark.usefixtures("opened")
def test_a_run_of_one_model_is_compared_with_a_run_of_the_same_dataset() -> None:
    app = compared(run="again")
    assert component(app, "name")["address"].endswith("a=again&b=models")
    assert "B is worse" in text(app) or "No difference" in text(app)


def test_without_a_second_side_the_page_says_what_to_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = write(tmp_path / "alone", [("small", SMALL)])
    monkeypatch.setenv(workspace.VARIABLE, json.dumps({"runs": [str(alone)]}))
    app = compared()
    assert "no other run is open" in text(app)
    assert f"rollscope view {alone} OTHER_RUN" in text(app)


@pytest.mark.usefixtures("opened")
@pytest.mark.parametrize("name", ["/etc", "nowhere|small", "../models", "models2", "modelssmall"])
def test_an_address_opens_only_what_the_command_opened(name: str) -> None:
    app = compared(a="models|small", b=name)
    assert f"{name} is not open here. Choose another run:" in text(app)
    assert "better" not in text(app)


@pytest.mark.usefixtures("opened")
def test_a_model_that_the_run_lacks_shows_no_task_of_it() -> None:
    app = compared(a="models|small", b="models|nobody")
    assert "no shared task has graded rollouts on both sides" in text(app)


@pytest.mark.usefixtures("opened")
def test_many_samples_are_counted_by_letter_and_can_be_chosen() -> None:
    app = compared(a="many|m", b="many|n", sample="t#3")
    [row] = rows(app)
    assert row["cells"] == [[["P", "40"], ["W", "40"]], [["W", ""], ["W", ""], ["P", ""], ["P", ""]]]
    chosen = {box.label: box.value for box in app.selectbox}
    assert chosen["Sample of A"] == "t#3"
    assert chosen["Sample of B"] == "t#82"  # the first that passes, where A's does not


@pytest.mark.usefixtures("opened")
def test_names_from_files_are_never_markup() -> None:
    app = compared(run="hostile")
    assert "<img" not in text(app)
    assert "&lt;img" in text(app)
    [row] = rows(app)
    assert row["label"] == HOSTILE


@pytest.mark.usefixtures("opened")
def test_swapping_the_sides_swaps_the_samples_too() -> None:
    app = compared(a="many|m", b="many|n", sample="t#3", at="t#81")
    app.button(key="swap").click().run()
    params = state.parse({name: "".join(value) for name, value in app.query_params.items()})
    assert (params.a, params.b) == ("many|n", "many|m")
    assert (params.sample, params.at) == ("t#81", "t#3")


@pytest.mark.usefixtures("opened")
def test_the_means_lead_to_the_rollouts_of_each_side() -> None:
    cards = component(compared(a="models|small", b="models|large|r"), "cards")["cards"]
    assert [(card["name"], card["value"]) for card in cards] == [("A: small", "20.0%"), ("B: large|r", "90.0%")]
    assert cards[1]["href"] == "rollouts?run=models&model=large%7Cr"


def test_similar_lines_mark_what_differs_and_others_do_not() -> None:
    similar = compare_view.beside("total = a + b\n", "total = a * b\n")
    assert "<i>+</i>" in similar
    assert "<i>" not in compare_view.beside("for x in range(3):\n", "yield None\n")
    assert "<b>" not in compare_view.beside("print('<b>')\n", "print('<i>')\n")
    assert compare_view.beside("x = 1\n", "x = 1\n").count('class="ln"') == 2
