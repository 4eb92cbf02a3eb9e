"""Would a task's tests pay a wrong program? New inputs, on which the samples that pass are run again."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Final, NamedTuple

import streamlit as st

from dashboard import background, facts, sandbox_state, state, widgets
from dashboard.background import Job
from dashboard.components import answer_list, lists
from dashboard.components.lists import Column
from dashboard.controls import Screen
from dashboard.facts import counted
from dashboard.queries import answers, records
from dashboard.queries.answers import Answer
from dashboard.queries.records import TaskRecord
from dashboard.tasks import corrected
from dashboard.workspace import OpenRun
from evaluator.model import Task, Verdict
from evaluator.options import Options
from evaluator.strengthening.differences import Request, strengthen
from evaluator.strengthening.report import DISAGREE, Added, Finding, Program, TaskReport
from evaluator.workers.single import in_worker

BUDGET_S: Final = 10.0
"""Seconds for a task."""
_HELP: Final = (
    f"In the sandbox, for {BUDGET_S:g} s: new inputs like the task's own are answered by its reference, by mutants of "
    "it, which are small wrong edits, and by the samples that pass."
)
_HEIGHT: Final = "calc(150px + max(0px, (100vh - 720px) * 0.3))"
_SHOWN: Final = 60
_SAMPLES: Final = 24
"""Samples of an answer that are listed."""
_COLUMNS: Final = (
    Column("input", "mono"),
    Column("expected", "mono", "28%"),
    Column("shows", "line", "36%", "what passes all tests of the task, and is wrong on this input"),
)
_BY: Final = {"mutant": "a mutant passes", "boundary": "no program yet"}


class Found(NamedTuple):
    """What was found for a task, and the task with the test cases that would be added."""

    report: TaskReport
    stronger: Task


def offer(screen: Screen, record: TaskRecord) -> None:
    """The button; while it works, the progress; then the inputs that show wrong programs, and who gave which answer."""
    task = records.decoded(record.task, Task)
    if task is None:
        facts.note("Not supported for this run: the version that wrote it did not keep its tasks.")
        return
    key = key_of(screen.run, record.task_id)
    job: Job[Found] | None = background.find(*key)
    if job is not None and job.running:
        background.watch(job)
        return
    of_run: Job[Found] | None = background.find(*key_of(screen.run))
    results = [*(job.results if job else []), *(of_run.results if of_run else [])]
    found = next((each for each in results if each.report.task_id == record.task_id), None)
    refusal = sandbox_state.refusal()
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        again = " again" if found else ""
        label = f"Look for wrong programs that pass{again}"
        widgets.button(label, "find_weak", _start, screen.run, key, task, disabled=bool(refusal), help=_HELP)
        facts.note(
            refusal or (job.failure if job is not None and job.failure else _said(found.report if found else None))
        )
        if found is not None and found.report.added:
            label = f"Add {counted(len(found.report.added), 'test case')}"
            edited = corrected.changes(screen.run)
            widgets.button(label, "add_weak", edited.__setitem__, task.task_id, found.stronger,
                           disabled=edited.get(task.task_id) == found.stronger,
                           help="To the dataset that “Edit or add a test case” downloads.")  # fmt: skip
    if found is not None and found.report.added:
        _inputs(screen, record, found.report)


def _start(run: OpenRun, key: tuple[Hashable, ...], task: Task) -> None:
    programs = programs_of(answers.passing(run, task.task_id, ""))
    options = run.manifest.options
    work = partial(_find, task, programs, options)
    background.start(key, lambda: Job("Tasks tried", 1, work))


def _find(
    task: Task, programs: Sequence[Program], options: Options, add: Callable[[Found], None], stop: threading.Event
) -> None:
    del stop  # the budget ends it
    add(
        Found(
            *in_worker(
                strengthen, task, programs, Request(budget_s=BUDGET_S), options=sandbox_state.options_of(options)
            )
        )
    )


def programs_of(samples: Sequence[answers.Code]) -> list[Program]:
    """Each code once, with the samples that have it."""
    alike: dict[str, list[answers.Code]] = {}
    for each in samples:
        alike.setdefault(each.code, []).append(each)
    return [
        Program(code, tuple(each.sample_id for each in same), tuple(each.model or "" for each in same))
        for code, same in alike.items()
    ]


def _said(report: TaskReport | None) -> str:
    if report is None:
        return ""
    if report.reason and not report.added:
        return f"{report.status}: {report.reason}"
    wrong = sum(report.wrong.values())
    said = [f"{wrong:,} of {counted(report.passing, 'passing sample')} wrong"] if report.passing else []
    killed = f"{report.killed_before:,} of {counted(report.mutants, 'mutant')} fail"
    said.append(f"{killed}, {report.killed_after:,} with the added tests" if report.added else killed)
    return "; ".join(said)


def _inputs(screen: Screen, record: TaskRecord, report: TaskReport) -> None:
    """The inputs that show wrong programs, and of the selected one who answers what."""
    shown: list[Finding | Added] = [*report.findings, *(each for each in report.added if each.added_by != "rollout")]
    at = int(screen.view.at) if screen.view.at.isdigit() and int(screen.view.at) < len(shown) else 0

    def picked(row: int) -> None:
        state.write(state.read().but(at=str(row)))

    left, right = st.columns([1.3, 1], gap="small")
    with left:
        rows = [(each.input[:_SHOWN], _expected(each)[:_SHOWN], _shows(each)) for each in shown]
        lists.row_list(_COLUMNS, rows, key="weak_inputs", label="inputs", height=_HEIGHT, shown=record.task_id,
                       on_pick=picked, selected=at)  # fmt: skip
    with right:
        here = screen.view.place().but(task=record.task_id, up=screen.view.below("tasks"))
        found = _answers(shown[at], answers.passing(screen.run, record.task_id, ""))
        answer_list.show(found, here, height=_HEIGHT)


def _expected(each: Finding | Added) -> str:
    return "not known" if each.certainty == DISAGREE else each.expected


def _shows(each: Finding | Added) -> str:
    if isinstance(each, Added):
        return _BY.get(each.added_by, each.added_by)
    return f"{counted(sum(len(group.samples) for group in each.wrong), 'sample')} wrong"


def _answers(each: Finding | Added, passing: Sequence[answers.Code]) -> list[Answer]:
    """The wrong answers and the expected one, each with the samples of the run that gave it."""
    groups = {group.answer: group.samples for group in each.wrong} if isinstance(each, Finding) else {}
    wrong = {sample for samples in groups.values() for sample in samples}
    models = {code.sample_id: code.model for code in passing}
    right = [sample for sample in models if sample not in wrong]
    is_known = each.certainty != DISAGREE
    found = [(Verdict.WRONG_ANSWER if is_known else Verdict.UNKNOWN, *group) for group in groups.items()]
    found.append((Verdict.PASSED if is_known else Verdict.UNKNOWN, each.expected, right))
    return [
        Answer(verdict, text, None, len(samples), samples[:_SAMPLES], [models.get(name) for name in samples[:_SAMPLES]])
        for verdict, text, samples in found
    ]


def key_of(run: OpenRun, task_id: str = "") -> tuple[Hashable, ...]:
    """Of the job in `background` that looks at a task, or at all."""
    return "weak", str(run.path), run.stamp, task_id
