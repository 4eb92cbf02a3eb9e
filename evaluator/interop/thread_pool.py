"""One thread per CPU to wait for sandboxes; jobs start in the order in which they came.

Not an executor: the event loop's own stays free for others, and a program that ends does not wait for these threads.
"""

from __future__ import annotations

import asyncio
import os
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

_T = TypeVar("_T")


async def in_pool_thread(job: Callable[[], _T]) -> _T:
    """Returns or raises what `job` does, in a thread of the pool. A job cancelled before its start never runs."""
    return await asyncio.wrap_future(_pool.begin(job))


class _Pool:
    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._missing = len(os.sched_getaffinity(0))

    def begin(self, job: Callable[[], _T]) -> Future[_T]:
        future: Future[_T] = Future()
        with self._lock:
            if self._missing:
                threading.Thread(target=self._work, name="rollscope-pool", daemon=True).start()
                self._missing -= 1
        self._jobs.put(lambda: _run(future, job))
        return future

    def _work(self) -> None:
        while True:
            self._jobs.get()()


def _run(future: Future[_T], job: Callable[[], _T]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        result = job()
    except BaseException as error:
        future.set_exception(error)
    else:
        future.set_result(result)


_pool = _Pool()


def _renew_in_child() -> None:
    global _pool  # noqa: PLW0603 - a fork has none of its parent's threads
    _pool = _Pool()


os.register_at_fork(after_in_child=_renew_in_child)
