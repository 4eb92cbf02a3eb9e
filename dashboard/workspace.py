"""What is open: the runs and rollouts files given to `rollscope view`, and the runs graded from the page.

A URL can open only these: it names an entry, never a path.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import msgspec
import streamlit as st

from dashboard import opening
from dashboard.opening import Reading, Rollouts
from dashboard.queries import tables
from dashboard.state import View
from evaluator.runs.files import LOCK, is_run
from evaluator.runs.indexing import STATE
from evaluator.runs.notes import Notes, NotesError, notes_stamp, read_notes
from evaluator.runs.reading import Manifest, Run
from evaluator.runs.ungraded import Dataset, IndexedFile

Params = dict[str, str | int | float | list[str] | None]
"""The values of a query, by name."""

VARIABLE = "ROLLSCOPE_OPEN"
_APP = Path(__file__).resolve().parent.parent
_LOCKS = Path("/proc/locks")
_REST, _MOST_S = 5, 10.0
"""A growing run is loaded again after so many times what its last loading took, or so many seconds."""
_LOOPBACK = {"127.0.0.1", "localhost", "::1"}


Stamp = tuple[int, ...]
"""Equal for two looks at a run between which nothing was added."""


class Opened(msgspec.Struct, frozen=True):
    """What the command line opens. Paths are absolute or relative to the working directory."""

    runs: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    """Folders of runs: also of runs that are added later."""
    rollouts: tuple[str, ...] = ()
    """Files, folders and patterns."""
    names: dict[str, str] = {}
    """What rollouts are called that are copies: of a pipe, or of objects in a store."""
    format: str | None = None
    field_map: dict[str, str] | None = None
    dataset: str | None = None
    datasets: dict[str, str] = {}
    """Where the tasks of rollouts are for which no dataset was named."""
    dataset_format: str | None = None
    dataset_map: dict[str, str] | None = None
    """How the rollouts and the dataset are read; None: detected."""
    allow_rerun: bool = False
    follow: bool = False


class Entry(msgspec.Struct, frozen=True):
    """A line of the run picker."""

    name: str
    path: Path
    rollouts: Rollouts | None = None
    """For rollouts that are not graded; `path` is then the folder of their index."""

    @property
    def graded(self) -> bool:
        """Whether it is a run."""
        return self.rollouts is None


@dataclass(frozen=True)
class OpenRun:
    """A run that can be queried, with the tables of `queries.tables`. Equal keys mean equal results."""

    name: str
    path: Path
    stamp: Stamp
    run: Run
    """An `evaluator.runs.ungraded.IndexedFile` where nothing is graded."""
    connection: duckdb.DuckDBPyConnection
    notes: Notes
    notes_stamp: int = 0
    notes_fault: str = ""
    """Why the notes can't be read, in one line; the run is shown without them."""

    @property
    def key(self) -> str:
        return f"{self.path}|{self.stamp}|{self.notes_stamp}"

    @property
    def manifest(self) -> Manifest:
        return self.run.manifest

    @property
    def recorded(self) -> bool:
        """Whether all grades came with the rollouts: nothing was graded here."""
        return isinstance(self.run, IndexedFile)

    def rows(self, sql: str, params: Params | None = None) -> list[tuple[Any, ...]]:
        """The rows of a query, on its own cursor: several visitors may query at once."""
        return self.connection.cursor().execute(sql, params or {}).fetchall()


class WorkspaceError(ValueError):
    """Something can't be opened. The message says what, and how to fix it."""


def opened() -> Opened:
    """What the command line opens. Raises `WorkspaceError` when the variable can't be read."""
    text = os.environ.get(VARIABLE, "")
    if not text:
        return Opened(runs=tuple(str(path) for path in bundled_runs()))
    try:
        return msgspec.json.decode(text, type=Opened)
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise WorkspaceError(f"{VARIABLE} is not what `rollscope view` writes: {error}") from None


def bundled_runs() -> list[Path]:
    """The stored runs of the example in `data/`."""
    return sorted(manifest.parent for manifest in (_APP / "data").glob("**/run.json"))


def entries() -> list[Entry]:
    """The run picker's lines: runs, then rollouts files, each with a unique name."""
    files = opened()
    runs = [Path(path) for path in files.runs]
    runs += [run for folder in files.folders for run in runs_in(Path(folder))]
    runs += graded_here()
    taken: set[str] = set()
    found = [Entry(_name(path, taken), path) for path in dict.fromkeys(runs)]
    for word in files.rollouts:
        rollouts = _rollouts(files, word)
        found.append(Entry(_name(Path(rollouts.name or word), taken), rollouts.folder, rollouts))
    return found


def _rollouts(files: Opened, word: str) -> Rollouts:
    path = files.dataset or files.datasets.get(word)
    dataset = Dataset(path, files.dataset_format, files.dataset_map) if path else None
    return Rollouts(word, files.names.get(word, ""), files.format, files.field_map, dataset)


