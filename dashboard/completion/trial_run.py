"""Runs any code against a task's test cases as the run did, in the grading sandbox; nothing is written to the run.

`offer` is the Tasks page's editor. The Completion page has its own, `rerun`, which grades and shows through
the functions here.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec
import streamlit as st

from dashboard import escape, facts, sandbox_state
from dashboard.completion import completion_view
from dashboard.controls import Screen
from dashboard.queries import listing, records
from dashboard.queries.records import TaskRecord
from dashboard.text import case_view, code_view, diff_view
from evaluator.graders import GraderError, grader_or_refusal, needs_tasks
from evaluator.graders.spec import names_file
from evaluator.model import NO_REASON, CaseResult, Grade, Kind, Mode, Task
from evaluator.options import Settings
from evaluator.runs.reading import Manifest

_RESULT = "trial_result"


class Trial(NamedTuple):
    """The last trial run, on one test case or, where `test` is None, on all."""

    task_id: str
    test: int | None
    text: str
    grade: Grade


def offer(screen: Screen, record: TaskRecord, index: int | None) -> None:
    """The editor with a text to start from, and its two buttons; disabled, with the reason, where code may not run."""
    if index is None:
        facts.note("The task has no test case that can run, so there is nothing to run code against.")
        return
    task, manifest = msgspec.json.decode(record.task, type=Task), screen.run.manifest
    if reason := nothing_to_run(task, manifest):
        facts.note(reason)
        return
    takes_code = runs_code(task, manifest)
    facts.section("Run any code against the test cases" if takes_code else "Grade any answer to the task")
    refusal = sandbox_state.refusal() if takes_code else None
    if refusal:
        facts.banner(refusal, warn=True)
    sources = _sources(screen, record)
    # The result is between the buttons and the editor, so that it appears next to the click.
    with st.container(horizontal=True, vertical_alignment="bottom"):
        part = listing.samples(screen.run, record.task_id).part("rollout")
        label = f"Start from ({part})" if part else "Start from"
        source = st.selectbox(label, list(sources), format_func=sources.__getitem__, key="trial_source")
        one = st.button(f"Run test {index}", disabled=bool(refusal), key="trial_one", type="primary")
        every = st.button("Run all test cases", disabled=bool(refusal), key="trial_all")
    result = st.container()
    with st.container(key="trial_editor"):
        # Filled by its default: a text put into the session's state may never reach the browser.
        key, filled = f"trial_{record.task_id}_{source}", _source(screen, record, source)
        text = st.text_area("Code", filled, key=key, height=190, label_visibility="collapsed")
    with result:
        if escape.text(text) != text:
            facts.note("Some characters in the editor are invisible or reorder others: the code view shows them.")
        if one or every:
            chosen = index if one else None
            with st.spinner("Running in the sandbox"):
                grade = trial_grade(task, trial_grader(manifest.options.grader), text, chosen, manifest)
                st.session_state[_RESULT] = Trial(task.task_id, chosen, text, grade)
        _result(record)


def _sources(screen: Screen, record: TaskRecord) -> dict[str, str]:
    found = {"reference": "the reference"} if record.reference else {}
    found["empty"] = "an empty page"
    for sample, verdict, model in listing.samples(screen.run, record.task_id).rows:
        found[f"sample:{sample}"] = escape.text(f"{verdict}: {sample}" + (f" ({model})" if model else ""))
    return found


def _source(screen: Screen, record: TaskRecord, chosen: str) -> str:
    if chosen == "reference":
        return record.reference or ""
    if chosen.startswith("sample:"):
        rollout = records.rollout(screen.run, record.task_id, chosen.removeprefix("sample:"))
        text = rollout and (rollout.completion if record.mode == Mode.ANSWER else rollout.code)
        return text or ""
    return f"def {record.entry_point}():\n    ...\n" if record.entry_point else ""


def trial_grader(grader: str | None) -> str | None:
    """The run's grader, unless it is in a file: a run from elsewhere must not decide what is loaded here."""
    try:
        return None if grader is None or names_file(grader) else grader
    except GraderError:
        return None


