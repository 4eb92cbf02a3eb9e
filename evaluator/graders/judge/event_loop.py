"""A process's connection to its judges: one event loop in a separate thread makes all calls.

There a time-out ends a call wherever it hangs, and an abandoned call really ends.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine
from concurrent.futures import Future, wait
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final, TypeVar

from evaluator.graders.judge.call import JudgeError

if TYPE_CHECKING:
    from openai import AsyncOpenAI

_POLL_S: Final = 0.2
_CLOSING_S: Final = 2.0

Made = TypeVar("Made")
GivenUp = Callable[[], bool]
"""Whether the answer is no longer needed."""


class GivenUpError(Exception):
    """The answer is no longer needed."""


class Line:
    """Safe for several threads, but not across a fork."""

    def __init__(self) -> None:
        self.clients: dict[tuple[str, str], AsyncOpenAI] = {}
        """By address and key; for the loop's own thread."""
        self._places: dict[str, asyncio.Condition] = {}
        self._active = Counter[str]()
        """Calls by address."""
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._pending: dict[bytes, Future[object]] = {}

    def run(self, work: Coroutine[Any, Any, Made], given_up: GivenUp) -> Made:
        """Returns or raises what the coroutine does. If given up, cancels it and raises `GivenUpError`."""
        future = asyncio.run_coroutine_threadsafe(work, self._running_loop())
        try:
            _await(future, given_up)
        except BaseException:
            future.cancel()
            raise
        return future.result()

    def once(self, key: bytes, make: Callable[[], Made], given_up: GivenUp) -> Made:
        """What `make` returns or raises as `JudgeError`; threads that need the same key at once share it."""
        while True:
            with self._lock:
                theirs = self._pending.get(key)
                mine: Future[Made] = Future()
                if theirs is None:
                    self._pending[key] = mine  # type: ignore[assignment]
            if theirs is None:
                return self._make(key, mine, make)
            _await(theirs, given_up)
            error = theirs.exception()
            if error is None:
                return theirs.result()  # type: ignore[return-value]
            if isinstance(error, JudgeError):
                raise JudgeError(str(error))
            # the other thread has given up; this one tries itself

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
            del self._pending[key]

    @asynccontextmanager
    async def call(self, address: str, most: int) -> AsyncIterator[None]:
        """Waits for one of the `most` places for calls to an address, and holds it."""
        place = self._places.setdefault(address, asyncio.Condition())
        async with place:
            await place.wait_for(lambda: self._active[address] < most)
            self._active[address] += 1
        try:
            yield
        finally:
            self._active[address] -= 1
            async with place:
                place.notify_all()  # they may have different limits

    def close(self) -> None:
        """Ends all calls, and the thread."""
        with self._lock:
            loop, thread, self._loop = self._loop, self._thread, None
        if loop is None or thread is None:
            return
        asyncio.run_coroutine_threadsafe(self._shut_down(), loop)
        thread.join(_CLOSING_S)
        if not thread.is_alive():
            loop.close()

    async def _shut_down(self) -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, *(client.close() for client in self.clients.values()), return_exceptions=True)
        asyncio.get_running_loop().stop()

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._loop.run_forever, name="judges", daemon=True)
                self._thread.start()
            return self._loop


def _await(future: Future[Any], given_up: GivenUp) -> None:
    while not wait([future], _POLL_S).done:
        if given_up():
            raise GivenUpError


def line() -> Line:
    """This process's connection."""
    return _lines[-1]


_lines = [Line()]


def _renew_in_child() -> None:
    """Keeps the parent's referenced: the two share its descriptors, and closing it here would harm the parent."""
    _lines.append(Line())


os.register_at_fork(after_in_child=_renew_in_child)
atexit.register(lambda: line().close())
