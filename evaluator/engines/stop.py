"""Stops, from outside, the job that a thread waits for: kills its sandbox, so that the thread gets `FaultError`."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, TypeVar

from evaluator.sandbox import FaultError, Sandbox

Result = TypeVar("Result")

_STOPPED: Final = "stopped: nobody waits for the result any more"


class Stop:
    """For one job, in one thread. `request` is safe from any thread, before, during and after the job."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requested = False
        self._sandbox: Sandbox | None = None

    def during(self, job: Callable[[], Result]) -> Result:
        """What the job returns or raises; `FaultError` if it is stopped in a sandbox."""
        token = _current.set(self)
        try:
            return job()
        finally:
            _current.reset(token)

    def request(self) -> None:
        """Kills the job's current sandbox, if any, and gives it no other."""
        with self._lock:
            self._requested = True
            if self._sandbox is not None:
                self._sandbox.abort()

    def hold(self, sandbox: Sandbox) -> None:
        """Sets the job's current sandbox. Raises `FaultError` if the job is to end."""
        with self._lock:
            if self._requested:
                raise FaultError(_STOPPED)
            self._sandbox = sandbox

    def release(self) -> None:
        """Forgets the job's current sandbox, which from here on is not killed."""
        with self._lock:
            self._sandbox = None


_current: ContextVar[Stop | None] = ContextVar("current_stop", default=None)


@contextmanager
def stoppable(sandbox: Sandbox) -> Iterator[None]:
    """Inside, stopping this thread's job closes the sandbox (`closed`). Raises `FaultError`."""
    stop = _current.get()
    if stop is None:
        yield
        return
    stop.hold(sandbox)
    try:
        yield
    finally:
        stop.release()
