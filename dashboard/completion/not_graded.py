"""The Completion page of a rollout that is not graded: what it came with, the dataset's test cases, and what to do."""

from __future__ import annotations

import streamlit as st

from dashboard import facts, state, theme
from dashboard.completion import completion_view
from dashboard.components import lists
from dashboard.components.lists import Column
from dashboard.controls import Screen
from dashboard.facts import counted
from dashboard.queries import records
from dashboard.queries.records import RolloutRecord, TaskRecord
from dashboard.text import case_view
from dashboard.workspace import OpenRun
from evaluator.model import TestCase, Verdict

_CASES_LISTED = 2_000
_LIST_HEIGHT = "calc(150px + max(0px, (100vh - 720px) * 0.4))"
_INPUT_HEIGHT = 220
_COLUMNS = (Column("test", "number", "38px"), Column("input", "mono"), Column("expected", "mono", "30%"))


def fact(rollout: RolloutRecord) -> tuple[str, str] | None:
    """What stands where a graded rollout has its grader; None if its recorded verdict stands there."""
    if rollout.recorded_verdict is not None:
        return None
    return ("grade", "not graded yet" if rollout.reward is None else "the reward that it came with")


def what_to_do(run: OpenRun) -> str:
    """How to get what is missing."""
    if run.manifest.dataset:
        return "Grade them, or run a test case with Edit."
    return "To run test cases, start the dashboard with --dataset DATASET.jsonl."


def chosen(screen: Screen, task: TaskRecord | None) -> TestCase | None:
    """The test case of the view, else the first."""
    cases = records.test_cases(task) if task else []
    return next((case for case in cases if case.index == screen.view.test), cases[0] if cases else None)


def result(screen: Screen, rollout: RolloutRecord, task: TaskRecord | None) -> None:
    """The recorded verdict with its message, and the test cases, of which one is shown."""
    _verdict(rollout)
    case = chosen(screen, task)
    if task is None or case is None:
        missing = "The dataset does not have this task." if screen.run.manifest.dataset and task is None else ""
        facts.note(f"Nothing ran here. {missing or what_to_do(screen.run)}")
        return
    cases = records.test_cases(task)
    facts.section(f"{counted(len(cases), 'test case')} of the dataset, not run here")
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
    facts.note(what_to_do(screen.run))


def _row(case: TestCase, mode: str) -> tuple[str, ...]:
    row = (str(case.index), case_view.in_one_line(case.input, mode))
    return row if case_view.is_code(mode) else (*row, case_view.in_one_line(case.expected, mode))


def _verdict(rollout: RolloutRecord) -> None:
    verdict = theme.verdict(rollout.verdict)
    if verdict is Verdict.PASSED or (verdict is Verdict.UNKNOWN and rollout.recorded_verdict is None):
        return
    by = f"recorded by {rollout.recorded_by}" if rollout.recorded_by else "as recorded"
    name, message = rollout.error_type or verdict.value, rollout.error_message or ""
    st.html(completion_view.failure(verdict.value, name, first="", message=message, quiet=by, trace=None))