def nothing_to_run(task: Task, manifest: Manifest) -> str | None:
    """Why a task of this run has no trial runs, in one line; None if it has."""
    grader = trial_grader(manifest.options.grader)
    if not needs_tasks(grader):
        return "The rollouts came with these rewards: there is nothing to run."
    if grader_or_refusal(task, grader).waits:
        return "Its grader calls another service, so there are no trial runs here. Use `rollscope grade`."
    return None


def runs_code(task: Task, manifest: Manifest) -> bool:
    """Whether a trial run runs code; an answer is only compared."""
    return grader_or_refusal(task, trial_grader(manifest.options.grader)).runs_code


def trial_grade(
    task: Task, grader: str | None, text: str, index: int | None, manifest: Manifest | None = None
) -> Grade:
    """The grade of a text by the run's grader, on a single test case if that can run alone.

    `manifest`: the run whose limits, checker and rules apply; None: the defaults. The sandbox is always a strict one
    on this server's own Python: a run from elsewhere must not weaken it, nor name a program to start.
    """
    from evaluator import grade

    if index is not None and task.mode in (Mode.CALL, Mode.STDIN):
        task = msgspec.structs.replace(task, cases=tuple(c for c in task.cases if c.index == index), weights=None)
    options = (manifest or Manifest()).options
    options = msgspec.structs.replace(
        options,
        grader=grader,
        sandbox=Settings(),
        fail_fast=False,
        preamble=None,  # the task already has it
    )
    return grade(task, text, kind=Kind.FULL, options=options)


def unlike_the_run(manifest: Manifest) -> list[str]:
    """What a trial run has that the run had not, one sentence each."""
    said, sandbox = [], manifest.options.sandbox
    if sandbox.python:
        said.append(f"The run used the Python at {sandbox.python}; here, code runs on this server's own.")
    if sandbox.strictness != "strict":
        said.append(f"The run's sandbox was {sandbox.strictness}; here, it is strict.")
    return said


def _result(record: TaskRecord) -> None:
    trial: Trial | None = st.session_state.get(_RESULT)
    if trial is None or trial.task_id != record.task_id:
        return
    _headline(trial.grade)
    shown = [case for case in trial.grade.cases if trial.test in (None, case.index)]
    if len(shown) > 1:
        st.html(completion_view.letters(shown))
    failing = deciding(trial.grade, trial.test)
    if failing is not None:
        show_case(failing, trial.text, record.mode, trial.grade.checker)


def deciding(grade: Grade, test: int | None) -> CaseResult | None:
    """The test case to look at: the one that was run, else the first that failed, else the first."""
    shown = [case for case in grade.cases if test in (None, case.index)]
    return next((case for case in shown if case.verdict != "passed"), shown[0] if shown else None)


def _headline(result: Grade) -> None:
    reward = "none" if result.reward is None else f"{result.reward:g}"
    found = [("reward", reward), ("tests passed", f"{result.tests_passed} of {result.tests_total}")]
    if result.error_type or result.error_message:
        found.append((result.error_type or "message", (result.error_message or "").split("\n", 1)[0][:200]))
    if not result.verified:
        found.append(("not verified", result.unverified_reason or NO_REASON))
    facts.line(found, title=result.verdict.value, chip=result.verdict.value, own=True)


def show_case(case: CaseResult, text: str, mode: str, checker: str | None) -> None:
    """The result of one test case: where in `text` it stopped, expected beside actual, its output."""
    facts.line(
        [
            ("test", str(case.index)),
            ("verdict", case.verdict.value),
            ("wall", facts.seconds(case.wall_s)),
            ("memory", facts.mebibytes(case.memory_mb)),
        ]
    )
    if case.traceback:
        lines = {frame.line for frame in case.traceback.frames}
        said = f"{case.traceback.type}: {case.traceback.message}"[:90] if case.traceback.type else "stopped here"
        line = case.error_line or case.traceback.line
        st.html(code_view.code(text, failing=line, frames=lines, note=said, prefix="T", height="220px"))
    difference, line = (case.difference.message, case.difference.line) if case.difference else (None, None)
    sides = case_view.Sides(case.verdict, case.expected, case.actual, difference, mode, line, checker, case.excerpt)
    case_view.expected_and_actual(sides)
    for name, output in (("stdout", case.stdout), ("stderr", case.stderr)):
        if output:
            facts.section(name)
            st.html(diff_view.text_block(output))
