"""What is odd about a task, before anything runs."""

from __future__ import annotations

from collections.abc import Iterator

from evaluator.given_tests import CARRIAGE_RETURNS
from evaluator.graders import grader_or_refusal
from evaluator.graders.cases.plans import plan_for
from evaluator.model import Mode, Task
from evaluator.suites.reading import UngradableError
from evaluator.suites.reading.plan import SuitePlan, notes_on


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
