"""Gets a score from the cache, else from a judge, with retries and a limit on concurrent calls.

One event loop in a thread makes a process's calls: there a time-out ends a call wherever it hangs, and an abandoned
call really ends.

The cache has judges' answers by question, for the next run: a SQLite file in the user's cache directory,
`$XDG_CACHE_HOME/rollscope/judge.sqlite`. Each access opens it anew, so threads, processes and forks share it without
sharing a connection; that costs a thousandth of a call. A broken, locked or read-only file counts as empty.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import closing, contextmanager, suppress
from typing import Final

import msgspec

from evaluator.graders.judge.call import CallError, JudgeError, Question, Server, call
from evaluator.graders.judge.prompt import score_of
from evaluator.http_calls import Backoff, Caller
from evaluator.user_files import cache_folder

LONGEST_WAIT_S: Final = 60.0
"""If a server requests a longer wait, there is no retry."""
_LONGEST_BACKOFF_S: Final = 8.0
_POLL_S: Final = 0.2
_FORM: Final = 1
"""The version of the cache's keys."""
_FILE: Final = "judge.sqlite"
_BUSY_S: Final = 2.0
_LONGEST: Final = 256 * 1024
"""Characters of an answer; a longer one is not stored."""
_TABLE: Final = "CREATE TABLE IF NOT EXISTS answers (asked BLOB PRIMARY KEY, answer TEXT NOT NULL, at REAL NOT NULL)"
_BROKEN: Final = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)

GivenUp = Callable[[], bool]
"""Whether the answer is no longer needed."""


class GivenUpError(Exception):
    """The answer is no longer needed."""


class Judgement(msgspec.Struct, frozen=True):
    """A score from 0 to the scale, and the judge's whole answer."""

    score: float
    text: str


class Calls:
    """The calls of one process: safe for several threads, but not across a fork."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._pending: dict[bytes, Future[Judgement]] = {}
        self._callers: dict[tuple[str, str], Caller] = {}
        """By address and key; for the loop's own thread, as are the next."""
        self._places: dict[tuple[str, int], asyncio.Semaphore] = {}

    def ask(self, server: Server, question: Question, scale: float, given_up: GivenUp) -> Judgement:
        """Raises `JudgeError`. If given up, ends the call and raises `GivenUpError`."""
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, name="judges", daemon=True).start()
        future = asyncio.run_coroutine_threadsafe(self._ask(server, question, scale), self._loop)
        try:
            _await(future, given_up)
        except BaseException:
            future.cancel()
            raise
        return future.result()

    def once(self, key: bytes, make: Callable[[], Judgement], given_up: GivenUp) -> Judgement:
        """What `make` returns or raises as `JudgeError`; threads that need the same key at once share it."""
        while True:
            mine: Future[Judgement] = Future()
            with self._lock:
                found = self._pending.setdefault(key, mine)
            if found is mine:
                break
            _await(found, given_up)
            error = found.exception()
            if error is None:
                return found.result()
            if isinstance(error, JudgeError):
                raise JudgeError(str(error))
            # the other thread has given up; this one tries itself
        try:
            mine.set_result(make())
        except BaseException as error:
            mine.set_exception(error)
            raise
        finally:
            del self._pending[key]
        return mine.result()

    async def _ask(self, server: Server, question: Question, scale: float) -> Judgement:
        caller = self._callers.get((server.address, server.key))
        if caller is None:
            caller = self._callers[server.address, server.key] = Caller("the judge", server.address, server.key)
        place = (server.address, server.concurrency)
        backoff = Backoff(server.retries, server.backoff_s, _LONGEST_BACKOFF_S)
        async with self._places.setdefault(place, asyncio.Semaphore(server.concurrency)):
            for tries in range(1, backoff.retries + 2):
                try:
                    text = await call(caller, server, question)
                    return Judgement(score_of(text, scale), text)
                except CallError as error:
                    failure = error
                if not failure.again or tries > backoff.retries:
                    break
                if (failure.wait_s or 0) > LONGEST_WAIT_S:
                    raise JudgeError(f"{failure}; it asks to wait for {failure.wait_s:.0f} s")
                # Keeps its place: an overloaded server must not get more calls.
                await asyncio.sleep(backoff.seconds(tries - 1) if failure.wait_s is None else failure.wait_s)
            raise JudgeError(f"{failure} ({tries} tries)" if tries > 1 else str(failure))


def _await(future: Future[Judgement], given_up: GivenUp) -> None:
    while not wait([future], _POLL_S).done:
        if given_up():
            raise GivenUpError


_calls = [Calls()]
# A forked child keeps the parent's referenced: the two share its descriptors, and closing it would harm the parent.
os.register_at_fork(after_in_child=lambda: _calls.append(Calls()))


def judge(server: Server, question: Question, scale: float, *, cached: bool, given_up: GivenUp) -> Judgement:
    """The judgement. Raises `JudgeError` if there is none, `GivenUpError` if it is no longer needed.

    With `cached`, a stored judgement is used again, and threads with the same question share one call.
    """
    calls = _calls[-1]
    if not cached:
        return calls.ask(server, question, scale, given_up)
    key = _digest(server, question, scale)

    def make() -> Judgement:
        return _from_cache(key, scale) or _stored(key, calls.ask(server, question, scale, given_up))

    return calls.once(key, make, given_up)


def _from_cache(key: bytes, scale: float) -> Judgement | None:
    """The judgement of the question with this digest, if it is stored. Raises nothing."""
    with _forgiving(), _opened() as connection:
        row = connection.execute("SELECT answer FROM answers WHERE asked = ?", (key,)).fetchone()
        with suppress(CallError):  # not written by us
            if row is not None and isinstance(row[0], str):
                return Judgement(score_of(row[0], scale), row[0])
    return None


def _stored(key: bytes, judgement: Judgement) -> Judgement:
    """Stores it, if possible. Raises nothing."""
    if len(judgement.text) <= _LONGEST:
        with _forgiving(), _opened() as connection, connection:
            connection.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?)", (key, judgement.text, time.time()))
    return judgement


def _digest(server: Server, question: Question, scale: float) -> bytes:
    parts = [_FORM, server.address, question.model, question.messages, question.options, scale]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).digest()


@contextmanager
def _opened() -> Iterator[sqlite3.Connection]:
    path = cache_folder(_FILE)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with closing(sqlite3.connect(path, timeout=_BUSY_S)) as connection:
        connection.execute("PRAGMA synchronous = OFF")  # a file that a power cut breaks is replaced
        connection.execute(_TABLE)
        yield connection


@contextmanager
def _forgiving() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        if getattr(error, "sqlite_errorcode", None) in _BROKEN:
            with suppress(OSError, RuntimeError):
                cache_folder(_FILE).unlink()  # the next access makes a new one
    except (OSError, RuntimeError, ValueError):
        pass
