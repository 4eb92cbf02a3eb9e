"""People's notes as columns of a run's rollouts, for exports and reports."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from evaluator.extras import needs
from evaluator.runs.files import ExportError
from evaluator.runs.notes import NotesError, read_notes

with needs("runs", "a run needs pyarrow and duckdb"):
    import duckdb
    import pyarrow as pa

NOTE_COLUMNS: Final = ("tags", "note", "task_judgement", "task_note")
"""Of a rollout: its tags and note; of its task: the judgement (good, bad or unsure) and note."""

_ROLLOUTS: Final = pa.schema(
    {"task_id": "string", "sample_id": "string", "tags": pa.list_(pa.string()), "note": "string"}
)
_TASKS: Final = pa.schema({"task_id": "string", "judgement": "string", "note": "string"})


def add_note_columns(connection: duckdb.DuckDBPyConnection, run: Path) -> None:
    """Replace the view `rollouts` by one that has `NOTE_COLUMNS` too; null where nothing is noted.

    Raises `ExportError` if the notes can't be read.
    """
    try:
        notes = read_notes(run)
    except NotesError as error:
        raise ExportError(str(error)) from None
    # By id, as a file that somebody edited may have two notes on one rollout, which would double its row.
    rollouts = {(n.task_id, n.sample_id): (list(n.tags), n.note or None) for n in notes.rollouts}
    tasks = {n.task_id: (n.judgement, n.note or None) for n in notes.tasks if n.test is None}
    noted = [(*ids, *values) for ids, values in rollouts.items()]
    judged = [(task, *values) for task, values in tasks.items()]
    connection.register("rollout_notes", _table(noted, _ROLLOUTS))
    connection.register("task_notes", _table(judged, _TASKS))
    connection.execute("ALTER VIEW rollouts RENAME TO graded_rollouts")
    connection.execute("""
        CREATE TEMP VIEW rollouts AS
        SELECT r.*, n.tags, n.note, t.judgement AS task_judgement, t.note AS task_note FROM graded_rollouts r
        LEFT JOIN rollout_notes n ON r.task_id = n.task_id AND r.sample_id = n.sample_id
        LEFT JOIN task_notes t ON r.task_id = t.task_id""")


def _table(rows: Sequence[tuple[object, ...]], schema: pa.Schema) -> pa.Table:
    columns = zip(*rows, strict=True) if rows else ((),) * len(schema)
    return pa.table([pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)], schema)
