"""Editing a completion on its page, and running it again as the run did."""

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from dashboard.completion import completion, rerun, trial_run
from dashboard.queries.records import CaseRecord
from evaluator.model import CaseResult, Grade, Kind, Limits, Mode, Task, TestCase, Verdict
from tests.dashboard.rows import Written, row
from tests.dashboard.test_pages import click, component, text, visit
from tests.manifests import manifest_of

RIGHT = "def add(a, b):\n    return a + b\n"


def editing(**params: str) -> AppTest:
    return visit("completion", **({"task": "math/add", "sample": "add#1", "test": "1", "view": "edit"} | params))


@pytest.mark.usefixtures("opened")
def test_an_edit_runs_beside_the_runs_own_result_and_is_shown_as_a_change() -> None:
    app = editing()
    assert "total.plus(1)" in app.text_area[0].value
    assert "No run of the edit yet" in text(app)
    app.text_area[0].set_value(RIGHT)
    shown = text(click(app, "rerun_one"))
    table = shown.partition('class="rs-beside"')[2].partition("</table>")[0]
    assert "runtime_error" in table
    assert "passed" in table
    assert "in the run, test 1" in table
    assert '<td class="minus">−' in shown.partition("rs-one-column")[2]
    click(app, "rerun_all")
    assert "<td>2 of 3</td><td>3 of 3</td>" in text(app)
    app.text_area[0].set_value("def add(a, b):\n    return a - b\n")
    assert "expected 3, got -1" in text(click(app, "rerun_one"))
    app.text_area[0].set_value("import time\ndef add(a, b):\n    return time.time_ns()\n")
    assert "5 of 5 wrong_answer, with different outputs: flaky" in text(click(app, "rerun_five"))


@pytest.mark.usefixtures("opened")
def test_an_edit_stays_while_the_visitor_is_elsewhere_until_it_is_discarded() -> None:
    app = editing()
    app.text_area[0].set_value(RIGHT)
    click(app, "next")
    assert app.query_params["sample"] == "add#2"
    assert app.text_area[0].value.startswith("value_1 = 1")
    click(app, "previous")
    assert app.text_area[0].value == RIGHT
    click(app, "edit")
    assert app.button(key="edit").label == "Edited"
    assert "plus" in text(app)
    click(app, "edit")
    click(app, "rerun_discard")
    assert "total.plus(1)" in app.text_area[0].value
    assert app.button(key="rerun_discard").disabled


def graded(verdict: Verdict, actual: str = "") -> Grade:
    case = CaseResult(index=0, verdict=verdict, actual=actual)
    return Grade(task_id="t", sample_id="s", verdict=verdict, reward=0.0, cases=(case,))


@pytest.mark.parametrize(
    ("grades", "said"),
    [
        ([graded(Verdict.PASSED)] * 5, "5 of 5 passed"),
        ([graded(Verdict.PASSED)] * 3 + [graded(Verdict.TIME_LIMIT)] * 2, "3 passed, 2 time_limit: flaky"),
        ([graded(Verdict.WRONG_ANSWER, "1"), graded(Verdict.WRONG_ANSWER, "2")],
         "2 of 2 wrong_answer, with different outputs: flaky"),
    ],
)  # fmt: skip
def test_what_is_said_of_several_runs(grades: list[Grade], said: str) -> None:
    assert rerun.stability(tuple(grades), 0) == said


@pytest.mark.usefixtures("opened")
def test_nothing_runs_where_others_reach_the_page_and_the_page_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    options = st.get_option
    monkeypatch.setattr("streamlit.get_option", lambda name: "0.0.0.0" if name == "server.address" else options(name))
    app = editing()
    assert "start with --allow-rerun" in text(app)
    assert all(app.button(key=f"rerun_{name}").disabled for name in ("one", "all", "five"))


