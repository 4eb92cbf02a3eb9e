"""A sandbox for the tests of a module, and short ways to run a call or a program in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from evaluator.model import Limits
from evaluator.sandbox import Outcome, Program, Sandbox, Settings, Way, encoded_call

PATIENT = Limits(wall_s=30, cpu_s=30, total_s=60)
"""For what should end by itself: the machine that runs the tests may be busy."""

Run = Callable[..., list[Outcome]]


@pytest.fixture(scope="module", params=[Way.NAMESPACES, pytest.param(Way.LANDLOCK, marks=pytest.mark.attacks)])
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """With namespaces; `make attacks` repeats it without. Modules for which that matters have `both_ways` instead."""
    with Sandbox(Settings(way=request.param)) as made:
        yield made


@pytest.fixture(scope="module")
def namespaces() -> Iterator[Sandbox]:
    """The way with namespaces alone: where new processes can be allowed, and /tmp is a completion's own."""
    with Sandbox(Settings(way=Way.NAMESPACES)) as made:
        yield made


@pytest.fixture
def call(sandbox: Sandbox) -> Run:
    """`call(source, [args], [args], ..., limits=..., preamble=...)`: `f` of the source, once for each list."""

    def run(source: str, *calls: list[object], limits: Limits = PATIENT, preamble: str = "") -> list[Outcome]:
        with sandbox.execute(Program(source, "f", preamble), limits) as execution:
            return [execution.run(encoded_call(args, {}), wall_s=limits.wall_s) for args in calls or ([],)]

    return run


@pytest.fixture
def program(sandbox: Sandbox) -> Run:
    """`program(source, stdin, stdin, ..., limits=..., reuse=..., preamble=...)`: once for each stdin."""

    def run(
        source: str, *inputs: bytes, limits: Limits = PATIENT, reuse: bool = True, preamble: str = ""
    ) -> list[Outcome]:
        with sandbox.execute(Program(source, None, preamble), limits, reuse=reuse) as execution:
            return [execution.run(given, wall_s=limits.wall_s) for given in inputs or (b"",)]

    return run
