"""The tables that the queries read: the run's small columns, and its files for the long texts.

`rollouts`, their `groups`, `parts` (of rewards) and `tasks` are what most queries need; `tags` is from the notes,
`found` from searches. `stored_rollouts` and `stored_cases` have every column, but read the run's files: use them for
one screen of rows, with `IN_PARTS` or a row's `part_file`, never to count.

`rollouts` and `parts` are made from some of a run's files at a time, so that memory stays bounded. They are in memory,
or for a large run in a database file that the next server opens at once. The file is in the user's cache directory, and
says of which files of the run it was made. It is written under another name and put in place when it is whole; of a run
that has grown, only what is new is read, into a copy. Where that can't be written the tables are in memory.
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

from dashboard.queries.expressions import MOMENT, TEXT
from evaluator import __version__
from evaluator.formats.reading.spec import verdict_of_truth
from evaluator.runs.expressions import CLUSTER, GROUP, KINDS, load_kinds
from evaluator.runs.files import part_path
from evaluator.runs.notes import Notes
from evaluator.runs.reading import Run
from evaluator.runs.schema import column_names
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
IN_MEMORY: Final = "memory.main"
"""The schema of the connection itself."""
_LONG = {"code", "completion", "metadata", "layers", "limits", "dataset_hash", "evaluator_version"}
"""Columns that stay in the files."""
_RECORDED = f"""coalesce(recorded_verdict, CASE WHEN expected_pass THEN '{verdict_of_truth(True)}'
    WHEN NOT expected_pass THEN '{verdict_of_truth(False)}' END) AS recorded_verdict"""
"""A file that says only whether a rollout passed recorded a verdict, too."""
_SHORT = ", ".join(
    _RECORDED if name == "recorded_verdict" else f'"{name}"' for name in column_names("rollouts") if name not in _LONG
)
_GROUP = 1_000
"""Parts that are read at once: a million rollouts at most."""
_ANSWERS = """
    SELECT task_id, sample_id,
           bit_xor(hash(test_index, verdict, error_type, coalesce(actual, difference))) AS answers
    FROM part_cases GROUP BY task_id, sample_id"""
_BEHAVIOUR = f"hash(task_id, verdict, CASE WHEN answers IS NULL THEN {CLUSTER} END, answers)"
"""Equal for rollouts of a task that answer all test cases alike and fail in the same way. Of long answers a part is
stored, and decides."""
_ROLLOUTS = f"""
    SELECT {_SHORT}, {CLUSTER} AS err, {{length}} AS length, {TEXT} AS searched, {GROUP} AS group_id,
           {_BEHAVIOUR} AS behaviour, part_file
    FROM part_rollouts LEFT JOIN {KINDS} USING ("row") LEFT JOIN ({_ANSWERS}) USING (task_id, sample_id)"""  # noqa: S608
_PARTS = """
    SELECT "row", part.name AS name, part.reward AS reward FROM (
        SELECT "row", unnest(from_json(components, '[{"name": "VARCHAR", "reward": "DOUBLE"}]')) AS part
        FROM part_rollouts WHERE components IS NOT NULL)"""
"""A row for each part of a reward."""
ROWS: Final = {"rollouts": _ROLLOUTS, "parts": _PARTS}
"""The tables that are made from the run's files, and their rows; `{length}` is `Run.length_sql`."""


_GROUPS: Final = f"""
    CREATE TABLE groups AS
    SELECT group_id, any_value(task_id) AS task_id, any_value(model) AS model, any_value(step) AS step,
           any_value("group") AS "group", min("row") AS first, min(reward) = max(reward) AS flat,
           CASE WHEN bool_and(verdict = 'passed') THEN 'pass' WHEN NOT bool_or(verdict = 'passed') THEN 'fail'
                ELSE 'mixed' END AS ended,
           avg((verdict = 'passed')::INTEGER) AS rate, coalesce(var_pop({MOMENT}), 0) AS variance
    FROM rollouts WHERE reward IS NOT NULL GROUP BY group_id HAVING count(*) >= 2"""  # noqa: S608