def entry(view: View) -> Entry | None:
    """The entry that the view names, or the first when it names none; None when there is no such entry."""
    known = entries()
    if not view.run:
        return known[0] if known else None
    return next((e for e in known if e.name == view.run), None)


def name_of(path: Path) -> str:
    """The picker's name of an open path."""
    return next((e.name for e in entries() if path in (e.path, e.rollouts and Path(e.rollouts.word))), path.name)


def open_run(chosen: Entry) -> OpenRun:
    """The run of an entry. Raises `WorkspaceError` with one line when it can't be read."""
    reading = opening.reading(chosen.rollouts) if chosen.rollouts else None
    try:
        stamp = _settled(chosen.path) if reading is None else _settled_file(chosen.path, reading)
        run, connection = _connected(str(chosen.path), stamp, reading)
        noted = notes_stamp(chosen.path)
        notes, fault = _noted(str(chosen.path), stamp, noted, connection)
    except (OSError, ValueError, duckdb.Error, msgspec.DecodeError) as error:
        detail = " ".join(str(error).split())
        raise WorkspaceError(f"{chosen.path} can't be opened as a run: {detail}") from None
    return OpenRun(chosen.name, chosen.path, stamp, run, connection, notes, noted, fault)


def runs_in(folder: Path) -> list[Path]:
    """The runs in a folder, by name."""
    try:
        return sorted(child for child in folder.iterdir() if is_run(child))
    except OSError:
        return []


def has_writer(path: Path) -> bool:
    """Whether a process holds the run's lock. It is looked up, as trying to take it could block a writer."""
    try:
        inode = str((path / LOCK).stat().st_ino)
        held = [line.split() for line in _LOCKS.read_text().splitlines()]
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return any(
        "FLOCK" in words and any(word.rsplit(":", 1)[-1] == inode for word in words if ":" in word[:-1])
        for words in held
    )


def may_run_code() -> bool:
    """Whether visitors may run code: only on this machine, unless the command line allows others."""
    address = st.get_option("server.address")
    return opened().allow_rerun or address in _LOOPBACK


@st.cache_resource(show_spinner=False)
def graded_here() -> list[Path]:
    """Runs graded from the page since the server started; append to it."""
    return []


@st.cache_resource(show_spinner=False, max_entries=16)
def _connected(path: str, stamp: Stamp, _reading: Reading | None) -> tuple[Run, duckdb.DuckDBPyConnection]:
    began = time.monotonic()
    run = Run.open(Path(path)) if _reading is None else _reading.opened()
    connection = tables.connected(run)
    now = time.monotonic()
    older = _loadings().get(path)
    _loadings()[path] = _Loading(stamp, now + min(_MOST_S, _REST * (now - began)))
    if older is not None and older.stamp != stamp:
        _connected.clear(path, older.stamp, _reading)  # each holds the whole run in memory
    return run, connection


@st.cache_resource(show_spinner=False, max_entries=16)
def _noted(
    path: str,
    stamp: Stamp,  # noqa: ARG001
    noted: int,  # noqa: ARG001
    _connection: duckdb.DuckDBPyConnection,
) -> tuple[Notes, str]:
    """The notes, which are also in the connection's table of tags, and why they can't be read."""
    try:
        notes, fault = read_notes(Path(path)), ""
    except NotesError as error:
        notes, fault = Notes(), str(error)
    tables.load_tags(_connection, notes)
    return notes, fault


class _Loading(NamedTuple):
    """The newest state of a run in memory."""

    stamp: Stamp
    due: float
    """Until then a run that still grows is shown as it was: loading it must not take all the time."""


@st.cache_resource(show_spinner=False)
def _loadings() -> dict[str, _Loading]:
    return {}


def _settled(path: Path) -> Stamp:
    """The stamp of the state to show: the newest, but for a large run that grows not every few seconds."""
    known = _loadings().get(str(path))
    if known is not None and time.monotonic() < known.due and has_writer(path):
        return known.stamp
    return stamp(path)


def _settled_file(folder: Path, reading: Reading) -> Stamp:
    """The same for rollouts that are not graded. An index begun again is shown at once: the old one is gone."""
    known, found = _loadings().get(str(folder)), reading.state()
    began = found.began if found is not None else 0
    tasks = int(reading.has_tasks)
    if known is not None and known.stamp[1:] == (tasks, began) and time.monotonic() < known.due:
        return known.stamp
    return (folder / STATE).stat().st_mtime_ns, tasks, began


def stamp(path: Path) -> Stamp:
    """Of a run, as it is now."""
    parts = sum(1 for _ in (path / "rollouts").glob("*.parquet"))
    return (path / "run.json").stat().st_mtime_ns, parts


def _name(path: Path, taken: set[str]) -> str:
    parts = path.resolve().parts
    for depth in range(1, len(parts) + 1):
        name = "/".join(parts[-depth:])
        if name not in taken:
            break
    taken.add(name)
    return name
