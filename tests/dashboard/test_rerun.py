"""Editing a completion on its page, and running it again as the run did."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from dashboard import state, workspace
from dashboard.completion import equalities, rerun, trial_run
from dashboard.queries.records import CaseRecord
from dashboard.state import Filter, View
from evaluator.model import CaseResult, Grade, Kind, Limits, Mode, Rollout, Task, TestCase, Verdict
from evaluator.runs.reading import Manifest, RunWriter
from tests.dashboard.test_pages import component, no_exception, text, visit

ADD = {"task": "math/add", "sample": "add#1", "test": "1"}
RIGHT = "def add(a, b):\n    return a + b\n"


def editing(**params: str) -> AppTest:
    app = visit("completion", **(ADD | params), view="edit")
    no_exception(app)
    return app


@pytest.mark.usefixtures("opened")
def test_an_edit_runs_beside_the_runs_own_result_and_is_shown_as_a_change() -> None:
    app = editing()
    assert "total.plus(1)" in app.text_area[0].value
    assert "No run of the edit yet" in text(app)
    app.text_area[0].set_value(RIGHT)
    app.button(key="rerun_one").click().run()
    no_exception(app)
    shown = text(app)
    table = shown.partition('class="rs-beside"')[2].partition("</table>")[0]
    assert "runtime_error" in table
    assert "passed" in table
    assert "in the run, test 1" in table
    assert "−</td>" in shown.partition('class="unified"')[2]
    app.button(key="rerun_all").click().run()
    assert "<td>2 of 3</td><td>3 of 3</td>" in text(app)


@pytest.mark.usefixtures("opened")
def test_a_wrong_edit_shows_its_own_difference() -> None:
    app = editing()
    app.text_area[0].set_value("def add(a, b):\n    return a - b\n")
    app.button(key="rerun_one").click().run()
    no_exception(app)
    assert "expected 3, got -1" in text(app)


@pytest.mark.usefixtures("opened")
def test_an_edit_stays_while_the_visitor_is_elsewhere_until_it_is_discarded() -> None:
    app = editing()
    app.text_area[0].set_value(RIGHT)
    app.button(key="next").click().run()
    assert app.query_params["sample"] == "add#2"
    assert app.text_area[0].value.startswith("value_1 = 1")
    app.button(key="previous").click().run()
    assert app.text_area[0].value == RIGHT
    app.button(key="edit").click().run()
    assert app.button(key="edit").label == "Edited"
    assert "total.plus(1)" in "".join(part for part in text(app).split("<span")).replace(
        "</span>", ""
    ) or "plus" in text(app)
    app.button(key="edit").click().run()
    app.button(key="rerun_discard").click().run()
    no_exception(app)
    assert "total.plus(1)" in app.text_area[0].value
    assert app.button(key="rerun_discard").disabled


@pytest.mark.usefixtures("opened")
def test_five_runs_show_that_a_result_changes() -> None:
    app = editing()
    app.text_area[0].set_value("import time\ndef add(a, b):\n    return time.time_ns()\n")
    app.button(key="rerun_five").click().run()
    no_exception(app)
    assert "5 of 5 wrong_answer, with different outputs: flaky" in text(app)


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
    run = Manifest(limits=Limits(wall_s=5, cpu_s=0.5), checker="exact")
    late = trial_run.trial_grade(task, None, "while True:\n    pass\n", 0, run)
    assert (late.verdict, late.limits.cpu_s) == (Verdict.TIME_LIMIT, 0.5)
    assert trial_run.trial_grade(task, None, "print(1, end='')", 0, run).verdict is Verdict.WRONG_ANSWER
    assert trial_run.trial_grade(task, None, "print(1, end='')", 0).verdict is Verdict.PASSED


def test_an_answer_is_edited_too_and_needs_no_sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    task = Task(task_id="t", mode=Mode.ANSWER, answer="Paris")
    wrong = Grade(task_id="t", sample_id="s", verdict=Verdict.WRONG_ANSWER, reward=0.0, grader="exact_match")
    open_run(
        monkeypatch, tmp_path / "run", task, wrong, completion="Rome", cases=(TestCase(0, "exact match", "Paris"),)
    )
    app = visit("completion", view="edit")
    no_exception(app)
    assert app.text_area[0].value == "Rome"
    app.text_area[0].set_value("Paris")
    app.button(key="rerun_all").click().run()
    no_exception(app)
    assert "<td>0</td><td>1</td>" in text(app)


def open_run(
    monkeypatch: pytest.MonkeyPatch, path: Path, task: Task, grade: Grade, *, completion: str, **more: Any
) -> None:
    """Writes a run of one rollout and opens it alone."""
    with RunWriter.create(path, Manifest()) as writer:
        writer.add_task(task, more.get("cases", task.cases))
        writer.add(Rollout(task_id="t", sample_id=grade.sample_id, completion=completion), grade, 0)
        writer.close()
    monkeypatch.setenv(workspace.VARIABLE, json.dumps({"runs": [str(path)]}))


def test_a_continuation_opens_at_the_models_first_line_unless_a_line_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prompt, body = 'def f(n):\n    """Doc."""\n', "    return n\n"
    task = Task(task_id="t", mode=Mode.CALL, entry_point="f", prompt=prompt, cases=(TestCase(0, "1", "2"),))
    case = CaseResult(index=0, verdict=Verdict.WRONG_ANSWER, expected="2", actual="1")
    grade = Grade(
        task_id="t", sample_id="s", verdict=Verdict.WRONG_ANSWER, reward=0.0, cases=(case,), code=prompt + body,
        kind=Kind.CONTINUATION, line_offset=-2,
    )  # fmt: skip
    open_run(monkeypatch, tmp_path / "one", task, grade, completion=body)
    assert component(visit("completion"), "scroll")["anchor"] == "L3"
    grade.error_line = 2
    grade.cases = ()
    open_run(monkeypatch, tmp_path / "two", task, grade, completion=body)
    assert component(visit("completion"), "scroll")["anchor"] == "L2"


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
    found = equalities.of(wrong(expected, actual), mode)
    assert [name for name, same in found if same] == equal
    assert len(found) == 3


def test_nothing_is_compared_where_a_side_is_not_known_as_a_whole() -> None:
    cut = "x" * 3000 + " ... 5,000 characters left out ... " + "x" * 1500
    assert equalities.of(wrong("1", "1", Verdict.PASSED), Mode.CALL) == []
    assert equalities.of(wrong("one of [1, 2]", "3"), Mode.ASSERT) == []
    assert equalities.of(wrong(cut, cut + "1"), Mode.STDIN) == []
    assert equalities.of(None, Mode.STDIN) == []


@pytest.mark.usefixtures("opened")
def test_the_tabs_of_the_right_half_show_one_thing_each() -> None:
    app = visit("completion", **ADD, tab="output")
    no_exception(app)
    assert "a warning" in [code.value.strip() for code in app.code]
    assert 'class="rs-error"' not in text(app)
    assert "a warning" not in [code.value.strip() for code in visit("completion", **ADD).code]


def test_up_restores_what_the_list_showed() -> None:
    there = View(
        run="r", filter=Filter(q="a"), sort="slow", page=3, view="table", cols="model", fields="a,b", zoom=12, at="t|s",
        by="err",
    )  # fmt: skip
    below = View(run="r", filter=Filter(q="b"), task="t", sample="s", test=2, view="raw", tab="why", up=there.below())
    assert below.above() == ("rollouts", there.but(q="b"))
    assert state.parse(below.params()).above() == ("rollouts", there.but(q="b"))


@pytest.mark.parametrize(
    ("page", "there"),
    [
        ("compare", View(run="r", a="r|m", b="r|n", task="t", filter=Filter(q="a"))),
        ("audit", View(run="r", graders="value,floats", view="value", page=2)),
        ("sql", View(run="r", query="SELECT 'a?b&c=d' FROM rollouts")),
    ],
)
def test_up_from_a_page_about_more_than_the_filter_shows_it_as_it_was(page: str, there: View) -> None:
    below = View(run="other", filter=Filter(model="m"), task="t", sample="s", up=there.below(page))
    assert state.parse(below.params()).above() == (page, there)


def test_up_to_a_task_keeps_its_test_case_and_follows_the_filter() -> None:
    there = View(run="r", task="t", test=3, sort="natural")
    below = View(run="r", filter=Filter(q="b"), task="t", sample="s", up=there.below("tasks"))
    assert below.above() == ("tasks", there.but(q="b"))


@pytest.mark.parametrize("up", ["nope?task=t", "../x?task=t", "?task=t"])
def test_up_to_a_page_that_is_none_leads_to_the_rollouts(up: str) -> None:
    assert View(run="r", up=up).above() == ("rollouts", View(run="r", task="t"))


@pytest.mark.usefixtures("opened")
def test_difference_first_then_the_general_sentence() -> None:
    shown = text(visit("completion", verdict="wrong_answer"))
    assert shown.index('<div class="what">') < shown.index("no exception: the result differs")
