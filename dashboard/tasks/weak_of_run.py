"""All tasks of a run: which ones have tests that would pay a wrong program. A search for the Audit page."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Final

from dashboard import background, facts, sandbox_state, state, widgets
from dashboard.background import Job
from dashboard.components import lists
from dashboard.components.lists import Column
from dashboard.controls import Screen
from dashboard.facts import counted
from dashboard.queries import answers, dataset, task_names
from dashboard.tasks import corrected, weak_tests
from dashboard.tasks.weak_tests import BUDGET_S, Found
from dashboard.workspace import OpenRun
from evaluator.strengthening.differences import Request
from evaluator.strengthening.in_parallel import strengthened
from evaluator.strengthening.report import TaskReport, is_weak, shown_in_line
from evaluator.workers.worker_count import worker_count

_COLUMNS: Final = (
    Column("task", "mono", "22%"),
    Column("wrong passes", "number", "96px", "samples that pass its tests, and are wrong on a new input"),
    Column("mutants that pass", "number", "124px", "small wrong edits of the reference that its tests do not notice"),
    Column("an input that shows it", "mono"),
)
_LONGEST: Final = 160
_REASONS: Final = 4


def show(screen: Screen) -> None:
    """The button that starts the search, its progress, and the tasks with weak tests, the worst first."""
    facts.section("Which tasks' tests would pay a wrong program? (the whole run, not filtered)")
    job: Job[Found] | None = background.find(*weak_tests.key_of(screen.run))
    if job is not None and job.running:
        background.watch(job)
        return
    tasks = dataset.every(screen.run)
    minutes = len(tasks) * BUDGET_S / worker_count() / 60
    refusal = sandbox_state.refusal() or ("" if tasks else "The run did not keep its tasks.")
    label = "Search again" if job else f"Search {counted(len(tasks), 'task')}"
    about = (
        f"{BUDGET_S:g} s for each task, about {minutes:,.0f} min in all; it can be stopped, and keeps what it found."
    )
    widgets.button(label, "weak_of_run", _start, screen.run, disabled=bool(refusal), help=about)
    if job is None or refusal:
        facts.note(refusal or "New inputs are answered by the reference, its mutants, and the samples that pass.")
        return
    if job.failure:
        facts.banner(f"The search ended early: {job.failure}", warn=True)
    _result(screen, job)


def _start(run: OpenRun) -> None:
    tasks = dataset.every(run)
    background.start(weak_tests.key_of(run), lambda: Job("Tasks tried", len(tasks), partial(_search, run)))


def _search(run: OpenRun, add: Callable[[Found], None], stop: threading.Event) -> None:
    programs = {task_id: weak_tests.programs_of(codes) for task_id, codes in answers.all_passing(run).items()}
    request, options = Request(budget_s=BUDGET_S), sandbox_state.options_of(run.manifest.options)
    for report, stronger in strengthened(dataset.every(run), programs, request, options, stop):
        add(Found(report, stronger))


def _result(screen: Screen, job: Job[Found]) -> None:
    statuses = Counter(found.report.status for found in job.results)
    facts.line([(status, f"{count:,}") for status, count in statuses.most_common()])
    reasons = Counter(found.report.reason for found in job.results if found.report.status == "not strengthened")
    for reason, count in reasons.most_common(_REASONS):
        facts.note(f"{counted(count, 'task')} not strengthened: {reason[:_LONGEST]}")
    if len(job.results) < job.total:
        facts.note(f"Stopped after {len(job.results):,} of {counted(job.total, 'task')}.")
    weak = sorted((found for found in job.results if is_weak(found.report)), key=_rank, reverse=True)
    if not weak:
        return

    def opened(row: int) -> None:
        view = screen.view.place().but(task=weak[row].report.task_id, tab="weak")
        state.go("tasks", view)

    rows = [_row(screen.run, found.report) for found in weak]
    lists.row_list(_COLUMNS, rows, key="weak_tasks", label="tasks with weak tests", shown=screen.run.name,
                   height=f"min({44 + 24 * len(rows)}px, 300px)", on_pick=opened)  # fmt: skip
    edited = corrected.changes(screen.run)
    stronger = {found.stronger.task_id: found.stronger for found in weak}
    widgets.button(f"Add the test cases of {counted(len(weak), 'task')}", "add_all_weak", edited.update, stronger,
                   disabled=all(edited.get(name) == task for name, task in stronger.items()),
                   help="To the dataset that “Edit or add a test case” of Tasks downloads.")  # fmt: skip


def _rank(found: Found) -> tuple[int, int]:
    return sum(found.report.wrong.values()), found.report.killed_after - found.report.killed_before


def _row(run: OpenRun, report: TaskReport) -> tuple[str, ...]:
    wrong = f"{sum(report.wrong.values()):,} of {report.passing:,}" if report.passing else ""
    passing = f"{report.mutants - report.killed_before:,} of {report.mutants:,}"
    return task_names.name(run, report.task_id), wrong, passing, shown_in_line(report)[:_LONGEST]
