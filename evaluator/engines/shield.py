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

from evaluator.engines.stop import Stop

Result = TypeVar("Result")


def shielded(work: Callable[[], Result]) -> Result:
    """What `work` returns or raises. Also raises, at once, what a signal's handler does; then the work is stopped.

    Outside the main thread, where no handler runs, it is just called.
    """
    if threading.current_thread() is not threading.main_thread():
        return work()
    stop = Stop()
    job = _Job(lambda: stop.during(work))
    try:
        # Not a `Thread`: an exception in the middle of starting one leaves it in disorder.
        _thread.start_new_thread(copy_context().run, (job.run,))
        job.done.wait()
    except BaseException:
        stop.ask()
        raise
    return job.result()


class _Job(Generic[Result]):
    def __init__(self, work: Callable[[], Result]) -> None:
        self._work = work
        self._results: list[Result] = []
        self._error: BaseException | None = None
        self.done = threading.Event()

    def run(self) -> None:
        try:
            self._results.append(self._work())
        except BaseException as error:
            self._error = error
        finally:
            self.done.set()

    def result(self) -> Result:
        if self._error is not None:
            raise self._error
        return self._results[0]
