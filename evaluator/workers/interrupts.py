"""Ends work whose result nobody waits for any more, and keeps the caller's signal handlers out of it.

Python runs a signal's handler in the main thread, between two of its steps, and raises the handler's exception there.
In the middle of our own code a trainer's `TimeoutError` would look like a fault of the sandbox. So the main thread
leaves the work to another thread and waits.
"""

from __future__ import annotations

import _thread
import queue
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from typing import Final, TypeVar

from evaluator.sandbox import FaultError

Result = TypeVar("Result")

STOPPED: Final = "stopped: nobody waits for the result any more"


class Stop:
    """For one piece of work, in one thread. `request` is safe from any thread, before, during and after it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requested = False
        self._abort: Callable[[], object] | None = None
        """Ends what does the work, so that the thread that waits for it gets `FaultError`."""

    def during(self, work: Callable[[], Result]) -> Result:
        """What the work returns or raises; `FaultError` if it is stopped."""
        token = _current.set(self)
        try:
            return work()
        finally:
            _current.reset(token)

    def request(self) -> None:
        """Ends what does the work, if anything does yet, and gives it nothing else."""
        with self._lock:
            self._requested = True
            if self._abort is not None:
                self._abort()

    def set_abort(self, abort: Callable[[], object] | None) -> None:
        """What ends the work from here on; None: nothing could. Raises `FaultError` after `request`."""
        with self._lock:
            if self._requested and abort is not None:
                raise FaultError(STOPPED)
            self._abort = abort


_current: ContextVar[Stop | None] = ContextVar("current_stop", default=None)


@contextmanager
def stoppable(abort: Callable[[], object]) -> Iterator[None]:
    """Inside, stopping this thread's work calls this from another thread. Raises `FaultError`."""
    stop = _current.get()
    if stop is None:
        yield
        return
    stop.set_abort(abort)
    try:
        yield
    finally:
        stop.set_abort(None)


def shielded(work: Callable[[], Result]) -> Result:
    """What `work` returns or raises. A signal handler's exception is raised at once, and the work is stopped.

    Outside the main thread, where no handlers run, `work` is just called.
    """
    if threading.current_thread() is not threading.main_thread():
        return work()
    stop = Stop()
    future: Future[Result] = Future()
    # Not the future's own `result`: interrupted at the wrong moment, that raises a `RuntimeError` of its own.
    done: queue.SimpleQueue[None] = queue.SimpleQueue()

    def run() -> None:
        try:
            future.set_result(stop.during(work))
        except BaseException as error:
            future.set_exception(error)
        finally:
            done.put(None)

    try:
        # Not a `Thread`: an exception while it starts would leave it in an inconsistent state.
        _thread.start_new_thread(copy_context().run, (run,))
        done.get()
    except BaseException:
        stop.request()
        raise
    return future.result()
