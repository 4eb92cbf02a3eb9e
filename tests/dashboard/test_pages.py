"""The pages as Streamlit runs them, without a browser."""

import json
from collections.abc import Iterable
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import controls, state
from dashboard.state import View
from tests.dashboard import sample_run
from tests.dashboard.conftest import APP
from tests.waiting import wait_until

pytestmark = pytest.mark.usefixtures("opened")

PAGES = list(state.PAGES)
HANG_S = 240


def address(page: str, /, **params: str) -> AppTest:
    """A fresh visitor who opens the address of a page."""
    app = AppTest.from_file(str(APP), default_timeout=HANG_S)
    app.query_params.update(params)
    if page != "overview":
        app.switch_page(state.path(page))
    return app.run()


def visit(page: str, /, **params: str) -> AppTest:
    """The same, where the page does not fail."""
    app = address(page, **params)
    no_exception(app)
    return app


def click(app: AppTest, key: str) -> AppTest:
    """The page after a click on a button, which does not make it fail."""
    app.button(key=key).click().run()
    no_exception(app)
    return app


def followed(app: AppTest) -> AppTest:
    """The page that the script asks the browser to open."""
    return open_link(component(app, "go")["address"])


def open_link(href: str) -> AppTest:
    """The page of a link."""
    address = urlsplit(href)
    return visit(address.path.strip("./") or "overview", **dict(parse_qsl(address.query)))


def text(app: AppTest) -> str:
    """All HTML and text of the page."""
    return "\n".join([e.proto.body for e in app.html] + [e.value for e in app.markdown] + [e.value for e in app.code])


def component(app: AppTest, key: str) -> dict[str, Any]:
    """What one of our own components was given to draw."""
    (found,) = [e for e in app.get("bidi_component") if f"-{key}" in e.proto.id]
    return json.loads(found.proto.json)


def cards(app: AppTest, key: str = "cards") -> dict[str, dict[str, Any]]:
    """The cards of the page by name."""
    return {card["name"]: card for card in component(app, key)["cards"]}


def searched(app: AppTest) -> AppTest:
    """The page once its search has ended: on a busy machine it is drawn before."""

    def has_ended() -> bool:
        is_running = any(button.key == "search_stop" for button in app.button)
        if is_running:
            app.run()
        return not is_running

    wait_until(has_ended, "the end of the search")
    return app


def no_exception(app: AppTest) -> None:
    assert not app.exception, [e.value for e in app.exception]
    assert not app.error, [e.value for e in app.error]


def mostly_slow(values: Iterable[str], *fast: str) -> list[object]:
    """Cases of a table, of which these are in `make test`."""
    return [value if value in fast else pytest.param(value, marks=pytest.mark.slow) for value in values]


READ_BY: list[tuple[dict[str, str], str]] = [
    ({"verdict": "failed", "flag": "missing_package: pandas"}, "compare audit"),
    ({"q": "add", "model": "small", "view": "table"}, "tasks rollouts"),
    ({"flag": "nothing: at all"}, "overview rewards"),
    ({"task": "math/add"}, "compare rollouts"),
    ({"task": f"text/{sample_run.HOSTILE}", "view": "prompt"}, "completion! rollouts tasks"),
    ({"task": f"text/{sample_run.HOSTILE}", "at": f"text/{sample_run.HOSTILE}|s/{sample_run.HOSTILE}"}, "rollouts!"),
    ({"task": "math/untried"}, "tasks! rollouts completion"),
    ({"task": "nowhere"}, "rollouts! completion tasks"),
    ({"task": "math/add", "sample": "nobody", "test": "99"}, "completion tasks!"),
    ({"task": "math/add", "at": "math/add|add#1", "test": "-3"}, "rollouts"),
    ({"view": "search", "find": "<img"}, "rollouts"),
    ({"view": "table", "by": "task_id", "page": "99"}, "rollouts"),
    ({"view": "table", "by": "err", "sort": "-nonsense"}, "rollouts!"),
    ({"view": "table", "fields": ",,"}, "rollouts"),
    ({"zoom": "999", "cols": "step", "at": "|||"}, "rollouts!"),
    ({"run": "empty"}, "compare! bad_lines overview"),
    ({"run": "not-open"}, "overview! completion"),
    ({"run": "checks", "verified": "no"}, "audit overview rollouts rewards"),
    ({"run": "checks", "verified": "no: nobody said this", "view": "table"}, "rollouts"),
    ({"q": "matches nothing"}, "completion tasks! compare"),
    ({"sort": "slow", "page": "99"}, "rollouts completion tasks"),
    ({"verdict": "?", "page": "-1", "test": "x", "r_min": "nan"}, "completion! tasks"),
]
"""Addresses, and the pages that read what is in them. Those with a `!` are in `make test`."""


