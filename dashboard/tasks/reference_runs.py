"""Runs the references of a run's tasks in the sandbox: one that fails, or is slow, makes its task a suspect."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import streamlit as st

from dashboard import background, facts, sandbox_state
from dashboard.background import Job
from dashboard.controls import Screen
from dashboard.queries import dataset
from dashboard.suspicions import Finding
from dashboard.wording import counted
from dashboard.workspace import OpenRun
from evaluator.model import Grade
from evaluator.references import fault_of, reference_grades

_SLOW = 3
"""A reference that takes more than the limit by this is slow: a right completion may not be quicker."""


class Checked(NamedTuple):
    """A task whose reference was run, and what puts its tests in doubt."""

    task_id: str
    finding: Finding | None


def offer(screen: Screen) -> None:
    """The button; while they run, the progress; then what was found."""
    total = dataset.reference_count(screen.run)
    if not total:
        return
    job = _jobs().get(_key(screen.run))
    if job is not None and job.running:
        background.watch(job)
        return
    refusal = sandbox_state.refusal()
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.button(
            f"Run the {counted(total, 'reference')}{' again' if job else ''}",
            key="run_references",
            disabled=bool(refusal),
            help="In the sandbox. A reference that fails, or is slow, makes its task's tests suspect.",
            on_click=_start,
            args=(screen.run, total),
        )
        if said := refusal or (_summary(job) if job else ""):
            facts.note(said)


def _start(run: OpenRun, total: int) -> None:
    known = _jobs().get(_key(run))
    if known is None or not known.running:
        _jobs()[_key(run)] = Job("References run", total, partial(_checked, run))


def _checked(run: OpenRun) -> Iterator[Checked]:
    options = run.manifest.options
    grades = reference_grades(dataset.with_references(run), limits=options.limits, checker=options.checker)
    for grade in grades:
        found = finding(grade)
        dataset.note_reference(run, grade.task_id, found)
        yield Checked(grade.task_id, found)


def finding(grade: Grade) -> Finding | None:
    """What a reference's grade says against its task's tests."""
    if (fault := fault_of(grade)) is not None:
        return Finding(dataset.REFERENCE, fault, 6)
    slowest = max(grade.cases, key=lambda case: case.wall_s or 0, default=None)
    if slowest is None or (slowest.wall_s or 0) * _SLOW <= grade.limits.wall_s:
        return None
    why = f"the reference takes {facts.seconds(slowest.wall_s)} of {grade.limits.wall_s:g} s"
    return Finding(dataset.REFERENCE, why, 2, slowest.index)


def _summary(job: Job[Checked]) -> str:
    if job.failure:
        return f"Not run: {job.failure}"
    against = sum(each.finding is not None for each in job.results)
    end = f", stopped before the other {job.total - len(job.results):,}" if job.stopping else ""
    return f"{len(job.results):,} run{end}: {counted(against, 'task')} failed or slow"


def _key(run: OpenRun) -> str:
    return f"{run.path}|{run.stamp}"


@st.cache_resource(show_spinner=False)
def _jobs() -> dict[str, Job[Checked]]:
    """By run: a reload or a second visitor finds the same one."""
    return {}
