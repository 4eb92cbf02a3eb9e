"""The tables that the queries read: the run's small columns in memory, and its files for the long texts.

`rollouts`, `cases`, `parts` (of rewards) and `tasks` are what most queries need; `tags` is from the notes, `found` from
searches. `stored_rollouts` and `stored_cases` have every column, but read the run's files: use them for one screen of
rows, with `IN_PARTS` or a row's `part_file`, never to count.
"""

from __future__ import annotations

import duckdb

from evaluator.runs.clusters import CLUSTER, KINDS, load_kinds
from evaluator.runs.notes import Notes
from evaluator.runs.schema import column_names

_LONG = {"code", "completion", "metadata", "layers", "limits", "dataset_hash", "evaluator_version"}
"""Columns that stay in the files."""
_CASE_COLUMNS = ("task_id", "sample_id", "test_index", "verdict", "wall_s")
_PARTS = """
    CREATE TABLE parts AS SELECT "row", part.name, part.reward FROM (
        SELECT "row", unnest(from_json(components, '[{"name": "VARCHAR", "reward": "DOUBLE"}]')) AS part
        FROM rollouts WHERE components IS NOT NULL)"""
"""The parts of the rewards, a row each."""


def load(connection: duckdb.DuckDBPyConnection) -> None:
    """Make the tables, from a run's views of the same names."""
    short = ", ".join(f'"{name}"' for name in column_names("rollouts") if name not in _LONG)
    connection.execute("ALTER VIEW rollouts RENAME TO stored_rollouts")
    connection.execute("ALTER VIEW cases RENAME TO stored_cases")
    load_kinds(connection, "stored_rollouts", "stored_cases")
    connection.execute(f"""
        CREATE TABLE rollouts AS SELECT {short}, {CLUSTER} AS err, length(completion) AS length, part_file
        FROM stored_rollouts LEFT JOIN {KINDS} USING ("row") ORDER BY "row" """)  # noqa: S608
    connection.execute(f"DROP TABLE {KINDS}")
    connection.execute(f"CREATE TABLE cases AS SELECT {', '.join(_CASE_COLUMNS)} FROM stored_cases")  # noqa: S608
    connection.execute(_PARTS)
    connection.execute("""
        CREATE TABLE found (find VARCHAR, "row" BIGINT, in_code BOOLEAN, line BIGINT, before VARCHAR, hit VARCHAR,
                            after VARCHAR)""")
    connection.execute("CREATE TABLE tags (task_id VARCHAR, sample_id VARCHAR, tag VARCHAR)")


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
