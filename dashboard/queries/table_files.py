"""Where a run's tables are: in memory, or for a large run in a database file that the next server opens at once.

The file is in the user's cache directory, and says of which files of the run it was made. It is written under another
name and put in place when it is whole; of a run that has grown, only what is new is read, into a copy. Where that can't
be written the tables are in memory.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

import duckdb

from dashboard.queries import tables
from evaluator import __version__
from evaluator.runs.files import part_path
from evaluator.runs.reading import Run
from evaluator.user_files import cache_folder

_LARGE: Final = 50_000
"""Rollouts from which on a run's tables are in a file."""
_MEMORY_MB: Final = 300
"""For the queries on a large run; the larger the limit, the more of the file stays in memory."""
_WRITING_MB: Final = 200
_KEPT: Final = 20
"""Files that stay in the directory, those used last."""
_ABANDONED_S: Final = 86_400
_SCHEMA: Final = "kept.main"


class PartStamp(NamedTuple):
    """A part of a run that is in the tables."""

    ordinal: int
    bytes: int
    changed: int


def connected(run: Run) -> duckdb.DuckDBPyConnection:
    """A connection with the tables of `queries.tables`, as the run is now."""
    stamps = _stamps(run)
    if run.manifest.counts.get("rollouts", 0) >= _LARGE:
        with contextlib.suppress(OSError, RuntimeError, duckdb.Error):  # no home, a full disk, a damaged file
            return _opened(run, _brought_up_to_date(run, stamps))
    connection = run.connect(parts=True)
    tables.prepare(connection)
    ordinals = [stamp.ordinal for stamp in stamps]
    tables.add(connection, run, ordinals, ordinals)
    return connection


def folder() -> Path:
    """`$XDG_CACHE_HOME/rollscope/tables`, by default in `~/.cache`. Raises `RuntimeError` without a home."""
    return cache_folder("tables")


def _opened(run: Run, file: Path) -> duckdb.DuckDBPyConnection:
    connection = run.connect(parts=True, memory_mb=_MEMORY_MB, database=file)
    tables.prepare(connection)
    for name in tables.ROWS:
        connection.execute(f"CREATE VIEW {name} AS FROM {_SCHEMA}.{name}")
    return connection


def _brought_up_to_date(run: Run, stamps: list[PartStamp]) -> Path:
    """The file with the tables of these parts, which is made or extended if need be."""
    file = folder() / f"{_key(run)}.duckdb"
    known = _known(file)
    if known == stamps:
        os.utime(file)
        return file
    # A regraded part supersedes rows of those before.
    extends = bool(known) and run.manifest.regraded_from is None and set(known) < set(stamps)
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    temporary = file.with_suffix(f".{secrets.token_hex(8)}.tmp")
    try:
        if extends:
            shutil.copyfile(file, temporary)
        _write(run, temporary, stamps, [each for each in stamps if not (extends and each in set(known))])
        temporary.replace(file)
    finally:
        temporary.unlink(missing_ok=True)
        temporary.with_name(temporary.name + ".wal").unlink(missing_ok=True)
    _tidy(file.parent)
    return file


def _write(run: Run, file: Path, stamps: Sequence[PartStamp], new: Sequence[PartStamp]) -> None:
    with run.connect(parts=True, memory_mb=_WRITING_MB, database=file, writes=True) as connection:
        ordinals = [stamp.ordinal for stamp in stamps]
        tables.add(connection, run, [stamp.ordinal for stamp in new], ordinals, _SCHEMA)
        columns = ", ".join(f"{name} BIGINT" for name in PartStamp._fields)
        connection.execute(f"CREATE TABLE IF NOT EXISTS {_SCHEMA}.stamps ({columns})")
        lists = ", ".join(f"unnest(${name})" for name in PartStamp._fields)
        values = dict(zip(PartStamp._fields, map(list, zip(*new, strict=True)), strict=True))
        connection.execute(f"INSERT INTO {_SCHEMA}.stamps SELECT {lists}", values)
        connection.execute("CHECKPOINT kept")


def _known(file: Path) -> list[PartStamp]:
    """The parts of which a file was made; none if it is missing or can't be read."""
    if not file.is_file():
        return []
    try:
        with duckdb.connect(file, read_only=True) as connection:
            return [PartStamp(*row) for row in connection.execute("FROM stamps ORDER BY ordinal").fetchall()]
    except duckdb.Error:
        return []


def _stamps(run: Run) -> list[PartStamp]:
    ordinals = run.parts
    found = [part_path(run.path, "rollouts", ordinal).stat() for ordinal in ordinals]
    return [PartStamp(each, stat.st_size, stat.st_mtime_ns) for each, stat in zip(ordinals, found, strict=True)]


def _key(run: Run) -> str:
    """The run, and all besides its parts that decides what is in the tables and who can read them."""
    decided_by = (run.path.resolve(), run.manifest.regraded_from, tables.ROWS, __version__, duckdb.__version__)
    return hashlib.sha256(repr(decided_by).encode()).hexdigest()[:32]


def _tidy(directory: Path) -> None:
    """Remove the files that were not used for long, and what a killed process left."""
    with contextlib.suppress(OSError):
        used = sorted(((path.stat().st_mtime, path) for path in directory.iterdir()), reverse=True)
        outdated = [path for _, path in [each for each in used if each[1].suffix == ".duckdb"][_KEPT:]]
        started = time.time() - _ABANDONED_S
        outdated += [path for changed, path in used if path.suffix != ".duckdb" and changed < started]
        for path in outdated:
            path.unlink(missing_ok=True)
