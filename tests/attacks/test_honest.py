"""Honest programs that naive guards and graders fail earn their rewards: here in other ways than the usual one."""

from collections.abc import Callable, Iterator

import msgspec
import pytest

from evaluator import Grade, Kind, Mode, Rollout, Task, grade_all
from tests.attacks.corpus import honest, tasks
from tests.sandbox.headers import HEADER

PROGRAMS = honest()
EVERY_TASK: dict[str, Task] = tasks()
STDIN_TASKS = [task for task in EVERY_TASK.values() if task.mode is Mode.STDIN]
STDIN_PROGRAMS = [program for program in PROGRAMS if EVERY_TASK[program.task].mode is Mode.STDIN]


def _rollouts() -> Iterator[Rollout]:
    for program in STDIN_PROGRAMS:
        yield Rollout(task_id=program.task, sample_id=program.name, completion=program.code, kind=Kind.FULL)


def _in_fresh_processes() -> Iterator[Grade]:
    return grade_all(STDIN_TASKS, _rollouts(), workers=2, isolation="test")


def _under_a_header() -> Iterator[Grade]:
    """With imports before each completion, as graders of contest sets put them there."""
    under = [msgspec.structs.replace(task, preamble=HEADER) for task in STDIN_TASKS]
    return grade_all(under, _rollouts(), workers=2)


@pytest.mark.attacks
@pytest.mark.parametrize("grades", [_in_fresh_processes, _under_a_header])
def test_programs_earn_their_rewards_in_other_ways_too(grades: Callable[[], Iterator[Grade]]) -> None:
    """`test_attacks.py` grades all of them in the usual way, after attacks."""
    seen = {
        grade.sample_id: (grade.reward, grade.verified, grade.verdict.value, grade.error_message, grade.flags)
        for grade in grades()
    }
    assert seen == {program.name: (1.0, True, "passed", None, ()) for program in STDIN_PROGRAMS}
