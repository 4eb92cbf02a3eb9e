"""Protects work from the exceptions of the caller's signal handlers.

Python runs a signal's handler in the main thread, between two of its steps, and raises the handler's exception there.
In the middle of our own code a trainer's `TimeoutError` would look like a fault of the sandbox. So the main thread
hands the work to another thread and waits.
"""

from __future__ import annotations

import _thread
import queue
import threading
from collections.abc import Callable
from contextvars import copy_context
from typing import Generic, TypeVar

from evaluator.engines.stop import Stop

Result = TypeVar("Result")


def shielded(work: Callable[[], Result]) -> Result:
    """What `work` returns or raises. A signal handler's exception is raised at once, and the work is stopped.

    Outside the main thread, where no handlers run, `work` is just called.
    """
    if threading.current_thread() is not threading.main_thread():
        return work()
    stop = Stop()
    job = _Job(lambda: stop.during(work))
    try:
        # Not a `Thread`: an exception while it starts would leave it in an inconsistent state.
        _thread.start_new_thread(copy_context().run, (job.run,))
        job.done.get()
    except BaseException:
        stop.request()
        raise
    return job.result()


class _Job(Generic[Result]):
    def __init__(self, work: Callable[[], Result]) -> None:
        self._work = work
        self._results: list[Result] = []
        self._error: BaseException | None = None
        # Not an `Event`: interrupted at the wrong moment, that raises a `RuntimeError` of its own.
        self.done: queue.SimpleQueue[None] = queue.SimpleQueue()

    def run(self) -> None:
        try:
            self._results.append(self._work())
        except BaseException as error:
            self._error = error
        finally:
            self.done.put(None)

    def result(self) -> Result:
        if self._error is not None:
            raise self._error
        return self._results[0]
