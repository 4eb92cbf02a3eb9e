"""The list of the dataset's tasks on the Tasks page: suspects first, or another order, or a random sample; and the run
of their references: one that fails, or is slow, makes its task a suspect.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from functools import partial
from typing import NamedTuple

import streamlit as st

from dashboard import background, controls, facts, sandbox_state, state, widgets
from dashboard.background import Job
from dashboard.components import lists
from dashboard.components.lists import Column
from dashboard.controls import Screen
from dashboard.facts import counted
from dashboard.queries import dataset, records, task_names
from dashboard.queries.dataset import SORTS, RandomSample, Reason, TaskLine
from dashboard.queries.listing import TASKS_PER_PAGE
from dashboard.queries.records import TaskRecord
from dashboard.state import View
from dashboard.suspicions import Finding
from dashboard.tasks import corrected, judgement
from dashboard.workspace import OpenRun
from evaluator.model import Grade
from evaluator.references import fault_of, reference_grades

_SLOW = 3
"""A reference that takes more than the limit by this is slow: a right completion may not be quicker."""


class Checked(NamedTuple):
    """A task whose reference was run, and what puts its tests in doubt."""

    task_id: str
    finding: Finding | None


def offer_references(screen: Screen) -> None:
    """The button; while they run, the progress; then what was found."""
    total = dataset.reference_count(screen.run)
    if not total:
        return
    job = background.find(*_key(screen.run))
    if job is not None and job.running:
        background.watch(job)
        return
    refusal = sandbox_state.refusal()
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        widgets.button(
            f"Run the {counted(total, 'reference')}{' again' if job else ''}", "run_references", _start, screen.run,
            total, disabled=bool(refusal),
            help="In the sandbox. A reference that fails, or is slow, makes its task's tests suspect.",
        )  # fmt: skip
        if said := refusal or (_summary(job) if job else ""):
            facts.note(said)


def _start(run: OpenRun, total: int) -> None:
    background.start(_key(run), lambda: Job("References run", total, partial(_check, run)))


def _check(run: OpenRun, add: Callable[[Checked], None], stop: threading.Event) -> None:
    options = run.manifest.options
    for grade in reference_grades(
        dataset.with_references(run),
        limits=options.limits,
        time_factor=options.time_factor,
        checker=options.checker,
    ):
        found = finding(grade)
        dataset.note_reference(run, grade.task_id, found)
        add(Checked(grade.task_id, found))
        if stop.is_set():
            break


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


def _key(run: OpenRun) -> tuple[Hashable, ...]:
    return "references", str(run.path), run.stamp


_CHARACTER = 7.5
"""Pixels."""
_OF_MANY = {
    "nobody": "nobody passes",
    "alike": "more samples fail one of them alone, with one answer, than pass",
    "repeat": "repeat others",
    "contradiction": "inputs of others, another expected output",
    "carriage_returns": "carriage returns in the input",
    "decimals": "decimals, compared as text",
    "empty": "the expected output is empty",
}
"""What is said of several test cases."""


def show(screen: Screen) -> TaskRecord:
    """The tasks with a rollout in the filter. Returns the selected one; ends the page when there is none."""
    view, run = screen.view, screen.run
    with st.spinner("Reading the test cases"):
        dataset.prepare(run)
    _find_and_order(view)
    count = dataset.task_total(run, view.filter, view.sort)
    lines = dataset.task_lines(run, view.filter, view.sort, controls.page_of(view, count, TASKS_PER_PAGE))
    if not lines and not view.task:
        facts.banner(_why_none(view), warn=True)
        st.stop()
    chosen = view.task or lines[0].task_id
    known = [line.task_id for line in lines]

    def picked(row: int) -> None:
        state.write(state.read().but(task=known[row], test=None))

    judged, names = judgement.words(run), task_names.names(run, known)
    for task in corrected.changes(run):
        judged[task] = " · ".join(filter(None, ("changed, not in the run", judged.get(task))))
    rows = [_row(line, names.get(line.task_id, line.task_id), judged.get(line.task_id, "")) for line in lines]
    lists.row_list(
        _columns(rows),
        rows,
        key="task_list",
        label="tasks",
        height=_height(sampled=dataset.random_sample(view.sort) is not None, paged=count > TASKS_PER_PAGE),
        shown=f"{run.name} {view.sort} {view.page} {view.filter.q}",
        on_pick=picked,
        selected=known.index(chosen) if chosen in known else None,
    )
    if count <= TASKS_PER_PAGE:
        facts.note(f"{counted(count, 'task')}{_part(screen)}")
    controls.pager(view, count, TASKS_PER_PAGE, "tasks")
    _judged(screen)
    record = records.task(run, chosen)
    if record is None:
        _unknown(screen, chosen)
        st.stop()
    return record


def reason_text(reason: Reason, tests: int) -> str:
    """A reason in words, with the first test cases that it is about. `tests`: how many the task has."""
    if not reason.tests:
        return reason.why.partition(": ")[0]
    if reason.cases == 1:
        return f"test {reason.tests[0]}: {reason.why}"
    if reason.cases == tests and reason.kind == dataset.NOBODY:
        return f"nobody passes any of {tests:,} tests"
    more = f" and {reason.cases - len(reason.tests):,} more" if reason.cases > len(reason.tests) else ""
    names = ", ".join(str(test) for test in sorted(reason.tests))
    agree = ", most agree on another answer" if reason.kind == dataset.NOBODY and "agree" in reason.why else ""
    return f"tests {names}{more}: {_OF_MANY.get(reason.kind, reason.why)}{agree}"


def _why_none(view: View) -> str:
    if not view.filter:
        return "The run has no dataset."
    said = "No task has a rollout in the filter"
    return f"{said}, and {view.filter.q!r} in its id." if view.filter.q else f"{said}."


def _columns(rows: list[tuple[str, str, str, str]]) -> tuple[Column, ...]:
    name, passed = (14 + _CHARACTER * max((len(row[place]) for row in rows), default=0) for place in (1, 2))
    return (
        Column("", "mark", "16px", "! marks a suspect"),
        Column("task", "wrap", f"{min(150.0, max(48.0, name)):.0f}px"),
        Column(
            "pass",
            "number",
            f"{max(56.0, passed):.0f}px",
            "rollouts that passed, of all that were graded, those without code too",
        ),
        Column("why", "wrap", "", "why its tests are suspect, and what people judged"),
    )


def _height(*, sampled: bool, paged: bool) -> str:
    """What the window has, without what is above and below the list."""
    return f"max(280px, calc(100vh - {212 + 61 * sampled + 60 * paged}px))"


def _find_and_order(view: View) -> None:
    sample = dataset.random_sample(view.sort)
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom", key="task_find"):
        widgets.show(
            "text_input", "w_find", view.filter.q, lambda view, words: view.but(q=words, page=1), "Find",
            placeholder="find a task", label_visibility="collapsed",
        )  # fmt: skip
        current = "random" if sample else view.sort if view.sort in SORTS else ""
        widgets.show("selectbox", "w_task_sort", current, _order, "Order", list(SORTS), width=170,
                     format_func=lambda word: SORTS[word][0], label_visibility="collapsed")  # fmt: skip
    if sample is None:
        return
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        for name, label, least in (("size", "Tasks in the sample", 1), ("seed", "Seed", 0)):
            _number(sample, name, label, least)


def _order(view: View, word: str) -> View:
    return view.but(sort=RandomSample().word if word == "random" else word, page=1, task="", test=None)


def _number(sample: RandomSample, name: str, label: str, least: int) -> None:
    def choose(view: View, value: int | None) -> View:
        now = dataset.random_sample(view.sort) or sample
        wanted = getattr(sample, name) if value is None else value
        return view.but(sort=now._replace(**{name: wanted}).word, page=1, task="", test=None)

    widgets.show("number_input", f"w_{name}", getattr(sample, name), choose, label, min_value=least,
                 max_value=999_999, step=1)  # fmt: skip


def _row(line: TaskLine, name: str, judged: str) -> tuple[str, str, str, str]:
    why = "; ".join(reason_text(reason, line.tests) for reason in line.reasons)
    said = " · ".join(part for part in (judged, why) if part)
    return "!" if line.reasons else "", name, f"{line.passed:,}/{line.graded:,}", said


def _part(screen: Screen) -> str:
    if dataset.random_sample(screen.view.sort):
        return ", drawn at random: the same for everybody with this address"
    return " with a rollout in the filter" if screen.view.filter else ""


def _judged(screen: Screen) -> None:
    """How many tasks and test cases are judged so; each word links to the rollouts of those tasks."""
    found = judgement.totals(screen.run)
    if not found:
        return
    with st.container(horizontal=True, gap="small", key="judged"):
        for word, total in found.items():
            state.link("rollouts", screen.view.place().but(tag=word), f"{word}: {total}")


def _unknown(screen: Screen, task_id: str) -> None:
    facts.banner(f"Task {task_id} is not in this run's dataset.", warn=True)
    nearest = records.nearest(screen.run, task_id)
    if nearest and nearest != task_id:
        state.link("tasks", screen.view.but(task=nearest, test=None), f"Nearest: {nearest}")
