"""A test case that the dataset does not have: what would the task's samples answer to it? Nothing goes into the run."""

from __future__ import annotations

import ast
import json
import textwrap
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import msgspec
import streamlit as st

from dashboard import background, escape, facts, sandbox_state, state, theme
from dashboard.background import Job
from dashboard.components import answer_list, lists
from dashboard.components.lists import Column
from dashboard.controls import Screen
from dashboard.facts import counted, short_sample
from dashboard.queries import answers, records
from dashboard.queries.answers import Code
from dashboard.queries.records import TaskRecord
from dashboard.state import View
from dashboard.tasks import corrected
from dashboard.tasks.corrected import PlaceError
from evaluator import grade_all
from evaluator.model import Grade, Kind, Mode, Rollout, Task, TestCase
from evaluator.options import Options
from evaluator.runs.reading import Manifest

SAMPLES_MOST = 64
_RESULT = "new_case"
_FIELD_HEIGHT = 96
_TABLE_HEIGHT = "calc(190px + max(0px, (100vh - 720px) * 0.3))"
_COLUMNS = (
    Column("sample", "line", "32%"),
    Column("now", "line", "112px", "the verdict of this test case"),
    Column("was", "mark", "36px", "its verdict in the run"),
    Column("answer", "mono"),
)


class CaseError(ValueError):
    """The typed text is not a test case. The message is one line that says why."""


class Trial(NamedTuple):
    """The samples of a task, graded on one new test case."""

    task_id: str
    case: TestCase
    job: Job[Grade]
    samples: Sequence[Code]


def offer(screen: Screen, record: TaskRecord, like: TestCase | None) -> None:
    """A form that starts from the test case `like`, and what the samples answered to the last one that was run."""
    if record.mode == Mode.ANSWER:
        facts.note("Not supported for tasks whose answer is graded: they have one test case, the answer.")
        return
    task, found = records.decoded(record.task, Task), answers.codes(screen.run, record.task_id, SAMPLES_MOST)
    if task is None:
        facts.note("Not supported for this run: the version that wrote it did not keep its tasks.")
        return
    left, right = st.columns([1, 1.25], gap="small")
    with left:
        case, fault = _form(task, like)
        refusal = sandbox_state.refusal()
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            # Not in a callback, which would have the text of before a click that ends typing.
            clicked = st.button(
                f"Run on {f'the {part}' if (part := found.part('sample')) else counted(found.total, 'sample')}",
                key="run_new_case",
                type="primary",
                disabled=bool(refusal) or not found.rows or _running(record.task_id),
            )
            facts.note(refusal or fault or "The run stays as it is.")
        if case is not None and task.mode is not Mode.UNITTEST:  # whose test cases are methods
            _downloads(screen, task, like, case)
    if clicked and case is not None and refusal is None:
        _start(task, case, found.rows, screen.run.manifest)
    trial: Trial | None = st.session_state.get(_RESULT)
    with right:
        if trial is not None and trial.task_id == record.task_id:
            if case != trial.case:
                facts.note("Of the test case as it was before the last change:")
            _result(trial, screen.view, record)


def parsed_case(mode: Mode, given: str, expected: str) -> TestCase:
    """The test case that was typed. Raises `CaseError`."""
    if mode is Mode.CALL:
        lines = [line.strip() for line in given.split("\n") if line.strip()]
        for number, line in enumerate(lines, 1):
            _require_json(line, f"Argument {number}")
        _require_json(expected, "The expected value")
        return TestCase(0, "\n".join(lines), expected.strip())
    if mode is Mode.STDIN:
        return TestCase(0, given, expected)
    try:
        statements = ast.parse(given).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise CaseError(f"The statement is not Python: {error}.") from None
    if not any(isinstance(node, ast.Assert) for statement in statements for node in ast.walk(statement)):
        raise CaseError("Write a statement with assert, such as: assert candidate(1) == 2")
    return TestCase(0, given.strip("\n"), "")


def task_with(task: Task, case: TestCase) -> Task:
    """The task with this test case alone."""
    bare = msgspec.structs.replace(task, grader=None, weights=None)
    if task.mode in (Mode.CALL, Mode.STDIN):
        return msgspec.structs.replace(bare, cases=(case,))
    body = textwrap.indent(case.input, "    ")
    return msgspec.structs.replace(bare, mode=Mode.ASSERT, cases=(), test=f"def check(candidate):\n{body}\n")


