"""Measures where the time of grading goes: a stopwatch around a grading.

    with measured() as spent:
        grade = ...
    spent.seconds  # {"extraction": 0.0002, "run": 0.0071, ...}

Inside, the code that does the work names its stage: `with stage("run"): ...`. A stage within a stage pauses the outer
one, so the seconds of all stages add up to no more than the whole. If nothing is measured, a stage only reads a context
variable, a quarter of a microsecond.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import Final, Literal, get_args

Stage = Literal["extraction", "queue", "sandbox start", "run", "compare", "judge"]
"""Finding the code or the answer; waiting for a sandbox or for other workers; starting an interpreter; the
completion's processes, from the first one's fork to the last one's end; comparing actual and expected; asking a
model."""

STAGES: Final[tuple[Stage, ...]] = get_args(Stage)


class Spent:
    """Seconds by stage, for the stages that were entered. For one thread at a time."""

    def __init__(self) -> None:
        self.seconds: dict[Stage, float] = {}
        self.innermost: _Watch | None = None
        """The current stage."""

    def add(self, name: Stage, seconds: float) -> None:
        """Adds seconds spent elsewhere, for example waiting for the thread."""
        self.seconds[name] = self.seconds.get(name, 0.0) + seconds


_measuring: ContextVar[Spent | None] = ContextVar("measuring", default=None)


@contextmanager
def measured() -> Iterator[Spent]:
    """Measures what this thread (or coroutine) does inside. If nested, only the inner one measures."""
    spent = Spent()
    token = _measuring.set(spent)
    try:
        yield spent
    finally:
        _measuring.reset(token)


def measuring() -> Spent | None:
    """What this thread (or coroutine) measures into; None if it measures nothing."""
    return _measuring.get()


_UNMEASURED: Final = nullcontext()


def stage(name: Stage) -> AbstractContextManager[None]:
    """A context whose time counts for this stage, if it is measured."""
    spent = _measuring.get()
    return _UNMEASURED if spent is None else _Watch(spent, name)


class _Watch(AbstractContextManager[None]):
    __slots__ = ("_began", "_inside", "_name", "_outer", "_spent")

    def __init__(self, spent: Spent, name: Stage) -> None:
        self._spent = spent
        self._name = name
        self._inside = 0.0
        """Seconds of the stages within this one."""

    def __enter__(self) -> None:
        self._outer, self._spent.innermost = self._spent.innermost, self
        self._began = time.perf_counter()

    def __exit__(self, *raised: object) -> None:
        seconds = time.perf_counter() - self._began
        self._spent.add(self._name, seconds - self._inside)
        self._spent.innermost = self._outer
        if self._outer is not None:
            self._outer._inside += seconds
