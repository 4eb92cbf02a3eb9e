"""The tables that the queries read: the run's small columns, and its files for the long texts.

`rollouts`, `parts` (of rewards) and `tasks` are what most queries need; `tags` is from the notes, `found` from
searches. `stored_rollouts` and `stored_cases` have every column, but read the run's files: use them for one screen of
rows, with `IN_PARTS` or a row's `part_file`, never to count.

`rollouts` and `parts` are made from some of a run's files at a time, so that memory stays bounded, and the files by
which a run has grown can be added. `table_files` says where they are: in memory, or in a database file.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import duckdb

from dashboard.queries.expressions import TEXT
from evaluator.runs.expressions import CLUSTER, KINDS, load_kinds
from evaluator.runs.notes import Notes
from evaluator.runs.reading import Run
from evaluator.runs.schema import column_names

IN_MEMORY: Final = "memory.main"
"""The schema of the connection itself."""
_LONG = {"code", "completion", "metadata", "layers", "limits", "dataset_hash", "evaluator_version"}
"""Columns that stay in the files."""
_SHORT = ", ".join(f'"{name}"' for name in column_names("rollouts") if name not in _LONG)
_GROUP = 1_000
"""Parts that are read at once: a million rollouts at most."""
_ROLLOUTS = f"""
    SELECT {_SHORT}, {CLUSTER} AS err, {{length}} AS length, {TEXT} AS searched, part_file
    FROM part_rollouts LEFT JOIN {KINDS} USING ("row")"""  # noqa: S608
_PARTS = """
    SELECT "row", part.name AS name, part.reward AS reward FROM (
        SELECT "row", unnest(from_json(components, '[{"name": "VARCHAR", "reward": "DOUBLE"}]')) AS part
        FROM part_rollouts WHERE components IS NOT NULL)"""
"""A row for each part of a reward."""
ROWS: Final = {"rollouts": _ROLLOUTS, "parts": _PARTS}
"""The tables that are made from the run's files, and their rows; `{length}` is `Run.length_sql`."""


def prepare(connection: duckdb.DuckDBPyConnection) -> None:
    """Call a run's views `stored_...`, and make the tables that are always in memory."""
    connection.execute("ALTER VIEW rollouts RENAME TO stored_rollouts")
    connection.execute("ALTER VIEW cases RENAME TO stored_cases")
    connection.execute("""
        CREATE TABLE found (find VARCHAR, "row" BIGINT, in_code BOOLEAN, line BIGINT, before VARCHAR, hit VARCHAR,
                            after VARCHAR)""")
    connection.execute("CREATE TABLE tags (task_id VARCHAR, sample_id VARCHAR, tag VARCHAR)")


def add(
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