def _form(task: Task, like: TestCase | None) -> tuple[TestCase | None, str]:
    """The test case that is typed, or why it is none."""
    named = {Mode.CALL: "Arguments, one JSON value per line", Mode.STDIN: "Input on stdin"}.get(task.mode, "Statement")
    place = f"{task.task_id}_{like.index if like else ''}"
    start = like or TestCase(0, "", "")
    with st.container(key="new_case_form"):
        given = st.text_area(named, start.input, key=f"new_input_{place}", height=_FIELD_HEIGHT)
        expected = ""
        if task.mode in (Mode.CALL, Mode.STDIN):
            label = "Expected, as JSON" if task.mode is Mode.CALL else "Expected on stdout"
            expected = st.text_area(label, start.expected, key=f"new_expected_{place}", height=68)
    try:
        return parsed_case(task.mode, given, expected), ""
    except CaseError as error:
        return None, str(error)


def _downloads(screen: Screen, task: Task, like: TestCase | None, case: TestCase) -> None:
    """The dataset with this test case, instead of the one that the form began with and beside it."""
    name = escape.file_name(f"{Path(screen.run.manifest.dataset).name.partition('.')[0] or 'tasks'}.corrected.jsonl")
    facts.section("Download the dataset with it")
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        for add in (False, True) if like else (True,):
            unchanged = like is not None and (case.input, case.expected) == (like.input.strip("\n"), like.expected)
            unchanged |= like is not None and (task.mode is Mode.ASSERT and case.input == like.input.strip("\n"))
            label = "as a new test" if add or like is None else f"instead of test {like.index}"
            try:
                made = partial(corrected.dataset, screen.run, corrected.corrected(task, like, case, add=add))
            except PlaceError as error:
                facts.note(str(error))
                return
            st.download_button(label, made, name, "application/jsonl", on_click="ignore", disabled=unchanged,
                               key=f"corrected_{add}", help="All tasks of the run, to grade with.")  # fmt: skip


def _require_json(text: str, name: str) -> None:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        raise CaseError(f"{name} is not JSON; a text needs double quotes.") from None


def _start(task: Task, case: TestCase, samples: Sequence[Code], manifest: Manifest) -> None:
    earlier: Trial | None = st.session_state.get(_RESULT)
    if earlier is not None:
        earlier.job.stop()
    work = partial(_grade, task_with(task, case), samples, manifest.options)
    st.session_state[_RESULT] = Trial(task.task_id, case, Job("Samples run", len(samples), work), samples)


def _running(task_id: str) -> bool:
    trial: Trial | None = st.session_state.get(_RESULT)
    return trial is not None and trial.task_id == task_id and trial.job.running


def _grade(
    task: Task,
    samples: Sequence[Code],
    options: Options,
    add: Callable[[Grade], None],
    stop: threading.Event,
) -> None:
    rollouts = [
        Rollout(task_id=task.task_id, sample_id=each.sample_id, completion=each.code, kind=Kind.FULL)
        for each in samples
    ]
    limits, factor, checker = options.limits, options.time_factor, options.checker
    for grade in grade_all([task], rollouts, limits=limits, time_factor=factor, checker=checker, cache=None):
        add(grade)
        if stop.is_set():
            break


def _result(trial: Trial, view: View, record: TaskRecord) -> None:
    job = trial.job
    if job.running:
        background.watch(job)
        return
    if job.failure:
        facts.banner(f"Nothing was run: {job.failure}", warn=True)
        return
    grades = {grade.sample_id: grade for grade in job.results}
    counts = Counter(_answer(grade) for grade in grades.values())
    passed = sum(grade.passed for grade in grades.values())
    stopped = " (stopped)" if job.stopping else ""
    said = " · ".join(f"{answer[:40]} × {count:,}" for answer, count in counts.most_common(4))
    facts.section(f"{passed:,} of {len(grades):,} pass{stopped}: {said}")
    listed = [each for each in trial.samples if each.sample_id in grades]

    def picked(row: int) -> None:
        here = view.place().but(task=record.task_id, up=view.below("tasks"))
        state.go("completion", here.but(sample=listed[row].sample_id))

    rows = [
        (
            short_sample(record.task_id, each.sample_id),
            _verdict(grades[each.sample_id].verdict),
            theme.verdict(each.verdict).letter,
            _answer(grades[each.sample_id]),
        )
        for each in listed
    ]
    lists.row_list(
        _COLUMNS, rows, key="new_case_rows", label="samples", height=f"min({30 + 24 * len(rows)}px, {_TABLE_HEIGHT})",
        shown="", on_pick=picked,
    )  # fmt: skip


def _answer(grade: Grade) -> str:
    case = next(iter(grade.cases), None)
    if case is None or case.actual is None:
        return case.error_type or grade.verdict.value if case else (grade.error_message or grade.verdict.value)
    return answer_list.said(case.verdict.value, case.actual)


def _verdict(word: str) -> str:
    return f"{theme.verdict(word).letter} {word}"
