"""People's notes as columns of a run's rollouts and test cases, for exports and reports."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from evaluator.extras import needs
from evaluator.runs.files import ExportError
from evaluator.runs.notes import Notes, NotesError, TaskNote, read_notes

with needs("runs", "a run needs pyarrow and duckdb"):
    import duckdb
    import pyarrow as pa

NOTE_COLUMNS: Final = ("tags", "note", "task_judgement", "task_note", "test_notes")
"""Of a rollout: its tags and note; of its task: the judgement (good, bad or unsure) and note, and all that is said of
its test cases, as `test 1: bad, 'not in the prompt'; test 3: good`."""
CASE_NOTE_COLUMNS: Final = ("test_judgement", "test_note")
"""Of a test case: the judgement and note."""

_ROLLOUTS: Final = pa.schema(
    {"task_id": "string", "sample_id": "string", "tags": pa.list_(pa.string()), "note": "string"}
)
_TASKS: Final = pa.schema({"task_id": "string", "judgement": "string", "note": "string", "tests": "string"})
_TESTS: Final = pa.schema({"task_id": "string", "test_index": "int64", "judgement": "string", "note": "string"})
_VIEWS: Final = """
    ALTER VIEW rollouts RENAME TO graded_rollouts;
    CREATE TEMP VIEW rollouts AS
    SELECT r.*, n.tags, n.note, t.judgement AS task_judgement, t.note AS task_note, t.tests AS test_notes
    FROM graded_rollouts r
    LEFT JOIN rollout_notes n ON r.task_id = n.task_id AND r.sample_id = n.sample_id
    LEFT JOIN task_notes t ON r.task_id = t.task_id;
    ALTER VIEW cases RENAME TO graded_cases;
    CREATE TEMP VIEW cases AS
    SELECT c.*, n.judgement AS test_judgement, n.note AS test_note FROM graded_cases c
    LEFT JOIN test_notes n ON c.task_id = n.task_id AND c.test_index = n.test_index"""


def add_note_columns(connection: duckdb.DuckDBPyConnection, run: Path) -> None:
    """Replace the views `rollouts` and `cases` by ones with `NOTE_COLUMNS` and `CASE_NOTE_COLUMNS` too.

    They are null where nothing is noted. `test_notes` is a table of what is noted about test cases.
    Raises `ExportError` if the notes can't be read.
    """
    try:
        notes = read_notes(run)
    except NotesError as error:
        raise ExportError(str(error)) from None
    # By id, as a file that somebody edited may have two notes on one rollout, which would double its row.
    rollouts = {(n.task_id, n.sample_id): (list(n.tags), n.note or None) for n in notes.rollouts}
    tests = _of_tests(notes)
    connection.register("rollout_notes", _table([(*ids, *said) for ids, said in rollouts.items()], _ROLLOUTS))
    connection.register("task_notes", _table(_of_tasks(notes, tests), _TASKS))
    judged = [(*ids, each.judgement, each.note or None) for ids, each in tests.items()]
    connection.register("test_notes", _table(judged, _TESTS))
    connection.execute(_VIEWS)


def _of_tests(notes: Notes) -> dict[tuple[str, int], TaskNote]:
    found = {(n.task_id, n.test): n for n in notes.tasks if n.test is not None}
    return dict(sorted(found.items()))


def _of_tasks(notes: Notes, tests: dict[tuple[str, int], TaskNote]) -> list[tuple[str | None, ...]]:
    """For each task: the judgement, the note, and what is said of its test cases."""
    tasks = {n.task_id: (n.judgement, n.note or None) for n in notes.tasks if n.test is None}
    said: dict[str, list[str]] = {}
    for (task, _), each in tests.items():
        said.setdefault(task, []).append(_in_words(each))
    return [
        (task, *tasks.get(task, (None, None)), "; ".join(said[task]) if task in said else None)
        for task in dict.fromkeys([*tasks, *said])
    ]


def _in_words(note: TaskNote) -> str:
    """`test 1: bad, 'not in the prompt'`."""
    parts = [*([note.judgement] if note.judgement else []), *note.tags, *([repr(note.note)] if note.note else [])]
    return f"test {note.test}: {', '.join(parts)}"


def _table(rows: Sequence[tuple[object, ...]], schema: pa.Schema) -> pa.Table:
    columns = zip(*rows, strict=True) if rows else ((),) * len(schema)
    return pa.table([pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)], schema)
