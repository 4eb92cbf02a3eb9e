"""The Completion page of a rollout that is not graded: what it came with, the dataset's test cases, and what to do."""

from __future__ import annotations

import json
from collections.abc import Mapping

import streamlit as st

from dashboard import facts, state, theme
from dashboard.completion import completion_view
from dashboard.components import lists
from dashboard.components.lists import Column
from dashboard.controls import Screen
from dashboard.facts import counted
from dashboard.queries import records
from dashboard.queries.records import RolloutRecord, TaskRecord
from dashboard.state import View
from dashboard.text import case_view, diff_view
from dashboard.text.case_view import Sides
from evaluator.model import JsonValue, Mode, TestCase, Verdict
from evaluator.recorded import error_account

_CASES_LISTED = 2_000
_LIST_HEIGHT = "calc(150px + max(0px, (100vh - 720px) * 0.4))"
_INPUT_HEIGHT = 220
_COLUMNS = (Column("test", "number", "38px"), Column("input", "mono"), Column("expected", "mono", "30%"))


def fact(rollout: RolloutRecord) -> tuple[str, str] | None:
    """What stands where a graded rollout has its grader; None if its recorded verdict stands there."""
    if rollout.recorded_verdict is not None:
        return None
    return ("grade", "not graded yet" if rollout.reward is None else "the reward that it came with")


def what_to_do(screen: Screen, missing: str) -> None:
    """What is missing because nothing ran here, and how to get it."""
    dataset = screen.run.manifest.dataset
    way = (
        "Run its test cases with Edit, or:"
        if dataset
        else "To run test cases, start the dashboard with --dataset DATASET.jsonl."
    )
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="what_to_do"):
        facts.note(f"{missing} {way}".strip())
        if dataset:
            state.link("overview", View(run=screen.run.name), f"Grade all {counted(screen.total, 'rollout')}")


def chosen(screen: Screen, task: TaskRecord | None) -> TestCase | None:
    """The test case of the view, else the first."""
    cases = records.test_cases(task) if task else []
    return next((case for case in cases if case.index == screen.view.test), cases[0] if cases else None)


def result(screen: Screen, rollout: RolloutRecord, task: TaskRecord | None) -> None:
    """The recorded verdict with its message and failing test case; the dataset's test cases, of which one is shown."""
    account = error_account(json.loads(rollout.metadata or "{}"))
    _verdict(rollout, account.get("error"))
    _recorded_failure(account, rollout, task.mode if task and screen.run.manifest.dataset else Mode.STDIN)
    case = chosen(screen, task)
    if task is None or case is None:
        if screen.run.manifest.dataset and task is None:
            facts.note("Nothing ran here. The dataset does not have this task.")
        else:
            what_to_do(screen, "Nothing ran here.")
        return
    cases = records.test_cases(task)
    facts.section(f"{counted(len(cases), 'test case')} of the dataset, not run here")
    what_to_do(screen, "")
    listed = cases[:_CASES_LISTED]
    here = screen.view.but(task=rollout.task_id, sample=rollout.sample_id)
    lists.row_list(
        _COLUMNS[:2] if case_view.is_code(task.mode) else _COLUMNS,
        [_row(each, task.mode) for each in listed],
        key="dataset_cases",
        label="test cases",
        height=f"min({44 + 24 * len(listed)}px, {_LIST_HEIGHT})",
        shown=rollout.task_id,
        on_pick=lambda row: state.write(here.but(test=listed[row].index)),
        selected=next((place for place, each in enumerate(listed) if each.index == case.index), None),
    )
    facts.section(f"Test {case.index}: {case_view.name_of_input(task.mode)}")
    case_view.show_input(case.input, task.mode, height=_INPUT_HEIGHT)
    case_view.note_cut(case.input)
    if not case_view.is_code(task.mode):
        facts.section("expected")
        facts.verbatim(case.expected[: case_view.SHOWN], height=120)


def _row(case: TestCase, mode: str) -> tuple[str, ...]:
    row = (str(case.index), case_view.in_one_line(case.input, mode))
    return row if case_view.is_code(mode) else (*row, case_view.in_one_line(case.expected, mode))


def _verdict(rollout: RolloutRecord, error: JsonValue) -> None:
    verdict = theme.verdict(rollout.verdict)
    if verdict is Verdict.PASSED or (verdict is Verdict.UNKNOWN and rollout.recorded_verdict is None):
        return
    by = f"recorded by {rollout.recorded_by}" if rollout.recorded_by else "as recorded"
    name, message = rollout.error_type or verdict.value, rollout.error_message or ""
    if isinstance(error, str) and error not in message:
        message = f"{message}\n{error}".strip()
    st.html(completion_view.failure(verdict.value, name, first="", message=message, quiet=by, trace=None))


def _recorded_failure(account: Mapping[str, JsonValue], rollout: RolloutRecord, mode: str) -> None:
    """The test case at which the file's own grader stopped, as the file has it: often only the start of its texts."""
    texts = (account.get(name) for name in ("inputs", "expected", "output"))
    given, expected, actual = (text if isinstance(text, str) else None for text in texts)
    if expected is None:
        return
    facts.section(f"Its failing test case, as {rollout.recorded_by or 'the file'} recorded it")
    if given:
        case_view.show_input(given, mode, height=_INPUT_HEIGHT)
    if actual is None:
        st.html(diff_view.expected_alone(expected, "not recorded"))
    else:
        case_view.expected_and_actual(Sides(Verdict.WRONG_ANSWER, expected, actual, None, mode))