"""The groups with at least two rewards. If all are equal, the group is `flat`: it gives no gradient."""


class PartStamp(NamedTuple):
    """A part of a run that is in the tables."""

    ordinal: int
    bytes: int
    changed: int


def connected(run: Run) -> duckdb.DuckDBPyConnection:
    """A connection with the tables of this module, as the run is now."""
    stamps = _stamps(run)
    if run.manifest.counts.get("rollouts", 0) >= _LARGE:
        with contextlib.suppress(OSError, RuntimeError, duckdb.Error):  # no home, a full disk, a damaged file
            return _opened(run, _brought_up_to_date(run, stamps))
    connection = run.connect(parts=True)
    _prepare(connection)
    ordinals = [stamp.ordinal for stamp in stamps]
    _add(connection, run, ordinals, ordinals)
    connection.execute(_GROUPS)
    return connection


def folder() -> Path:
    """`$XDG_CACHE_HOME/rollscope/tables`, by default in `~/.cache`. Raises `RuntimeError` without a home."""
    return cache_folder("tables")


def _opened(run: Run, file: Path) -> duckdb.DuckDBPyConnection:
    connection = run.connect(parts=True, memory_mb=_MEMORY_MB, database=file)
    _prepare(connection)
    for name in ROWS:
        connection.execute(f"CREATE VIEW {name} AS FROM {_SCHEMA}.{name}")
    connection.execute(_GROUPS)
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
        _add(connection, run, [stamp.ordinal for stamp in new], ordinals, _SCHEMA)
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
    decided_by = (run.path.resolve(), run.manifest.regraded_from, ROWS, __version__, duckdb.__version__)
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


def _prepare(connection: duckdb.DuckDBPyConnection) -> None:
    """Call a run's views `stored_...`, and make the tables that are always in memory."""
    connection.execute("ALTER VIEW rollouts RENAME TO stored_rollouts")
    connection.execute("ALTER VIEW cases RENAME TO stored_cases")
    connection.execute("""
        CREATE TABLE found (find VARCHAR, "row" BIGINT, in_code BOOLEAN, line BIGINT, before VARCHAR, hit VARCHAR,
                            after VARCHAR)""")
    connection.execute("CREATE TABLE tags (task_id VARCHAR, sample_id VARCHAR, tag VARCHAR)")


def _add(
    connection: duckdb.DuckDBPyConnection,
    run: Run,
    ordinals: Sequence[int],
    among: Sequence[int],
    into: str = IN_MEMORY,
) -> None:
    """Add these parts of a run to the tables of a schema, which are made if they are missing.

    `among`: all parts that the tables will have then.
    """
    for first in range(0, len(ordinals) or 1, _GROUP):
        run.view_parts(connection, ordinals[first : first + _GROUP], among)
        load_kinds(connection, "part_rollouts", "part_cases")
        for table, rows in ROWS.items():
            select = rows.replace("{length}", run.length_sql)
            connection.execute(f"CREATE TABLE IF NOT EXISTS {into}.{table} AS {select} LIMIT 0")
            connection.execute(f"INSERT INTO {into}.{table} {select}")
        connection.execute(f"DROP TABLE {KINDS}")


def load_tags(connection: duckdb.DuckDBPyConnection, notes: Notes) -> None:
    """Fill `tags`: the tags of each rollout, and those and the judgements of its task and the task's test cases."""
    cursor = connection.cursor()
    cursor.execute("BEGIN")
    cursor.execute("DELETE FROM tags")
    rows = [(note.task_id, note.sample_id, tag) for note in notes.rollouts for tag in note.tags]
    if rows:
        cursor.executemany("INSERT INTO tags VALUES (?, ?, ?)", rows)
    said = ((task.task_id, tag) for task in notes.tasks for tag in (*task.tags, *filter(None, [task.judgement])))
    for task_id, tag in dict.fromkeys(said):
        cursor.execute("INSERT INTO tags SELECT task_id, sample_id, ? FROM rollouts WHERE task_id = ?", [tag, task_id])
    cursor.execute("COMMIT")
