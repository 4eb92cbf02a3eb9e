"""The pages as Streamlit runs them, without a browser."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import state
from tests.dashboard import sample_run
from tests.dashboard.conftest import APP

PAGES = list(state.PAGES)


def visit(page: str, /, **params: str) -> AppTest:
    """A fresh visitor who opens the address of a page."""
    app = AppTest.from_file(str(APP), default_timeout=60)
    app.query_params.update(params)
    if page != "overview":
        app.switch_page(state.path(page))
    app.run()
    return app


def followed(app: AppTest) -> AppTest:
    """The page that the script asks the browser to open."""
    address = urlsplit(component(app, "go")["address"])
    return visit(address.path.strip("./") or "overview", **dict(parse_qsl(address.query)))


def text(app: AppTest) -> str:
    """All HTML and text of the page."""
    return "\n".join([e.proto.body for e in app.html] + [e.value for e in app.markdown] + [e.value for e in app.code])


def component(app: AppTest, key: str) -> dict[str, Any]:
    """What one of our own components was given to draw."""
    (found,) = [e for e in app.get("bidi_component") if f"-{key}" in e.proto.id]
    return json.loads(found.proto.json)


def no_exception(app: AppTest) -> None:
    assert not app.exception, [e.value for e in app.exception]
    assert not app.error, [e.value for e in app.error]


@pytest.mark.usefixtures("opened")
@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize(
    "params",
    [
        pytest.param({}, marks=pytest.mark.smoke),
        {"verdict": "failed"},
        {"q": "add", "model": "small", "view": "table"},
        {"view": "raw", "verdict": "runtime_error"},
        {"flag": "missing_package: pandas"},
        {"flag": "nothing: at all"},
        {"task": "math/add"},
        {"task": "math/add", "sample": "add#2", "test": "2"},
        {"task": f"text/{sample_run.HOSTILE}", "view": "prompt"},
        {"task": "math/untried"},
        {"task": "nowhere"},
        {"task": "math/add", "sample": "nobody", "test": "99"},
        {"run": "empty"},
        {"run": "not-open"},
        {"run": "checks", "verified": "no"},
        {"run": "checks", "verified": "no: nobody said this", "view": "table"},
        {"run": "checks", "task": "checks/top", "sample": "top#1", "test": "3"},
        {"run": "withheld", "task": "checks/stack", "sample": "stack#1", "test": "1"},
        {"q": "matches nothing"},
        {"sort": "slow", "page": "99"},
        {"verdict": "?", "page": "-1", "test": "x", "r_min": "nan"},
    ],
    ids=str,
)
def test_no_address_makes_a_page_fail_or_draws_markup_from_a_file(page: str, params: dict[str, str]) -> None:
    app = visit(page, **params)
    no_exception(app)
    assert "<img" not in text(app)
    labels = [e.label for e in (*app.button, *app.expander, *app.page_link)]
    assert not any("<img" in label.replace("\\<", "") or " **bold**" in label for label in labels)


@pytest.mark.usefixtures("opened")
@pytest.mark.parametrize("verdict", ["compile_error", "time_limit", "memory_limit", "output_limit", "rejected",
                                     "sandbox_error", "no_code", "unknown"])  # fmt: skip
def test_a_completion_without_traceback_says_why(verdict: str) -> None:
    app = visit("completion", task="text/all-kinds", sample=f"k/{verdict}")
    no_exception(app)
    shown = text(app)
    assert f"{verdict} ·" in shown
    assert "rs-error" in shown
    expected = {"no_code": "no code or answer was found", "unknown": "no test cases", "time_limit": "10 s wall"}
    assert expected.get(verdict, f"{verdict} happened after 1.5 s") in shown


@pytest.mark.usefixtures("opened")
def test_overview_counts_ungraded_rollouts_apart_from_failures() -> None:
    app = visit("overview")
    found = {card["name"]: card for card in component(app, "cards")["cards"]}
    assert found["rollouts"]["value"] == "13"
    assert found["unknown"]["value"] == "1"
    assert found["sandbox_error"]["value"] == "1"
    assert found["mean reward, 2 models"]["value"] == f"{2 / 11:.3f}"
    assert found["unknown"]["href"] == "rollouts?run=sample&verdict=unknown"


@pytest.mark.usefixtures("opened")
def test_overview_counts_flags_and_missing_packages_each_a_link_to_its_rollouts() -> None:
    app = visit("overview")
    rows = component(app, "flag_bars")["rows"]
    assert [(row["label"], row["count"], row["href"]) for row in rows] == [
        ("missing_package", "2", "rollouts?run=sample&flag=missing_package"),
        ("ctypes", "1", "rollouts?run=sample&flag=ctypes"),
        ("missing_package: pandas", "2", "rollouts?run=sample&flag=missing_package%3A+pandas"),
    ]
    assert "2 of 13 rollouts" in text(visit("rollouts", flag="missing_package: pandas"))


@pytest.mark.usefixtures("opened")
def test_a_run_without_flags_has_no_place_for_them() -> None:
    app = visit("overview", verdict="passed")
    assert "Flags" not in text(app)
    assert not [e for e in app.get("bidi_component") if "-flag_bars" in e.proto.id]


@pytest.mark.usefixtures("opened")
def test_a_completion_shows_each_flag_with_its_evidence_as_text() -> None:
    shown = text(visit("completion", task="math/add", sample="add#2"))
    assert "<b>ctypes</b>" in shown
    assert '<a href="#L159">line 159</a>: &lt;img src=x' in shown
    assert "<b>missing_package</b><span>pandas</span>" in shown
    assert 'class="rs-flags"' not in text(visit("completion", task="math/add", sample="add#0"))


@pytest.mark.usefixtures("opened")
def test_the_sidebar_filters_by_flag() -> None:
    app = visit("rollouts")
    assert app.selectbox(key="w_flag").options == ["missing_package (2)", "ctypes (1)", "missing_package: pandas (2)"]
    app.selectbox(key="w_flag").set_value("ctypes").run()
    assert app.query_params["flag"] == "ctypes"
    assert "1 of 13 rollouts" in text(app)


@pytest.mark.usefixtures("opened")
def test_pass_at_1_is_not_shown_for_rollouts_picked_by_outcome() -> None:
    found = {card["name"]: card for card in component(visit("overview", verdict="passed"), "cards")["cards"]}
    assert found["pass@1"]["note"] == "filtered by outcome"


@pytest.mark.usefixtures("opened")
def test_the_first_failure_opens_at_its_failing_line() -> None:
    app = visit("overview")
    app = followed(app.button(key="first_failure").click().run())
    no_exception(app)
    assert app.query_params["task"] == "math/add"
    shown = text(app)
    assert '<span class="ln fail" id="L4">' in shown
    assert '<span class="ln frame" id="L3">' in shown
    assert "AttributeError" in shown
    assert "1 of 9" in shown


@pytest.mark.usefixtures("opened")
def test_next_and_previous_stay_inside_the_filter() -> None:
    app = visit("completion", verdict="runtime_error")
    assert "1 of 2" in text(app)
    app.button(key="next").click().run()
    assert "2 of 2" in text(app)
    assert app.query_params["sample"] == "add#2"
    assert app.button(key="next").disabled
    app.button(key="previous").click().run()
    assert app.query_params["sample"] == "add#1"


@pytest.mark.usefixtures("opened")
def test_next_failing_test_case() -> None:
    app = visit("completion", task="math/add", sample="add#1", test="0")
    app.button(key="next_failing").click().run()
    assert app.query_params["test"] == "1"
    assert app.button(key="next_failing").disabled


@pytest.mark.usefixtures("opened")
def test_a_wrong_answer_shows_input_difference_and_the_extra_line() -> None:
    shown = text(visit("completion", verdict="wrong_answer"))
    assert "line 2" in shown
    assert '<td class="actual">two<i>·</i></td>' in shown
    assert "four" in shown


@pytest.mark.usefixtures("opened")
def test_the_raw_completion_shows_where_the_code_was_cut() -> None:
    shown = text(visit("completion", task="math/add", sample="add#1", test="1", view="raw"))
    assert '<span class="ln cut" id="R1">' in shown
    assert '<span class="ln took fail" id="R6">' in shown
    assert '<span class="ln took" id="R7">' in shown
    assert '<span class="ln cut" id="R8">' in shown  # the closing fence


@pytest.mark.usefixtures("opened")
def test_an_unknown_task_offers_the_nearest() -> None:
    app = visit("completion", task="math/ad")
    assert "not in this run" in text(app)
    assert any("Nearest" in link.label for link in app.page_link)


@pytest.mark.usefixtures("opened")
def test_a_filter_that_matches_nothing_says_which_part_took_the_rows_and_undoes_it() -> None:
    app = visit("rollouts", q="add#1", verdict="passed")
    assert "matches none of 13" in text(app)
    assert "2 rollouts" in app.button(key="undo_q").label
    app.button(key="undo_q").click().run()
    no_exception(app)
    assert "q" not in app.query_params
    assert "2 of 13 rollouts" in text(app)


@pytest.mark.usefixtures("opened")
def test_the_sidebar_writes_the_filter_into_the_address() -> None:
    app = visit("overview")
    app.text_input(key="w_q").set_value("add").run()
    app.multiselect(key="w_verdicts").set_value(["passed", "runtime_error"]).run()
    assert app.query_params["q"] == "add"
    assert app.query_params["verdict"] == "passed,runtime_error"
    assert "4 of 13 rollouts" in text(app)
    app.button(key="w_clear").click().run()
    assert "13 of 13 rollouts" in text(app)


@pytest.mark.usefixtures("opened")
def test_another_run_starts_with_an_empty_filter() -> None:
    app = visit("rollouts", q="add")
    app.selectbox(key="w_run").set_value("empty").run()
    no_exception(app)
    assert dict(app.query_params) == {"run": "empty"}
    assert "holds no rollouts" in text(app)


@pytest.mark.usefixtures("opened")
def test_a_page_beyond_the_last_shows_the_last() -> None:
    app = visit("rollouts", page="99")
    assert next(row["id"] for row in component(app, "task_grid")["rows"]) == "math/add"


@pytest.mark.usefixtures("opened")
def test_tasks_shows_test_cases_raw_and_parsed() -> None:
    shown = text(visit("tasks", task="math/add", test="1"))
    assert "2 of 4" not in shown
    assert "1\n2" in shown
    assert "add" in shown
    assert 'class="rs-code"' in shown


@pytest.mark.usefixtures("opened")
def test_what_the_browser_has_not_drawn_yet_does_not_undo_a_filter() -> None:
    """A visitor who is quicker than the page sends the values of the page before."""
    app = visit("overview")
    app.multiselect(key="w_verdicts").set_value([])  # which it is: now it is sent as that
    drawn = app._tree
    app.query_params["verdict"] = "wrong_answer"
    app.run()
    assert "1 of 13 rollouts" in text(app)
    app._tree = drawn
    app.run()
    no_exception(app)
    assert dict(app.query_params) == {"verdict": "wrong_answer"}
    assert "1 of 13 rollouts" in text(app)


@pytest.mark.usefixtures("opened")
def test_nothing_moves_on_the_page_when_the_address_says_what_is_shown() -> None:
    """Streamlit draws anew what has moved, and shows the old one beside it meanwhile."""
    app = visit("completion", verdict="runtime_error")
    drawn = len(app.main.children)
    app.query_params.update(dict(parse_qsl(urlsplit(component(app, "name")["address"]).query)))
    app.run()
    no_exception(app)
    assert component(app, "name")["address"] is None
    assert len(app.main.children) == drawn


@pytest.mark.usefixtures("opened")
def test_the_editor_starts_from_what_is_chosen_and_keeps_what_is_typed() -> None:
    app = visit("tasks", task="math/add", test="1", tab="code")
    no_exception(app)
    editor = app.text_area[0]
    assert editor.value == "def add(a, b):\n    return a + b\n"
    editor.set_value("def add(a, b):\n    return 0\n").run()
    app.button(key="trial_all").click().run()
    assert app.text_area[0].value == "def add(a, b):\n    return 0\n"
    app.selectbox(key="trial_source").set_value("empty").run()
    no_exception(app)
    assert app.text_area[0].value == "def add():\n    ...\n"
    assert not app.warning
