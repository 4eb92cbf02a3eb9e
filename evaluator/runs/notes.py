"""What people write about a run: tags and notes on rollouts, judgements of tasks, saved filters; for exports and
reports also as columns of its rollouts and test cases.

They are in `notes.json` beside the run's files: no note changes a grade, and grading again keeps the notes. Those of
a rollouts file that is not graded, whose index may be removed with the cache, are in the user's data folder.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec

from evaluator.extras import needs
from evaluator.runs.files import ExportError
from evaluator.runs.schema import safe_text, utc_now
from evaluator.user_files import cache_folder, replacing

with needs("runs", "a run needs pyarrow and duckdb"):
    import duckdb
    import pyarrow as pa

NOTES: Final = "notes.json"
_LOCK: Final = ".notes-lock"

Judgement = Literal["good", "bad", "unsure"]
JUDGEMENTS: Final[tuple[Judgement, ...]] = ("good", "bad", "unsure")


class NotesError(ValueError):
    """Notes that can't be read or written. The message is one line that says why and how to fix it."""


class RolloutNote(msgspec.Struct, omit_defaults=True):
    """What is noted about one rollout."""

    task_id: str
    sample_id: str
    tags: tuple[str, ...] = ()
    note: str = ""
    updated: str = ""
    """ISO 8601 in UTC."""


class TaskNote(msgspec.Struct, omit_defaults=True):
    """What is noted about one task, or about one of its test cases."""

    task_id: str
    test: Annotated[int, msgspec.Meta(ge=0, lt=2**31)] | None = None
    """The index of the test case; None: the task itself."""
    judgement: Judgement | None = None
    tags: tuple[str, ...] = ()
    note: str = ""
    updated: str = ""


class Notes(msgspec.Struct, omit_defaults=True):
    """All notes of one run."""

    rollouts: list[RolloutNote] = []
    tasks: list[TaskNote] = []
    filters: dict[str, str] = {}
    """Saved filters: the name, and the URL's query."""

    def rollout(self, task_id: str, sample_id: str) -> RolloutNote | None:
        """The note on a rollout."""
        return next((n for n in self.rollouts if (n.task_id, n.sample_id) == (task_id, sample_id)), None)

    def task(self, task_id: str, test: int | None = None) -> TaskNote | None:
        """The note on a task or on one of its test cases."""
        return next((n for n in self.tasks if (n.task_id, n.test) == (task_id, test)), None)


def notes_folder(run: Path) -> Path:
    """Where the notes are: the run's directory; for a folder in the cache `$XDG_DATA_HOME/rollscope/notes`."""
    if run.parent != cache_folder("index"):
        return run
    base = os.environ.get("XDG_DATA_HOME")
    return (Path(base) if base else Path.home() / ".local" / "share") / "rollscope" / "notes" / run.name


def read_notes(run: Path) -> Notes:
    """The notes of a run; none where nobody wrote any. Raises `NotesError`."""
    path = notes_folder(run) / NOTES
    try:
        return msgspec.json.decode(path.read_bytes(), type=Notes)
    except FileNotFoundError:
        return Notes()
    except OSError as error:
        raise NotesError(f"{path}: can't be read: {error.strerror}") from None
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise NotesError(f"{path}: not a file of notes ({error}): move it away to begin a new one") from None


def notes_stamp(run: Path) -> int:
    """When the notes last changed, in nanoseconds; 0 where there are none."""
    try:
        return (notes_folder(run) / NOTES).stat().st_mtime_ns
    except OSError:
        return 0


def note_rollout(run: Path, task_id: str, sample_id: str, *, tags: tuple[str, ...], note: str) -> None:
    """Put a note on a rollout, in place of an earlier one; without tags and text, remove it. Raises `NotesError`."""
    kept = RolloutNote(safe_text(task_id), safe_text(sample_id), _safe_tags(tags), safe_text(note), utc_now())

    def edit(notes: Notes) -> None:
        others = [n for n in notes.rollouts if (n.task_id, n.sample_id) != (kept.task_id, kept.sample_id)]
        notes.rollouts = [*others, kept] if kept.tags or kept.note else others

    _change(run, edit)


def note_task(
    run: Path,
    task_id: str,
    test: int | None = None,
    *,
    judgement: Judgement | None,
    tags: tuple[str, ...] = (),
    note: str = "",
) -> None:
    """The same for a task, or for one of its test cases. Raises `NotesError`."""
    kept = TaskNote(safe_text(task_id), test, judgement, _safe_tags(tags), safe_text(note), utc_now())

    def edit(notes: Notes) -> None:
        others = [n for n in notes.tasks if (n.task_id, n.test) != (kept.task_id, kept.test)]
        notes.tasks = [*others, kept] if kept.judgement or kept.tags or kept.note else others

    _change(run, edit)


