"""Stops, from outside, the job that a thread waits for: ends what does it, so that the thread gets `FaultError`."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, Protocol, TypeVar

from evaluator.sandbox import FaultError

Result = TypeVar("Result")

_STOPPED: Final = "stopped: nobody waits for the result any more"


class Abortable(Protocol):
    """What does a job: a sandbox, or a call of a worker process."""

    def abort(self) -> None:
        """Called from another thread: ends it, so that the thread that waits for it gets `FaultError`."""


class Stop:
    """For one job, in one thread. `request` is safe from any thread, before, during and after the job."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requested = False
        self._doing: Abortable | None = None

    def during(self, job: Callable[[], Result]) -> Result:
        """What the job returns or raises; `FaultError` if it is stopped."""
        token = _current.set(self)
        try:
            return job()
        finally:
            _current.reset(token)

    def request(self) -> None:
        """Ends what does the job, if anything does yet, and gives it nothing else."""
        with self._lock:
            self._requested = True
            if self._doing is not None:
                self._doing.abort()

    def hold(self, doing: Abortable) -> None:
        """Sets what does the job. Raises `FaultError` if the job is to end."""
        with self._lock:
            if self._requested:
                raise FaultError(_STOPPED)
            self._doing = doing

    def release(self) -> None:
        """Forgets what does the job, which from here on is not ended."""
        with self._lock:
            self._doing = None


_current: ContextVar[Stop | None] = ContextVar("current_stop", default=None)


@contextmanager
def stoppable(doing: Abortable) -> Iterator[None]:
    """Inside, stopping this thread's job aborts what does it. Raises `FaultError`."""
    stop = _current.get()
    if stop is None:
        yield
        return
    stop.hold(doing)
    try:
        yield
    finally:
        stop.release()
