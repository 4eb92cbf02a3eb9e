"""Threads that wait for sandboxes, as many as can be at work at once: what is given first is begun first.

They are no executor's: the event loop's own is left to others, and a program that ends does not wait for them.
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
    """What `job` returns or raises, run in a thread of the crew. Cancelled before it was begun, it never is."""
    return await asyncio.wrap_future(_crew.begin(job))


class _Crew:
    def __init__(self) -> None:
        self._orders: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._missing = len(os.sched_getaffinity(0))

    def begin(self, job: Callable[[], _T]) -> Future[_T]:
        future: Future[_T] = Future()
        with self._lock:
            if self._missing:
                threading.Thread(target=self._work, name="rollscope-pool", daemon=True).start()
                self._missing -= 1
        self._orders.put(lambda: _fulfil(future, job))
        return future

    def _work(self) -> None:
        while True:
            self._orders.get()()


def _fulfil(future: Future[_T], job: Callable[[], _T]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        result = job()
    except BaseException as error:
        future.set_exception(error)
    else:
        future.set_result(result)


_crew = _Crew()


def _renew_in_child() -> None:
    global _crew  # noqa: PLW0603 - a fork has none of its parent's threads
    _crew = _Crew()


os.register_at_fork(after_in_child=_renew_in_child)
