"""A test case that the dataset does not have: what would the task's samples answer to it? Nothing goes into the run."""

from __future__ import annotations

import ast
import textwrap
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import msgspec
import streamlit as st

from dashboard import background, escape, facts, sandbox_state, state, theme, widgets
from dashboard.background import Job
from dashboard.components import answer_list, lists
from dashboard.components.lists import Column
from dashboard.controls import Screen
from dashboard.facts import counted, short_sample
from dashboard.queries import answers, records
from dashboard.queries.answers import Code
from dashboard.queries.records import TaskRecord
from dashboard.tasks import corrected
from dashboard.tasks.corrected import PlaceError
from evaluator import grade_all
from evaluator.model import Grade, Kind, Mode, Rollout, Task, TestCase, Verdict
from evaluator.options import Options
from evaluator.runs.reading import Manifest
from evaluator.tasks import long_numbers

SAMPLES_MOST = 64
_RESULT = "new_case"
_REFERENCE = "the reference"
_TABLE_HEIGHT = "calc(190px + max(0px, (100vh - 720px) * 0.3))"
_COLUMNS = (
    Column("sample", "line", "32%"),
    Column("now", "line", "112px", "the verdict of this test case"),
    Column("was", "mark", "36px", "the verdict of the test case that the form began with, in the run"),
    Column("answer", "mono"),
)


class CaseError(ValueError):
    """The typed text is not a test case. The message is one line that says why."""


class Trial(NamedTuple):
    """The samples of a task, graded on one new test case."""

    task_id: str
    like: int | None
    """The test case that the form began with."""
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
            part = found.part("sample")
            # Not in a callback, which would have the text of before a click that ends typing.
            clicked = st.button(
                f"Run on {f'the {part} with code' if part else counted(found.total, 'sample')}",
                key="run_new_case",
                type="primary",
                disabled=bool(refusal) or not found.rows or _is_running(task),
            )
            facts.note(refusal or fault or "The run stays as it is.")
        if clicked and case is not None and refusal is None:
            _start(task, like, case, found.rows, screen.run.manifest)
        if case is not None and task.mode is not Mode.UNITTEST:  # whose test cases are methods
            _changes(screen, task, like, case)
    trial: Trial | None = st.session_state.get(_RESULT)
    with right:
        of_this = trial and (trial.task_id, trial.like) == (record.task_id, like.index if like else None)
        if trial is not None and (of_this or _is_running(task)):
            if case != trial.case:
                facts.note("Of the test case as it was before the last change:")
            _result(trial, screen, record)


def _is_running(task: Task) -> bool:
    """Whether one of its test cases is being tried: what comes of it decides about a change."""
    last: Trial | None = st.session_state.get(_RESULT)
    return last is not None and last.task_id == task.task_id and last.job.running


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
        height = min(260, max(96, 40 + 21 * start.input.count("\n")))
        given = st.text_area(named, start.input, key=f"new_input_{place}", height=height)
        expected = ""
        if task.mode in (Mode.CALL, Mode.STDIN):
            label = "Expected, as JSON" if task.mode is Mode.CALL else "Expected on stdout"
            expected = st.text_area(label, start.expected, key=f"new_expected_{place}", height=68)
    try:
        return parsed_case(task.mode, given, expected), ""
    except CaseError as error:
        return None, str(error)


def _changes(screen: Screen, task: Task, like: TestCase | None, case: TestCase) -> None:
    """Buttons that put this test case into the task, and the dataset with all changes of this visit as a download."""
    edited = corrected.changes(screen.run)
    name = Path(screen.run.manifest.dataset).name.partition(".")[0] or "tasks"
    now = edited.get(task.task_id, task)
    old = like and TestCase(0, like.input.strip("\n"), like.expected if task.mode is not Mode.ASSERT else "")
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        for add in (False, True) if like and case != old else (True,) if case != old else ():
            try:
                changed = corrected.corrected(now, like, case, add=add)
            except PlaceError as error:
                done = task.task_id in edited
                facts.note("Changed. To change it again, undo first." if done else str(error))
                break
            label = "Add as a new test" if add or like is None else f"Change test {like.index}"
            widgets.button(label, f"change_{add}", edited.__setitem__, task.task_id, changed,
                           disabled=changed == now or _is_running(task))  # fmt: skip
        if edited:
            label = f"Download the dataset with {counted(len(edited), 'changed task')}"
            st.download_button(label, partial(corrected.dataset, screen.run, edited), on_click="ignore",
                               file_name=escape.file_name(f"{name}.corrected.jsonl"), key="corrected",
                               mime="application/jsonl", help="All tasks of the run, to grade with.")  # fmt: skip
            widgets.button("Undo all changes", "undo_changes", edited.clear)
    if edited:
        rollouts = Path(screen.run.manifest.rollouts).name or "ROLLOUTS"
        facts.note(
            f"Then: rollscope grade {rollouts} --dataset {name}.corrected.jsonl. "
            "What changed runs again, and what met a time or memory limit."
        )


def _require_json(text: str, name: str) -> None:
    try:
        long_numbers.loads(text)
    except ValueError:
        raise CaseError(f"{name} is not JSON; a text needs double quotes.") from None


def _start(task: Task, like: TestCase | None, case: TestCase, samples: Sequence[Code], manifest: Manifest) -> None:
    earlier: Trial | None = st.session_state.get(_RESULT)
    if earlier is not None:
        earlier.job.stop()
    if task.reference:
        samples = [Code(_REFERENCE, task.reference, "", None), *samples]
    work = partial(_grade, task_with(task, case), samples, manifest.options)
    job = Job("Samples run", len(samples), work)
    st.session_state[_RESULT] = Trial(task.task_id, like.index if like else None, case, job, samples)


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


def _result(trial: Trial, screen: Screen, record: TaskRecord) -> None:
    job = trial.job
    if job.running:
        if late := sum(each.verdict == Verdict.TIME_LIMIT for each in trial.samples):
            wall = screen.run.manifest.options.limits.wall_s
            facts.note(f"{counted(late, 'sample')} met the time limit of {wall:g} s in the run, and may again.")
        background.watch(job)
        return
    if job.failure:
        facts.banner(f"Nothing was run: {job.failure}", warn=True)
        return
    grades = {grade.sample_id: grade for grade in job.results}
    reference = grades.pop(_REFERENCE, None)
    if reference is not None and not reference.passed:
        facts.banner(f"The task's reference fails this test: {_answer(reference)}", warn=True)
    counts = Counter(_answer(grade) for grade in grades.values())
    passed = sum(grade.passed for grade in grades.values())
    stopped = " (stopped)" if job.stopping else ""
    more = [counted(len(counts) - 4, "other answer")] if len(counts) > 4 else []
    said = " · ".join([*(f"{answer[:40]} × {count:,}" for answer, count in counts.most_common(4)), *more])
    facts.section(f"{passed:,} of {len(grades):,} pass{stopped}: {said}")
    listed = [each for each in trial.samples if each.sample_id in grades]

    def picked(row: int) -> None:
        here = screen.view.place().but(task=record.task_id, up=screen.view.below("tasks"))
        state.go("completion", here.but(sample=listed[row].sample_id))

    like = trial.like
    before = {} if like is None else answers.verdicts_of_test(screen.run, record.task_id, like)
    rows = [
        (
            short_sample(record.task_id, each.sample_id),
            _verdict(grades[each.sample_id].verdict),
            theme.verdict(before[each.sample_id]).letter if each.sample_id in before else "",
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
