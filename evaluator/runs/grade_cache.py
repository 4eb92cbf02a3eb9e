"""Grades by a digest of all that decided them, kept for later runs: a SQLite file that several processes share.

A process that is killed loses the grades of its last half second and breaks nothing. What can't be read or written
costs one warning, and from then on the cache is empty and takes nothing.
"""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import sqlite3
import stat
import time
import zlib
from pathlib import Path
from typing import Final

import msgspec

from evaluator.model import Grade

KEY_BYTES: Final = 24
FILE: Final = "grades-1.sqlite"
"""The number is that of the tables below."""

_TABLES: Final = """
    CREATE TABLE IF NOT EXISTS grades (
        id INTEGER PRIMARY KEY, rest BLOB NOT NULL, used INTEGER NOT NULL, grade BLOB NOT NULL
    );
    CREATE INDEX IF NOT EXISTS by_use ON grades (used);
"""
_PUT: Final = "INSERT OR REPLACE INTO grades VALUES (?, ?, ?, ?)"
_SIZE: Final = """
    SELECT (page_count - freelist_count) * page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size
"""
"""In bytes, without the pages that are free."""
_OLDEST: Final = "DELETE FROM grades WHERE id IN (SELECT id FROM grades ORDER BY used LIMIT 64)"
_BUSY_S: Final = 0.25
"""How long another process's commit is waited for; then the grades wait for the next one."""
_BUSY_AT_END_MS: Final = 1_500
_OPENING_S: Final = 5.0
_COMMIT_GRADES: Final = 100
_COMMIT_S: Final = 0.5
_REST_S: Final = 5.0
"""Between two attempts to commit to a file that others keep busy."""
_MOST_WAITING: Final = 1_000
_LARGEST: Final = 1 << 20
"""Bytes of one grade; a larger one is not kept."""
_LEAST_PACKED: Final = 256
_DAY_S: Final = 86_400
_PACKED, _UNPACKED = b"z", b"p"
_OTHERS_MAY_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH

_log = logging.getLogger(__name__)
_told: Final[set[str]] = set()


class GradeCache:
    """For one thread at a time, of one process; opened when it is first used. Its methods raise nothing.

    `folder`: made with mode 0700 if it does not exist; it must belong to this user, and no other may write there.
    `most_bytes`: of the file; the grades that were not used for longest are forgotten, to the day.
    `run`: any word; of all caches with the same one, in all processes, one says what is wrong.
    """

    def __init__(self, folder: Path, *, most_bytes: int, run: str) -> None:
        self._folder = folder
        self._most_bytes = most_bytes
        self._run = run
        self._connection: sqlite3.Connection | None = None
        self._off = False
        self._waiting: dict[bytes, bytes] = {}
        self._used: set[int] = set()
        self._due = 0.0
        self._busy = False
        """Whether another process kept the file busy during the last commit."""

    def get(self, key: bytes) -> Grade | None:
        """The grade with this key, if there is one. Its ids are those of the rollout that it was made for."""
        try:
            connection = self._opened()
            if connection is None:
                return None
            place, rest = _split(key)
            row = connection.execute("SELECT rest, used, grade FROM grades WHERE id = ?", (place,)).fetchone()
        except (sqlite3.Error, OSError) as error:
            self._failed(error)
            return None
        if row is None or row[0] != rest:
            return None
        if row[1] != _today():
            self._used.add(place)
            self._commit_when_due()
        return _decoded(row[2])

    def put(self, key: bytes, grade: Grade) -> None:
        """Keeps a grade, if it can be written."""
        data = None if self._off or len(self._waiting) >= _MOST_WAITING else _encoded(grade)
        if data is None or len(data) > _LARGEST:
            return
        self._waiting[key] = data
        self._commit_when_due()

    def close(self) -> None:
        """Writes what waits. It may be used again."""
        if self._connection is not None:
            self._connection.execute(f"PRAGMA busy_timeout = {_BUSY_AT_END_MS}")
        self._commit()
        self._disconnect()

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(sqlite3.Error):
                connection.close()

    def _opened(self) -> sqlite3.Connection | None:
        if self._connection is None and not self._off:
            _require_own(self._folder)
            self._connection = _connected(self._folder / FILE)
            self._due = time.monotonic() + _COMMIT_S
        return self._connection

    def _commit_when_due(self) -> None:
        many = len(self._waiting) + len(self._used) >= _COMMIT_GRADES
        if time.monotonic() >= self._due or (many and not self._busy):
            self._commit()

    def _commit(self) -> None:
        if not self._waiting and not self._used:
            return
        try:
            connection = self._opened()
            if connection is None:
                return
            try:
                self._write(connection)
            except sqlite3.Error:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
        except (sqlite3.Error, OSError) as error:
            self._failed(error)
            self._due = time.monotonic() + _REST_S
            return
        self._waiting.clear()
        self._used.clear()
        self._busy, self._due = False, time.monotonic() + _COMMIT_S

    def _write(self, connection: sqlite3.Connection) -> None:
        today = _today()
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany("UPDATE grades SET used = ? WHERE id = ?", ((today, place) for place in self._used))
        rows = ((*_split(key), today, data) for key, data in self._waiting.items())
        connection.executemany(_PUT, rows)
        while connection.execute(_SIZE).fetchone()[0] > self._most_bytes:
            if not connection.execute(_OLDEST).rowcount:
                break
        connection.execute("COMMIT")

    def _failed(self, error: Exception) -> None:
        """Tells once why it is not used any more, unless others only keep it busy."""
        self._busy = getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
        if self._busy:
            return
        self._off = True
        self._waiting.clear()
        self._used.clear()
        self._disconnect()
        if _first_to_tell(self._run):
            _log.warning("the cache of grades is not used: %s: %s", self._folder / FILE, _why(error))