def _safe_tags(tags: tuple[str, ...]) -> tuple[str, ...]:
    """Each once."""
    return tuple(dict.fromkeys(map(safe_text, tags)))


def save_filter(run: Path, name: str, query: str | None) -> None:
    """Save a filter, as the query of a URL; None removes it. Raises `NotesError`."""

    def edit(notes: Notes) -> None:
        others = {known: value for known, value in notes.filters.items() if known != safe_text(name)}
        notes.filters = others if query is None else {**others, safe_text(name): safe_text(query)}

    _change(run, edit)


def _change(run: Path, edit: Callable[[Notes], None]) -> None:
    """Read, edit and write under a lock, so that two people who write at once both keep their notes."""
    folder = notes_folder(run)
    try:
        if folder != run:
            folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            notes = read_notes(run)
            edit(notes)
            text = msgspec.json.format(msgspec.json.encode(notes), indent=2)
            with replacing(folder / NOTES) as path:
                path.write_bytes(text)
        finally:
            os.close(lock)
    except OSError as error:
        raise NotesError(f"{folder / NOTES}: can't be written: {error.strerror}") from None


NOTE_COLUMNS: Final = ("tags", "note", "task_judgement", "task_note", "test_notes")
"""Of a rollout: its tags and note; of its task: the judgement (good, bad or unsure) and note, and all that is said of
its test cases, as `test 1: bad, 'not in the prompt'; test 3: good`."""
CASE_NOTE_COLUMNS: Final = ("test_judgement", "test_note")
"""Of a test case: the judgement and note."""

_ROLLOUTS: Final = pa.schema(
    {"task_id": "string", "sample_id": "string", "tags": pa.list_(pa.string()), "note": "string"}
)
_TASKS: Final = pa.schema({"task_id": "string", "judgement": "string", "note": "string", "tests": "string"})
_TESTS: Final = pa.schema({"task_id": "string", "test": "int64", "judgement": "string", "note": "string"})
_VIEWS: Final = """
    ALTER VIEW rollouts RENAME TO graded_rollouts;
    CREATE TEMP VIEW rollouts AS
    SELECT r.*, n.tags, nullif(n.note, '') AS note,
           t.judgement AS task_judgement, nullif(t.note, '') AS task_note, t.tests AS test_notes
    FROM graded_rollouts r
    LEFT JOIN rollout_notes n ON r.task_id = n.task_id AND r.sample_id = n.sample_id
    LEFT JOIN task_notes t ON r.task_id = t.task_id;
    ALTER VIEW cases RENAME TO graded_cases;
    CREATE TEMP VIEW cases AS
    SELECT c.*, n.judgement AS test_judgement, nullif(n.note, '') AS test_note FROM graded_cases c
    LEFT JOIN test_notes n ON c.task_id = n.task_id AND c.test_index = n.test"""


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
    rollouts = {(n.task_id, n.sample_id): n for n in notes.rollouts}
    tests = dict(sorted({(n.task_id, n.test): n for n in notes.tasks if n.test is not None}.items()))
    tasks = {n.task_id: msgspec.structs.asdict(n) for n in notes.tasks if n.test is None}
    said: dict[str, list[str]] = {}
    for note in tests.values():
        said.setdefault(note.task_id, []).append(_in_words(note))
    for task, words in said.items():
        tasks[task] = tasks.get(task, {"task_id": task}) | {"tests": "; ".join(words)}
    connection.register("rollout_notes", pa.Table.from_pylist(_rows(rollouts.values()), _ROLLOUTS))
    connection.register("task_notes", pa.Table.from_pylist(list(tasks.values()), _TASKS))
    connection.register("test_notes", pa.Table.from_pylist(_rows(tests.values()), _TESTS))
    connection.execute(_VIEWS)


def _rows(notes: Iterable[RolloutNote | TaskNote]) -> list[dict[str, object]]:
    return [msgspec.structs.asdict(note) for note in notes]


def _in_words(note: TaskNote) -> str:
    """`test 1: bad, 'not in the prompt'`."""
    parts = [*([note.judgement] if note.judgement else []), *note.tags, *([repr(note.note)] if note.note else [])]
    return f"test {note.test}: {', '.join(parts)}"