def test_a_rerun_has_the_limits_the_checker_and_the_rules_of_its_run() -> None:
    task = Task(task_id="t", mode=Mode.STDIN, cases=(TestCase(0, "", "1\n"),))
    run = manifest_of(limits=Limits(wall_s=60, cpu_s=0.5), checker="exact")
    late = trial_run.trial_grade(task, None, "while True:\n    pass\n", 0, run)
    assert (late.verdict, late.limits.cpu_s) == (Verdict.TIME_LIMIT, 0.5)
    assert trial_run.trial_grade(task, None, "print(1, end='')", 0, run).verdict is Verdict.WRONG_ANSWER
    assert trial_run.trial_grade(task, None, "print(1, end='')", 0).verdict is Verdict.PASSED


def test_an_answer_is_edited_too_and_needs_no_sandbox(written: Written) -> None:
    task = Task(task_id="t", mode=Mode.ANSWER, answer="Paris")
    written([row("t", "s", reward=0.0, completion="Rome", grader="exact_match")], task)
    app = visit("completion", view="edit")
    assert app.text_area[0].value == "Rome"
    app.text_area[0].set_value("Paris")
    assert "<td>0</td><td>1</td>" in text(click(app, "rerun_all"))


@pytest.mark.parametrize(("line", "anchor"), [(None, "L3"), (2, "L2")])
def test_a_continuation_opens_at_the_models_first_line_unless_a_line_failed(
    line: int | None, anchor: str, written: Written
) -> None:
    prompt, body = 'def f(n):\n    """Doc."""\n', "    return n\n"
    task = Task(task_id="t", mode=Mode.CALL, entry_point="f", prompt=prompt, cases=(TestCase(0, "1", "2"),))
    case = CaseResult(index=0, verdict=Verdict.WRONG_ANSWER, expected="2", actual="1")
    fields = {"code": prompt + body, "kind": Kind.CONTINUATION, "line_offset": -2, "error_line": line}
    written([row("t", "s", reward=0.0, completion=body, cases=() if line else (case,), **fields)], task)
    assert component(visit("completion"), "scroll")["anchor"] == anchor


def wrong(expected: str, actual: str, verdict: Verdict = Verdict.WRONG_ANSWER) -> CaseRecord:
    empty = dict.fromkeys(CaseRecord.__struct_fields__)
    return CaseRecord(**(empty | {"verdict": verdict.value, "expected": expected, "actual": actual}))


@pytest.mark.parametrize(
    ("mode", "expected", "actual", "equal"),
    [
        (Mode.STDIN, "a b\n", "a  b \n", ["as tokens", "as floats"]),
        (Mode.STDIN, "a\nb\n", " a\nb", ["after strip", "as tokens", "as floats"]),
        (Mode.STDIN, "0.30000001\n", "0.3\n", ["as floats"]),
        (Mode.CALL, "[0.3, 1]", "[0.30000000004, 1]", ["as floats"]),
        (Mode.CALL, "[5]", "[4]", []),
    ],
)
def test_a_wrong_answer_that_other_rules_accept_is_marked(
    mode: Mode, expected: str, actual: str, equal: list[str]
) -> None:
    found = completion.equalities(wrong(expected, actual), mode)
    assert [name for name, same in found if same] == equal
    assert len(found) == 3


def test_nothing_is_compared_where_a_side_is_not_known_as_a_whole() -> None:
    cut = "x" * 3000 + " ... 5,000 characters left out ... " + "x" * 1500
    assert completion.equalities(wrong("1", "1", Verdict.PASSED), Mode.CALL) == []
    assert completion.equalities(wrong("one of [1, 2]", "3"), Mode.ASSERT) == []
    assert completion.equalities(wrong(cut, cut + "1"), Mode.STDIN) == []
    assert completion.equalities(None, Mode.STDIN) == []


@pytest.mark.usefixtures("opened")
def test_the_tabs_of_the_right_half_show_one_thing_each() -> None:
    app = editing(tab="output", view="")
    assert "a warning" in [code.value.strip() for code in app.code]
    assert 'class="rs-error"' not in text(app)
    assert "a warning" not in [code.value.strip() for code in editing(view="").code]