def _why(error: Exception) -> str:
    if getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return f"{error}: remove it"
    return (isinstance(error, OSError) and error.strerror) or str(error)


def _require_own(folder: Path) -> None:
    """Makes the folder. Raises `OSError` if grades in it could be somebody else's."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = folder.stat()
    if found.st_uid != os.geteuid():
        raise PermissionError(0, "its folder belongs to another user: name one of your own with --cache")
    if found.st_mode & _OTHERS_MAY_WRITE:
        raise PermissionError(0, "others may write to its folder: chmod 700 it, or name another with --cache")


def _connected(path: Path) -> sqlite3.Connection:
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600))
    deadline = time.monotonic() + _OPENING_S
    while True:
        connection = sqlite3.connect(path, timeout=_BUSY_S, isolation_level=None, check_same_thread=False)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA journal_size_limit = 16777216")
            if connection.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,):
                connection.executescript(f"BEGIN IMMEDIATE; {_TABLES} COMMIT;")
            return connection
        except sqlite3.Error as error:
            connection.close()
            busy = getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY
            if not busy or time.monotonic() > deadline:  # several processes make the file at once
                raise
            time.sleep(0.02)


def _split(key: bytes) -> tuple[int, bytes]:
    """The row's number, and what distinguishes keys that have the same one."""
    return int.from_bytes(key[:8], "big", signed=True), key[8:]


def _today() -> int:
    return int(time.time() // _DAY_S)


def _encoded(grade: Grade) -> bytes | None:
    """None for a text that is no Unicode, such as half a surrogate pair."""
    try:
        encoded = msgspec.msgpack.encode(grade)
    except (UnicodeEncodeError, OverflowError, TypeError, ValueError):
        return None
    packed = zlib.compress(encoded, 1) if len(encoded) >= _LEAST_PACKED else encoded
    return _PACKED + packed if len(packed) < len(encoded) else _UNPACKED + encoded


def _decoded(data: bytes) -> Grade | None:
    try:
        encoded = zlib.decompress(data[1:]) if data[:1] == _PACKED else data[1:]
        return msgspec.msgpack.decode(encoded, type=Grade)
    except (zlib.error, msgspec.MsgspecError, UnicodeDecodeError, TypeError):
        return None


def _first_to_tell(run: str) -> bool:
    """Whether no process has said so yet: a name that the kernel gives once, for as long as this process lives."""
    if run in _told:
        return False
    mine = socket.socket(socket.AF_UNIX)
    try:
        mine.bind(f"\0rollscope-cache-{run}")
    except OSError:
        mine.close()
        return False
    mine.detach()  # it stays open
    _told.add(run)
    return True
