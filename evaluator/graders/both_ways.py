"""Grades a test suite twice, for `rollscope check`: as `tests` does, and in one process.

The grade is that of `tests`. If the run in one process has another result, both are in `Grade.disagreement`, even if
the first run or literal calls decided alone.
"""

from __future__ import annotations

from dataclasses import replace

import msgspec

from evaluator.cases import Bench
from evaluator.graders import tests
from evaluator.graders.grader import Grader
from evaluator.model import Disagreement, Grade, Mode, Rollout, Task
from evaluator.suites.reading import UngradableError
from evaluator.suites.reading.plan import plan_suite
from evaluator.suites.rule import limits_of, run_in_shared_process
from evaluator.suites.run import CannotRunError


class Config(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """No options."""


def make(config: Config) -> Grader:
    del config
    return replace(tests.make(tests.Config()), name="both_ways", grade=grade, kept_by=None)


def grade(task: Task, rollout: Rollout, bench: Bench) -> Grade:
    """Raises as `tests.grade` does."""
    result = tests.grade(task, rollout, bench)
    is_suite = task.mode in (Mode.ASSERT, Mode.UNITTEST)
    if not is_suite or not result.verdict.graded or result.code is None or result.disagreement is not None:
        return result
    try:
        plan = plan_suite(task)
        shared = run_in_shared_process(task, plan, result.code, limits_of(task, plan, result.limits, bench), bench)
    except (UngradableError, CannotRunError):
        return result
    if shared.passed is not result.passed:
        result.disagreement = Disagreement(apart=result.verdict, plain=shared.verdict)
    return result
