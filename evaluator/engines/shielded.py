"""Work that what a caller's signal handlers raise does not get into.

Python runs a signal's handler in the main thread, between two steps of whatever that does, and what the handler raises
comes out there. In the middle of our own code a trainer's `TimeoutError` would look like a fault of the sandbox. So the
main thread leaves the work to another one, and waits.
"""

from __future__ import annotations

import _thread
import threading
from collections.abc import Callable
from contextvars import copy_context
from typing import Generic, TypeVar

from evaluator.sandbox import FaultError, Sandbox

Result = TypeVar("Result")


class Hold:
    """The sandbox that the work is using: the one to end when nobody waits for the work any more."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sandbox: Sandbox | None = None
        self._given_up = False

    def take(self, sandbox: Sandbox) -> None:
        """Raises `FaultError` when nobody waits any more."""
        with self._lock:
            if self._given_up:
                raise FaultError("nobody waits for it")
            self._sandbox = sandbox

    def let_go(self) -> None:
        """From now on the sandbox may be somebody else's."""
        with self._lock:
            self._sandbox = None

    def give_up(self) -> None:
        with self._lock:
            self._given_up = True
            if self._sandbox is not None:
                self._sandbox.abort()


def shielded(work: Callable[[Hold], Result]) -> Result:
    """What `work` returns or raises. Also raises, at once, what a signal's handler does; then the work is given up.

    `work` tells its `Hold` which sandbox it uses. Outside the main thread, where no handler runs, it is just called.
    """
    hold = Hold()
    if threading.current_thread() is not threading.main_thread():
        return work(hold)
    job = _Job(work, hold)
    try:
        # Not a `Thread`: an exception in the middle of starting one leaves it in disorder.
        _thread.start_new_thread(copy_context().run, (job.run,))
        job.done.wait()
    except BaseException:
        hold.give_up()
        raise
    return job.result()


class _Job(Generic[Result]):
    def __init__(self, work: Callable[[Hold], Result], hold: Hold) -> None:
        self._work = work
        self._hold = hold
        self._results: list[Result] = []
        self._error: BaseException | None = None
        self.done = threading.Event()

    def run(self) -> None:
        try:
            self._results.append(self._work(self._hold))
        except BaseException as error:
            self._error = error
        finally:
            self.done.set()

    def result(self) -> Result:
        if self._error is not None:
            raise self._error
        return self._results[0]
