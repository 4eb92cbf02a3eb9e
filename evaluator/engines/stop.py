"""Ends, from outside, the run that a thread waits for: its sandbox is killed, and the thread gets `FaultError`."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, TypeVar

from evaluator.sandbox import FaultError, Sandbox

Result = TypeVar("Result")

_STOPPED: Final = "nobody waits for the result any more"


class Stop:
    """For one job, in one thread. Safe to ask from any thread, before, during and after the job."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._asked = False
        self._sandbox: Sandbox | None = None

    def during(self, job: Callable[[], Result]) -> Result:
        """What the job returns or raises; `FaultError` where it is stopped in a sandbox."""
        token = _current.set(self)
        try:
            return job()
        finally:
            _current.reset(token)

    def ask(self) -> None:
        """Kills the sandbox that the job works in, if any; it gets no other."""
        with self._lock:
            self._asked = True
            if self._sandbox is not None:
                self._sandbox.abort()

    def hold(self, sandbox: Sandbox) -> None:
        """Names the sandbox that the job works in. Raises `FaultError` where the job is to end."""
        with self._lock:
            if self._asked:
                raise FaultError(_STOPPED)
            self._sandbox = sandbox

    def let_go(self) -> None:
        """The job works in a sandbox no more, which stays as it is from here on."""
        with self._lock:
            self._sandbox = None


_current: ContextVar[Stop | None] = ContextVar("current_stop", default=None)


@contextmanager
def stoppable(sandbox: Sandbox) -> Iterator[None]:
    """Within it, who stops this thread's job ends the sandbox: it is `closed` then. Raises `FaultError`."""
    stop = _current.get()
    if stop is None:
        yield
        return
    stop.hold(sandbox)
    try:
        yield
    finally:
        stop.let_go()
