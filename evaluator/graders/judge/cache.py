"""Judges' answers by question, stored for the next run.

A SQLite file in the user's cache directory. Each access opens it anew, so threads, processes and forks share it without
sharing a connection; that costs a thousandth of a call. A broken, locked or read-only file counts as empty.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from evaluator.user_files import cache_folder

_BUSY_S = 2.0
_LONGEST = 256 * 1024
"""Characters of an answer; a longer one is not stored."""
_TABLE = "CREATE TABLE IF NOT EXISTS answers (asked BLOB PRIMARY KEY, answer TEXT NOT NULL, at REAL NOT NULL)"
_BROKEN = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


def default_path() -> Path:
    """`$XDG_CACHE_HOME/rollscope/judge.sqlite`, by default in `~/.cache`. Raises `RuntimeError` without a home."""
    return cache_folder("judge.sqlite")


def get(question: bytes) -> str | None:
    """The answer to the question with this digest, if it is stored. Raises nothing."""
    with _forgiving(), _opened() as connection:
        row = connection.execute("SELECT answer FROM answers WHERE asked = ?", (question,)).fetchone()
        return row[0] if row is not None and isinstance(row[0], str) else None
    return None


def put(question: bytes, answer: str) -> None:
    """Stores an answer, if possible. Raises nothing."""
    if len(answer) > _LONGEST:
        return
    with _forgiving(), _opened() as connection, connection:
        connection.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?)", (question, answer, time.time()))


@contextmanager
def _opened() -> Iterator[sqlite3.Connection]:
    path = default_path()
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
                default_path().unlink()  # the next access makes a new one
    except (OSError, RuntimeError, ValueError):
        pass
