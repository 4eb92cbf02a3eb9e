"""Grades a test suite twice, for whoever checks a dataset: as `tests` does, and plainly, in one process.

The grade is that of `tests`. Where the plain run comes to another result, both are in `Grade.disagreement`: also where
the first run, or literal calls, decided by themselves.
"""

from __future__ import annotations

from dataclasses import replace

import msgspec

from evaluator.assertions.plan import plan_suite
from evaluator.assertions.ungradable import UngradableError
from evaluator.graders import tests
from evaluator.graders.bench import Bench
from evaluator.graders.grader import Grader
from evaluator.graders.suites.rule import limits_of, plain_run
from evaluator.graders.suites.run import CannotRunError
from evaluator.model import Disagreement, Grade, Mode, Rollout, Task, Verdict


class Config(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """It has no options."""


def make(config: Config) -> Grader:
    del config
    return replace(tests.make(tests.Config()), name="both_ways", grade=grade)


def grade(task: Task, rollout: Rollout, bench: Bench) -> Grade:
    """Raises as `tests.grade` does."""
    found = tests.grade(task, rollout, bench)
    decided = task.mode in (Mode.ASSERT, Mode.UNITTEST) and found.verdict.graded and found.code is not None
    if not decided or found.disagreement is not None:
        return found
    assert found.code is not None
    try:
        plan = plan_suite(task)
        plain = plain_run(task, plan, found.code, limits_of(task, plan, found.limits, bench), bench)
    except (UngradableError, CannotRunError):
        return found
    if plain.passed is not (found.verdict is Verdict.PASSED):
        found.disagreement = Disagreement(apart=found.verdict, plain=plain.verdict)
    return found