ADDRESSES = [pytest.param(page, {}, id=page) for page in PAGES] + [
    pytest.param(page.strip("!"), params, marks=[] if "!" in page else pytest.mark.slow, id=f"{page} {params}")
    for params, pages in READ_BY
    for page in pages.split()
]


@pytest.mark.parametrize(("page", "params"), ADDRESSES)
def test_no_address_makes_a_page_fail_or_draws_markup_from_a_file(page: str, params: dict[str, str]) -> None:
    app = visit(page, **params)
    assert "<img" not in text(app)
    labels = [e.label for e in (*app.button, *app.expander, *app.page_link)]
    assert not any("<img" in label.replace("\\<", "") or " **bold**" in label for label in labels)


UNTRACED = ("compile_error", "time_limit", "memory_limit", "output_limit", "rejected", "sandbox_error", "no_code",
            "unknown")  # fmt: skip


@pytest.mark.parametrize("verdict", mostly_slow(UNTRACED, "time_limit", "no_code", "rejected"))
def test_a_completion_without_traceback_says_why(verdict: str) -> None:
    shown = text(visit("completion", task="text/all-kinds", sample=f"k/{verdict}"))
    assert f"{verdict} ·" in shown
    assert "rs-error" in shown
    expected = {"no_code": "no code or answer was found", "unknown": "no test cases", "time_limit": "10 s wall"}
    assert expected.get(verdict, f"{verdict} happened after 1.5 s") in shown


def test_overview_counts_ungraded_rollouts_apart_from_failures_and_each_flag_is_a_link() -> None:
    app = visit("overview")
    found = cards(app)
    assert found["rollouts"]["value"] == "13"
    assert found["unknown"]["value"] == "1"
    assert found["sandbox_error"]["value"] == "1"
    assert found["mean reward, 2 models"]["value"] == f"{2 / 11:.3f}"
    assert found["unknown"]["href"] == "rollouts?run=sample&verdict=unknown"
    assert [(row["label"], row["count"], row["href"]) for row in component(app, "flag_bars")["rows"]] == [
        ("missing_package", "2", "rollouts?run=sample&flag=missing_package"),
        ("ctypes", "1", "rollouts?run=sample&flag=ctypes"),
        ("missing_package: pandas", "2", "rollouts?run=sample&flag=missing_package%3A+pandas"),
    ]


def test_rollouts_picked_by_outcome_have_no_pass_at_1_and_without_flags_there_is_no_place_for_them() -> None:
    app = visit("overview", verdict="passed")
    assert cards(app)["pass@1"]["note"] == "filtered by outcome"
    assert "Flags" not in text(app)
    assert not [e for e in app.get("bidi_component") if "-flag_bars" in e.proto.id]


def test_a_completion_shows_each_flag_with_its_evidence_as_text() -> None:
    shown = text(visit("completion", task="math/add", sample="add#2"))
    assert "<b>ctypes</b>" in shown
    assert '<a href="#L159">line 159</a>: &lt;img src=x' in shown
    assert "<b>missing_package</b><span>pandas</span>" in shown


def test_the_sidebar_writes_the_filter_into_the_address() -> None:
    app = visit("rollouts")
    assert app.selectbox(key="w_flag").options == ["missing_package (2)", "ctypes (1)", "missing_package: pandas (2)"]
    app.selectbox(key="w_flag").set_value("ctypes").run()
    assert app.query_params["flag"] == "ctypes"
    assert "1 of 13 rollouts" in text(app)
    click(app, "w_clear")
    assert "13 of 13 rollouts" in text(app)
    app.text_input(key="w_q").set_value("add").run()
    app.multiselect(key="w_verdicts").set_value(["passed", "runtime_error"]).run()
    assert app.query_params["q"] == "add"
    assert app.query_params["verdict"] == "passed,runtime_error"
    assert "4 of 13 rollouts" in text(app)


