"""Honest programs that naive guards fail: each loses there, and earns its reward in the sandbox."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import msgspec
import pytest

from evaluator import Grade, Kind, Mode, Rollout, Task, grade_all
from tests.attacks.corpus import Honest, honest, tasks
from tests.attacks.guards import GUARDS, Guard, fails_in_one_process
from tests.attacks.naive_habits import HABITS
from tests.sandbox.headers import HEADER

PROGRAMS = honest()
EVERY_TASK: dict[str, Task] = tasks()
STDIN_TASKS = [task for task in EVERY_TASK.values() if task.mode is Mode.STDIN]
STDIN_PROGRAMS = [program for program in PROGRAMS if EVERY_TASK[program.task].mode is Mode.STDIN]

# The plainest answers there are: a guard that fails these would show nothing.
_PLAIN = [
    Honest("plain-function", "double", "def f(x):\n    return 2 * x\n", ""),
    Honest("plain-program", "total", "n = int(input())\nprint(sum(int(input()) for _ in range(n)))\n", ""),
]
pytestmark = pytest.mark.attacks


def _fails(questions: Iterable[tuple[Guard, Honest]]) -> list[bool]:
    """Whether each guard fails the program; as many at once as there are processors."""
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        return list(pool.map(lambda pair: pair[0](pair[1].code, EVERY_TASK[pair[1].task]), questions))


def _rollouts() -> Iterator[Rollout]:
    for program in STDIN_PROGRAMS:
        yield Rollout(task_id=program.task, sample_id=program.name, completion=program.code, kind=Kind.FULL)


def test_there_are_many_programs_and_every_guard_fails_one() -> None:
    assert len({program.name for program in PROGRAMS}) == len(PROGRAMS) >= 66
    assert {program.guard for program in PROGRAMS} == set(GUARDS)


def test_each_is_failed_by_its_naive_guard() -> None:
    failed = _fails((GUARDS[program.guard], program) for program in PROGRAMS)
    assert [program.name for program, fails in zip(PROGRAMS, failed, strict=True) if not fails] == []


def test_no_guard_fails_the_plainest_programs() -> None:
    asked = [(name, program) for name in GUARDS for program in _PLAIN]
    failed = _fails((GUARDS[name], program) for name, program in asked)
    assert [(name, program.name) for (name, program), fails in zip(asked, failed, strict=True) if fails] == []


def test_without_its_habit_the_same_grader_lets_them_pass() -> None:
    """But for one that ends its process at once, which a grader in that process does not survive."""
    programs = [program for program in PROGRAMS if program.guard in HABITS and program.name != "os-exit-after-flush"]
    failed = _fails((partial(fails_in_one_process, "careful"), program) for program in programs)
    assert [program.name for program, fails in zip(programs, failed, strict=True) if fails] == []


def _in_fresh_processes() -> Iterator[Grade]:
    return grade_all(STDIN_TASKS, _rollouts(), workers=2, isolation="test")


def _under_a_header() -> Iterator[Grade]:
    """With imports before each completion, as graders of contest sets put them there."""
    under = [msgspec.structs.replace(task, preamble=HEADER) for task in STDIN_TASKS]
    return grade_all(under, _rollouts(), workers=2)


@pytest.mark.parametrize("grades", [_in_fresh_processes, _under_a_header])
def test_programs_earn_their_rewards_in_other_ways_too(grades: Callable[[], Iterator[Grade]]) -> None:
    """`test_attacks.py` grades all of them in the usual way, after attacks."""
    seen = {
        grade.sample_id: (grade.reward, grade.verified, grade.verdict.value, grade.error_message, grade.flags)
        for grade in grades()
    }
    assert seen == {program.name: (1.0, True, "passed", None, ()) for program in STDIN_PROGRAMS}
