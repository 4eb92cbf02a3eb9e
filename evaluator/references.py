"""What is odd about a dataset's tasks before anything runs, and do their references pass their own tests?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Unpack

from evaluator.api import grade_all
from evaluator.graders import grader_or_refusal
from evaluator.graders.plans import plan_for
from evaluator.model import Grade, Kind, Mode, Rollout, Task
from evaluator.options import Given, Options, options_of
from evaluator.suites.reading import UngradableError
from evaluator.suites.reading.plan import SuitePlan, notes_on
from evaluator.tasks.given_tests import CARRIAGE_RETURNS


def lint(task: Task) -> Iterator[str]:
    """One line for each oddity. Raises nothing."""
    grader = grader_or_refusal(task, None)
    refusal = grader.refusal(task)
    if refusal is not None:
        yield f"can't be graded: {refusal}"
    elif grader.runs_code:
        yield from _lint_tests(task)


def _lint_tests(task: Task) -> Iterator[str]:
    try:
        plan = plan_for(task, None)
    except UngradableError:
        return
    if isinstance(plan, SuitePlan) and plan.one_process is not None:
        yield f"its grades are not verified: {plan.one_process}"
    if task.mode in (Mode.ASSERT, Mode.UNITTEST):
        yield from notes_on(task)
    if task.mode is Mode.STDIN:
        yield from (f"test {case.index}: {CARRIAGE_RETURNS}" for case in task.cases if "\r" in case.input)


def reference_grades(
    tasks: Sequence[Task], *, workers: int | None = None, options: Options | None = None, **given: Unpack[Given]
) -> Iterator[Grade]:
    """The grade of each task's reference; a test suite is run in both ways. Arguments and errors as in `grade_all`."""
    suites, others = (
        [task for task in tasks if (task.mode in (Mode.ASSERT, Mode.UNITTEST)) is are_suites]
        for are_suites in (True, False)
    )
    options = options_of(options, given)
    return chain(
        grade_all(suites, _references(suites), workers=workers, options=options, grader="both_ways", cache=None),
        grade_all(others, _references(others), workers=workers, options=options, cache=None),
    )


def fault_of(grade: Grade) -> str | None:
    """Why a reference's grade puts its tests in doubt, in one line; None if it does not."""
    found = grade.disagreement
    if found is not None:
        what = f"the two runs of its own reference disagree: {found.apart} in two processes, {found.plain} in one"
        return f"{what}{_first_message(grade)}"
    return None if grade.passed else f"its own reference does not pass: {_failure(grade)}"


def _references(tasks: Sequence[Task]) -> Iterator[Rollout]:
    for task in tasks:
        if task.reference is not None and not grader_or_refusal(task, None).waits:  # no judge unasked
            yield Rollout(task_id=task.task_id, completion=task.reference, kind=Kind.FULL)


def _first_message(grade: Grade) -> str:
    message = grade.disagreement.cases[0].apart_message if grade.disagreement and grade.disagreement.cases else ""
    return f" ({' '.join(message.split())[:300]})" if message else ""


def _failure(grade: Grade) -> str:
    test = f", test {grade.first_failing_test}" if grade.first_failing_test is not None else ""
    return f"{grade.verdict}{test}: {' '.join((grade.error_message or '').split())}"
