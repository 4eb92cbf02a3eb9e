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

from dashboard.queries import tables
from dashboard.state import View
from evaluator.runs.files import LOCK, is_run
from evaluator.runs.notes import Notes, NotesError, notes_stamp, read_notes
from evaluator.runs.reading import Manifest, Run

Params = dict[str, str | int | float | list[str]]
"""The values of a query, by name."""

VARIABLE = "ROLLSCOPE_OPEN"
_APP = Path(__file__).resolve().parent.parent
_LOCKS = Path("/proc/locks")
_REST = 5
"""A growing run is loaded again after at least so many times what its last loading took."""
_LOOPBACK = {"127.0.0.1", "localhost", "::1"}


class Opened(msgspec.Struct, frozen=True):
    """What the command line opens. Paths are absolute or relative to the working directory."""

    runs: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    """Folders of runs: those that are in them, also later."""
    rollouts: tuple[str, ...] = ()
    dataset: str | None = None
    allow_rerun: bool = False
    follow: bool = False


class Entry(msgspec.Struct, frozen=True):
    """A line of the run picker."""

    name: str
    path: Path
    graded: bool
    """False for a rollouts file that is not graded yet."""


@dataclass(frozen=True)
class OpenRun:
    """A run that can be queried, with the tables of `queries.tables`. Equal keys mean equal results."""

    name: str
    path: Path
    stamp: tuple[int, int]
    run: Run
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
    paths = [(path, True) for path in dict.fromkeys(runs)]
    paths += [(Path(path), False) for path in files.rollouts]
    taken: set[str] = set()
    return [Entry(_name(path, taken), path, graded) for path, graded in paths]


def entry(view: View) -> Entry | None:
    """The entry that the view names, or the first when it names none; None when there is no such entry."""
    known = entries()
    if not view.run:
        return known[0] if known else None
    return next((e for e in known if e.name == view.run), None)


def name_of(path: Path) -> str:
    """The picker's name of an open path."""
    return next((e.name for e in entries() if e.path == path), path.name)


def open_run(chosen: Entry) -> OpenRun:
    """The run of an entry. Raises `WorkspaceError` with one line when it can't be read."""
    try:
        stamp = _settled(chosen.path)
        run, connection = _connected(str(chosen.path), stamp)
        noted = notes_stamp(chosen.path)
        notes, fault = _noted(str(chosen.path), stamp, noted)
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
def _connected(path: str, stamp: tuple[int, int]) -> tuple[Run, duckdb.DuckDBPyConnection]:
    began = time.monotonic()
    run = Run.open(Path(path))
    connection = run.connect(parts=True)
    tables.load(connection)
    now = time.monotonic()
    older = _loadings().get(path)
    _loadings()[path] = _Loading(stamp, now + _REST * (now - began))
    if older is not None and older.stamp != stamp:
        _connected.clear(path, older.stamp)  # each holds the whole run in memory
    return run, connection


@st.cache_resource(show_spinner=False, max_entries=16)
def _noted(path: str, stamp: tuple[int, int], noted: int) -> tuple[Notes, str]:  # noqa: ARG001
    """The notes, which are also in the connection's table of tags, and why they can't be read."""
    try:
        notes, fault = read_notes(Path(path)), ""
    except NotesError as error:
        notes, fault = Notes(), str(error)
    tables.load_tags(_connected(path, stamp)[1], notes)
    return notes, fault


class _Loading(NamedTuple):
    """The newest state of a run in memory."""

    stamp: tuple[int, int]
    due: float
    """Until then a run that still grows is shown as it was: loading it must not take all the time."""


@st.cache_resource(show_spinner=False)
def _loadings() -> dict[str, _Loading]:
    return {}


def _settled(path: Path) -> tuple[int, int]:
    """The stamp of the state to show: the newest, but for a large run that grows not every few seconds."""
    known = _loadings().get(str(path))
    if known is not None and time.monotonic() < known.due and has_writer(path):
        return known.stamp
    return _stamp(path)


def _stamp(path: Path) -> tuple[int, int]:
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