def test_the_first_failure_opens_at_its_failing_line() -> None:
    app = followed(click(visit("overview"), "first_failure"))
    assert app.query_params["task"] == "math/add"
    shown = text(app)
    assert '<span class="ln fail" id="L4">' in shown
    assert '<span class="ln frame" id="L3">' in shown
    assert "AttributeError" in shown
    assert "1 of 9" in shown


def test_a_filter_without_a_failure_is_dropped_for_the_run_s_first() -> None:
    app = visit("overview", verdict="passed")
    [button] = [button for button in app.button if button.key == "first_failure"]
    assert button.label == "No failure in the filter: open the run's first"
    assert followed(click(app, "first_failure")).query_params["verdict"] == "failed"


def test_next_and_previous_stay_inside_the_filter_and_the_next_failing_test_case_in_the_rollout() -> None:
    app = visit("completion", verdict="runtime_error", task="math/add", sample="add#1", test="0")
    assert "1 of 2" in text(app)
    click(app, "next_failing")
    assert app.query_params["test"] == "1"
    assert app.button(key="next_failing").disabled
    click(app, "next")
    assert "2 of 2" in text(app)
    assert app.query_params["sample"] == "add#2"
    assert app.button(key="next").disabled
    click(app, "previous")
    assert app.query_params["sample"] == "add#1"


def test_a_wrong_answer_shows_input_difference_and_the_extra_line() -> None:
    shown = text(visit("completion", verdict="wrong_answer"))
    assert "line 2" in shown
    assert '<td class="actual">two<i>·</i></td>' in shown
    assert "four" in shown
    assert shown.index('<div class="what">') < shown.index("no exception: the result differs")
    assert 'class="rs-flags"' not in shown


def test_the_raw_completion_shows_where_the_code_was_cut() -> None:
    shown = text(visit("completion", task="math/add", sample="add#1", test="1", view="raw"))
    assert '<span class="ln cut" id="R1">' in shown
    assert '<span class="ln took fail" id="R6">' in shown
    assert '<span class="ln took" id="R7">' in shown
    assert '<span class="ln cut" id="R8">' in shown  # the closing fence


def test_an_unknown_task_offers_the_nearest() -> None:
    app = visit("completion", task="math/ad")
    assert "not in this run" in text(app)
    assert any("Nearest" in link.label for link in app.page_link)


def test_a_filter_that_matches_nothing_says_which_part_took_the_rows_and_undoes_it() -> None:
    app = visit("rollouts", q="add#1", verdict="passed")
    assert "matches none of 13" in text(app)
    assert "2 rollouts" in app.button(key="undo_q").label
    click(app, "undo_q")
    assert "q" not in app.query_params
    assert "2 of 13 rollouts" in text(app)


def test_another_run_starts_with_an_empty_filter() -> None:
    app = visit("rollouts", q="add")
    app.selectbox(key="w_run").set_value("empty").run()
    no_exception(app)
    assert dict(app.query_params) == {"run": "empty"}
    assert "holds no rollouts" in text(app)


@pytest.mark.parametrize(("asked", "count", "page"), [(99, 250, 3), (2, 250, 2), (99, 100, 1), (3, 0, 1)])
def test_a_page_beyond_the_last_shows_the_last(asked: int, count: int, page: int) -> None:
    assert controls.page_of(View(page=asked), count, 100) == page


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


def test_nothing_moves_on_the_page_when_the_address_says_what_is_shown() -> None:
    """Streamlit draws anew what has moved, and shows the old one beside it meanwhile."""
    app = visit("completion", verdict="runtime_error")
    drawn = len(app.main.children)
    app.query_params.update(dict(parse_qsl(urlsplit(component(app, "name")["address"]).query)))
    app.run()
    no_exception(app)
    assert component(app, "name")["address"] is None
    assert len(app.main.children) == drawn


def test_the_editor_starts_from_what_is_chosen_and_keeps_what_is_typed() -> None:
    app = visit("tasks", task="math/add", test="1", tab="code")
    editor = app.text_area[0]
    assert editor.value == "def add(a, b):\n    return a + b\n"
    editor.set_value("def add(a, b):\n    return 0\n").run()
    click(app, "trial_all")
    assert app.text_area[0].value == "def add(a, b):\n    return 0\n"
    app.selectbox(key="trial_source").set_value("empty").run()
    no_exception(app)
    assert app.text_area[0].value == "def add():\n    ...\n"
    assert not app.warning
