"""Gets a score from the cache, else from a judge, with retries and a limit on concurrent calls.

The cache has judges' answers by question, for the next run: a SQLite file in the user's cache directory,
`$XDG_CACHE_HOME/rollscope/judge.sqlite`. Each access opens it anew, so threads, processes and forks share it without
sharing a connection; that costs a thousandth of a call. A broken, locked or read-only file counts as empty.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from typing import Final

import msgspec

from evaluator.graders.judge.call import CallError, JudgeError, Question, Server, call, client_for
from evaluator.graders.judge.event_loop import GivenUp, Line, line
from evaluator.graders.judge.prompt import score_of
from evaluator.user_files import cache_folder

LONGEST_WAIT_S: Final = 60.0
"""If a server requests a longer wait, there is no retry."""
_LONGEST_BACKOFF_S: Final = 8.0
_FORM: Final = 1
"""The version of the cache's keys."""
_FILE: Final = "judge.sqlite"
_BUSY_S: Final = 2.0
_LONGEST: Final = 256 * 1024
"""Characters of an answer; a longer one is not stored."""
_TABLE: Final = "CREATE TABLE IF NOT EXISTS answers (asked BLOB PRIMARY KEY, answer TEXT NOT NULL, at REAL NOT NULL)"
_BROKEN: Final = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


class Judgement(msgspec.Struct, frozen=True):
    """A score from 0 to the scale, and the judge's whole answer."""

    score: float
    text: str


def judge(server: Server, question: Question, scale: float, *, cached: bool, given_up: GivenUp) -> Judgement:
    """The judgement. Raises `JudgeError` if there is none, `GivenUpError` if it is no longer needed.

    With `cached`, a stored judgement is used again, and threads with the same question share one call.
    """
    own = line()

    def ask() -> Judgement:
        return own.run(_ask(own, server, question, scale), given_up)

    if not cached:
        return ask()
    key = _digest(server, question, scale)
    return own.once(key, lambda: _from_cache(key, scale) or _stored(key, ask()), given_up)


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


async def _ask(own: Line, server: Server, question: Question, scale: float) -> Judgement:
    client = own.clients.get((server.address, server.key))
    if client is None:
        client = own.clients[server.address, server.key] = client_for(server)
    async with own.call(server.address, server.concurrency):
        for tries in range(1, server.retries + 2):
            try:
                text = await call(client, server, question)
                return Judgement(score_of(text, scale), text)
            except CallError as error:
                failure = error
            if not failure.again or tries > server.retries:
                break
            if (failure.wait_s or 0) > LONGEST_WAIT_S:
                raise JudgeError(f"{failure}; it asks to wait for {failure.wait_s:.0f} s")
            # Keeps its place: an overloaded server must not get more calls.
            await asyncio.sleep(_wait_s(tries, failure, server))
        raise JudgeError(f"{failure} ({tries} tries)" if tries > 1 else str(failure))


def _wait_s(tries: int, failure: CallError, server: Server) -> float:
    if failure.wait_s is not None:
        return failure.wait_s
    # at random, so that retries do not come all at once
    return min(server.backoff_s * 2.0 ** (tries - 1), _LONGEST_BACKOFF_S) * random.uniform(0.75, 1.0)  # noqa: S311


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
