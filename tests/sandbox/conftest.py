"""A sandbox for the tests, and short ways to run a call or a program in it.

Run alone: .venv/bin/python -m pytest tests/sandbox
"""

from collections.abc import Callable, Iterator
from functools import partial

import pytest

from evaluator.cases import Bench
from evaluator.graders.tests import grade
from evaluator.model import Grade, Kind, Limits, Rollout, Task
from evaluator.options import Options
from evaluator.sandbox import Outcome, Program, Sandbox, Settings, Way, encoded_call

PATIENT = Limits(wall_s=30, cpu_s=30, total_s=60)
"""For what should end by itself: the machine that runs the tests may be busy."""
HASTY = Limits(wall_s=0.3, cpu_s=30)
"""For what never ends by itself."""

Run = Callable[..., list[Outcome]]


@pytest.fixture(scope="package", params=[Way.NAMESPACES, pytest.param(Way.LANDLOCK, marks=pytest.mark.attacks)])
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """With namespaces; `make test-all` repeats it without. What differs is in `test_landlock.py`."""
    with Sandbox(Settings(way=request.param)) as made:
        yield made


@pytest.fixture(scope="package")
def namespaces() -> Iterator[Sandbox]:
    """The way with namespaces alone: where new processes can be allowed, and /tmp is a completion's own."""
    with Sandbox(Settings(way=Way.NAMESPACES)) as made:
        yield made


def called(
    sandbox: Sandbox, source: str, *calls: list[object], limits: Limits = PATIENT, preamble: str = ""
) -> list[Outcome]:
    """Calls `f` of the source, once for each list of arguments."""
    with sandbox.execute(Program(source, "f", preamble), limits) as execution:
        return [execution.run(encoded_call(args, {}), wall_s=limits.wall_s) for args in calls or ([],)]


def ran(
    sandbox: Sandbox, source: str, *inputs: bytes, limits: Limits = PATIENT, reuse: bool = True, preamble: str = ""
) -> list[Outcome]:
    """Runs the program, once for each stdin."""
    with sandbox.execute(Program(source, None, preamble), limits, reuse=reuse) as execution:
        return [execution.run(given, wall_s=limits.wall_s) for given in inputs or (b"",)]


def graded(sandbox: Sandbox, task: Task, code: str, limits: Limits = PATIENT) -> Grade:
    rollout = Rollout(task_id=task.task_id, completion=code, kind=Kind.FULL)
    return grade(task, rollout, Bench(sandbox, Options(limits=limits)))


@pytest.fixture
def call(sandbox: Sandbox) -> Run:
    """`call(source, [args], [args], ..., limits=..., preamble=...)`"""
    return partial(called, sandbox)


@pytest.fixture
def program(sandbox: Sandbox) -> Run:
    """`program(source, stdin, stdin, ..., limits=..., reuse=..., preamble=...)`"""
    return partial(ran, sandbox)
