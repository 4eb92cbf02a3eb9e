"""This process's line to its judges: one event loop in a thread of its own, where all calls are made.

There a call's time-out ends it wherever it hangs, and one that is given up is really ended.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
from collections.abc import AsyncIterator, Callable, Coroutine
from concurrent.futures import Future, wait
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final, TypeVar

from evaluator.graders.judge.failures import JudgeError

if TYPE_CHECKING:
    from openai import AsyncOpenAI

_POLL_S: Final = 0.2
_FAREWELL_S: Final = 2.0

Made = TypeVar("Made")
GivenUp = Callable[[], bool]
"""Whether nobody wants the answer any more."""


class GivenUpError(Exception):
    """Nobody wants the answer any more."""


class Line:
    """Safe for several threads. Not to be carried over a fork."""

    def __init__(self) -> None:
        self.clients: dict[tuple[str, str], AsyncOpenAI] = {}
        """By address and key; for the loop's own thread."""
        self._calls: dict[str, _Calls] = {}
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._asked: dict[bytes, Future[object]] = {}

    def run(self, work: Coroutine[Any, Any, Made], given_up: GivenUp) -> Made:
        """What the coroutine returns or raises. Ends it and raises `GivenUpError` when it is given up."""
        future = asyncio.run_coroutine_threadsafe(work, self._started())
        try:
            _await(future, given_up)
        except BaseException:
            future.cancel()
            raise
        return future.result()

    def once(self, key: bytes, make: Callable[[], Made], given_up: GivenUp) -> Made:
        """What `make` returns or raises as `JudgeError`; threads that want the same key at once share it."""
        while True:
            with self._lock:
                theirs = self._asked.get(key)
                mine: Future[Made] = Future()
                if theirs is None:
                    self._asked[key] = mine  # type: ignore[assignment]
            if theirs is None:
                return self._make(key, mine, make)
            _await(theirs, given_up)
            error = theirs.exception()
            if error is None:
                return theirs.result()  # type: ignore[return-value]
            if isinstance(error, JudgeError):
                raise JudgeError(str(error))
            # who asked has given up, which is no reason for those who waited

    def _make(self, key: bytes, mine: Future[Made], make: Callable[[], Made]) -> Made:
        try:
            made = make()
        except BaseException as error:
            self._forget(key)
            mine.set_exception(error)
            raise
        self._forget(key)
        mine.set_result(made)
        return made

    def _forget(self, key: bytes) -> None:
        with self._lock:
            del self._asked[key]

    @asynccontextmanager
    async def call(self, address: str, most: int) -> AsyncIterator[None]:
        """A place among the calls to an address, of which there are `most` at once; waits for one."""
        calls = self._calls.setdefault(address, _Calls())
        while calls.under_way >= most:
            waiting = asyncio.get_running_loop().create_future()
            calls.waiting.append(waiting)
            await waiting
        calls.under_way += 1
        try:
            yield
        finally:
            calls.under_way -= 1
            calls.wake()

    def close(self) -> None:
        """Ends what is under way, and the thread."""
        with self._lock:
            loop, thread, self._loop = self._loop, self._thread, None
        if loop is None or thread is None:
            return
        asyncio.run_coroutine_threadsafe(self._hang_up(), loop)
        thread.join(_FAREWELL_S)
        if not thread.is_alive():
            loop.close()

    async def _hang_up(self) -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, *(client.close() for client in self.clients.values()), return_exceptions=True)
        asyncio.get_running_loop().stop()

    def _started(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._loop.run_forever, name="judges", daemon=True)
                self._thread.start()
            return self._loop


class _Calls:
    """To one address."""

    def __init__(self) -> None:
        self.under_way = 0
        self.waiting: list[asyncio.Future[None]] = []

    def wake(self) -> None:
        """All of them: they may allow different numbers."""
        for waiting in self.waiting:
            if not waiting.done():
                waiting.set_result(None)
        self.waiting.clear()


def _await(future: Future[Any], given_up: GivenUp) -> None:
    while not wait([future], _POLL_S).done:
        if given_up():
            raise GivenUpError


def line() -> Line:
    """This process's own."""
    return _lines[-1]


_lines = [Line()]


def _renew_in_child() -> None:
    """The parent's stays referenced: its loop's descriptors are shared, and closing it here would harm the parent."""
    _lines.append(Line())


os.register_at_fork(after_in_child=_renew_in_child)
atexit.register(lambda: line().close())
