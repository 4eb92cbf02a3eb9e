"""Indexes files of rollouts of any size without grading them: byte offsets and small columns, kept and appended to.

    update(source)              # reads what is new; a million rows take seconds, the next time nothing

A row is read once. What the index knows of it goes into Parquet parts, as of a run; its text stays in the file. The
index is in the user's cache, keyed by what was opened. Its state is written after each part, so that an opening that is
stopped, or killed, is continued and a page can show what is there so far.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import msgspec

from evaluator.extras import needs
from evaluator.formats import FormatError
from evaluator.formats.reading.file_layout import layout_of, no_rows
from evaluator.formats.reading.loader import load_samples
from evaluator.formats.reading.problems import Problem
from evaluator.formats.reading.registry import Role
from evaluator.formats.reading.sources import Source
from evaluator.runs.files import LOCK, RunError, RunLock, forget_unused, part_ordinals, part_path
from evaluator.runs.scanning import KeptRow, Numbering, RowReader, Scanned, scans
from evaluator.runs.schema import Manifest, encoded
from evaluator.user_files import cache_folder, replacing

with needs("runs", "an index needs pyarrow and duckdb"):
    import pyarrow as pa
    import pyarrow.parquet as pq

VERSION: Final = 2
STATE: Final = "index.json"
PART_ROWS: Final = 50_000
"""Rows that are written at once, where so many are new."""
MOST_SMALL_PARTS: Final = 64
"""A source that grows by little gets many small parts; so many are made one."""
_ENDS_BYTES: Final = 4096

Progress = Callable[[int, int], object]
"""Called with the bytes read and the bytes there are."""


class BuildStoppedError(Exception):
    """The caller's progress function ended the reading; what was read is kept."""


class File(msgspec.Struct, frozen=True):
    """A local file, and the name that it is known by: another one if it is a copy, of a pipe or from a store."""

    path: str
    """Absolute."""
    name: str


class RolloutSource(msgspec.Struct, frozen=True):
    """What is opened: files of rollouts in their order, and how to read them."""

    name: str
    """What the user typed."""
    files: tuple[File, ...]
    format: str | None = None
    field_map: dict[str, str] | None = None

    @property
    def folder(self) -> Path:
        """Where its index is. A folder's further files do not change it."""
        decides = msgspec.json.encode((self.name, self.format, self.field_map))
        return cache_folder("index") / hashlib.sha256(decides).hexdigest()[:20]


class FileState(msgspec.Struct):
    """One file and how far it was read."""

    path: str
    name: str
    in_place: bool
    """False: its rollouts are in a file of our own beside the index."""
    format: str
    first_line: int
    size: int = 0
    mtime_ns: int = 0
    inode: int = 0
    """0: its reading has not begun."""
    done: int = 0
    """The first byte that was not read."""
    lines: int = 0
    """Lines before it, from the first row on."""
    partial: int = 0
    """Bytes of a last line that is still being written."""
    ends: tuple[str, str] = ("", "")
    """Hashes of the first bytes, and of the last before `done`: whether the file is still the same."""


class State(msgspec.Struct, kw_only=True):
    """`index.json`: what is kept of a source between two openings."""

    version: int = VERSION
    source: RolloutSource
    manifest: Manifest
    """As of a run: its counts and its bad lines. It is `finished` when everything was read that was there."""
    files: list[FileState] = []
    parts: list[int] = []
    """The ordinals of the Parquet files with the columns, in the order of their rows; see `runs.files.part_path`."""
    notice: str = ""
    """What happened to the file that its user should know: it was truncated or replaced."""
    began: int = 0
    """When its first file was read from its start, in nanoseconds; another time is another index."""

    @property
    def rows(self) -> int:
        """Rollouts so far."""
        return self.manifest.counts.get("rollouts", 0)

    @property
    def complete(self) -> bool:
        """Whether everything was read that was there."""
        return self.manifest.state == "finished"

    def data_path(self, number: int) -> Path:
        """The file that has the rows of a file of the source: itself, or the copy beside the index."""
        file = self.files[number]
        return Path(file.path) if file.in_place else self.source.folder / f"rows-{number:05d}.jsonl"

    def reader(self, number: int) -> RowReader:
        """How they are read."""
        file = self.files[number]
        return RowReader(file.path, file.name, file.format, self.source.field_map, kept=not file.in_place)


def _new_state(source: RolloutSource, **more: Any) -> State:
    return State(source=source, manifest=Manifest(rollouts=source.name), **more)


def read_state(folder: Path) -> State | None:
    """The state; None if there is none that this version can use."""
    try:
        state = msgspec.json.decode((folder / STATE).read_bytes(), type=State)
    except (OSError, msgspec.DecodeError):
        return None
    needed = [part_path(folder, "rollouts", part) for part in state.parts]
    needed += [state.data_path(n) for n, file in enumerate(state.files) if file.inode and not file.in_place]
    return state if state.version == VERSION and all(path.is_file() for path in needed) else None


def update(source: RolloutSource, on_progress: Progress | None = None) -> State:
    """Read what is new in a source, once; see `Indexer.update`."""
    return Indexer(source).update(on_progress)


class Indexer:
    """Reads a source and, at each later call, what has come since. Not for several threads at once."""

    def __init__(self, source: RolloutSource) -> None:
        self.source = source
        self.folder = source.folder
        self._numbering: Numbering | None = None
        self._state = _new_state(source)
        self._waiting: list[pa.Table] = []
        """Columns that wait to be written."""
        self._tell: Progress = lambda *_: None

    def update(self, on_progress: Progress | None = None) -> State:
        """Read what is new, and return the state. The first time, everything is new.

        If another process is reading the source, returns what that one has so far. Raises `FormatError` for a file
        that can't be read as a whole, and `RunError` if the cache can't be written.
        """
        folder = self.folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
            os.utime(folder)
            forget_unused(folder.parent)
            lock = RunLock(folder)
        except OSError as error:
            fix = "set XDG_CACHE_HOME to another folder"
            raise RunError(f"{folder}: can't be written: {error.strerror}: {fix}") from None
        except RunError:
            return read_state(folder) or _new_state(self.source)
        numbering, self._numbering = self._numbering, None
        self._tell = on_progress or (lambda *_: None)
        self._waiting = []
        done = False
        try:
            state = self._state = self._usable()
            if numbering is not None and numbering.rows == state.rows:
                self._numbering = numbering
            self._read_new()
            done = True
            return state
        except OSError as error:
            where = error.filename or folder
            raise RunError(f"{where}: can't be read or written: {error.strerror or error}") from None
        finally:
            if not done:
                self._numbering = None  # of no use if the reading ends early
            lock.release()

    def _usable(self) -> State:
        """What was kept, if its files are the same or have grown; else an empty state, which says what happened."""
        state = read_state(self.folder)
        if state is not None:
            notice = next(filter(None, map(self._what_happened, state.files)), "")
            if not notice:
                state.source = self.source
                return state
        _empty(self.folder)
        if state is None:
            return _new_state(self.source, began=time.time_ns())
        self._state = _new_state(self.source, notice=notice, began=time.time_ns())
        self._save()  # what happened is known even if the file can't be read now
        return self._state

    def _what_happened(self, file: FileState) -> str:
        """What makes it necessary to read a file again, as a sentence; "" if it is the same or has only grown."""
        if file.path not in {each.path for each in self.source.files}:
            return f"{file.name} is gone: the other files were read again"
        why = _has_changed(file)
        return f"{file.name} {why}: it was read again from its start" if why else ""

    def _read_new(self) -> None:
        state = self._state
        # Parts that were made one are superseded. A reader may still have the newest of them open.
        superseded = [part for part in part_ordinals(self.folder, "rollouts") if part not in state.parts]
        for part in superseded[: -MOST_SMALL_PARTS - 1]:
            self._part(part).unlink(missing_ok=True)
        fault = self._open_new()
        grown = [number for number in range(len(state.files)) if self._has_more(number)]
        if grown or not state.complete:
            for number in grown:
                self._read(number)
            state.manifest.state = "finished"
            self._save()
        if fault is not None:
            raise fault

    def _open_new(self) -> FormatError | None:
        """Add the files that are new. Returns why some can't be read yet, which must not keep the others from it."""
        state, faults = self._state, list[FormatError]()
        known = {file.path for file in state.files}
        for file in self.source.files:
            if file.path in known:
                continue
            try:
                state.files.append(_opened(self.source, file))
            except FormatError as error:
                faults.append(error)
        if not faults:
            return None
        others = f" ({len(faults) - 1:,} more of the files can't be read)" if len(faults) > 1 else ""
        fault = FormatError(f"{faults[0]}{others}")
        if not state.files:
            raise fault
        return fault

    def _save(self) -> None:
        with replacing(self.folder / STATE) as path:
            path.write_bytes(msgspec.json.encode(self._state))

    def _has_more(self, number: int) -> bool:
        file = self._state.files[number]
        try:
            if file.in_place or file.inode:
                return self._state.data_path(number).stat().st_size > file.done + file.partial
        except OSError as error:
            raise FormatError(f"{file.name}: can't be read: {error.strerror}") from None
        return True

    def _read(self, number: int) -> None:
        state, file = self._state, self._state.files[number]
        path = state.data_path(number)
        if file.in_place or not file.inode:
            now = Path(file.path).stat()
            file.size, file.mtime_ns = now.st_size, now.st_mtime_ns
            if not file.in_place:
                self._copy(file, path)
            file.inode = now.st_ino
            if not file.in_place:
                self._save()
        size = path.stat().st_size
        for scanned in scans(state.reader(number), number, str(path), file.done, size):
            self._take(file, scanned)
            waiting = sum(table.num_rows for table in self._waiting)
            if waiting >= PART_ROWS or (waiting and not state.parts):  # what a page can show soon
                self._save_place(file, path)
            self._tell(file.done, size)
        self._save_place(file, path)

    def _copy(self, file: FileState, to: Path) -> None:
        """Write the copy of a file whose rows can't be read in place. Raises `FormatError` for a bad file."""
        named, how = Source(Path(file.path), file.name), self.source
        with replacing(to) as temporary, temporary.open("wb") as copy:
            for rollout, prompt in load_samples(
                named, how.format, field_map=how.field_map, on_problem=self._add_problem
            ):
                copy.write(encoded(KeptRow(rollout.line, rollout, prompt)) + b"\n")

    def _take(self, file: FileState, scanned: Scanned) -> None:
        table, found = scanned
        before = file.first_line - 1 + file.lines if file.in_place else 0
        if self._numbering is None:
            self._numbering = Numbering()
            for part in self._state.parts:
                self._numbering.note(pq.read_table(self._part(part), columns=["task_id", "model", "id_hash"]))
        table, dropped = self._numbering.numbered(table, before)
        for problem in found.problems:
            self._add_problem(msgspec.structs.replace(problem, path=file.name, line=problem.line + before))
        for line, sample_id in dropped:
            message = f"sample_id {sample_id!r} came before: this row is skipped; give each sample its own id"
            self._add_problem(Problem(file.name, line, message, reason="repeated id"))
        file.lines += found.lines
        file.done, file.partial = found.done, found.partial
        self._waiting.append(table)

    def _add_problem(self, problem: Problem) -> None:
        self._state.manifest.add_problem(
            problem.path, problem.line, problem.message, problem.snippet, offset=problem.offset, reason=problem.reason
        )

    def _save_place(self, file: FileState, path: Path) -> None:
        """Write what waits, and remember how far the file was read."""
        rows = sum(table.num_rows for table in self._waiting)
        if rows:
            self._state.manifest.counts["rollouts"] = self._state.rows + rows
            self._state.parts = [*self._state.parts, self._write(self._waiting)]
            small = self._small_parts()
            if len(small) > MOST_SMALL_PARTS:
                tables = [pq.read_table(self._part(part)) for part in small]
                self._state.parts = [*self._state.parts[: -len(small)], self._write(tables)]
        self._waiting = []
        file.ends = _ends_of(path, file.done)
        self._save()

    def _part(self, part: int) -> Path:
        return part_path(self.folder, "rollouts", part)

    def _write(self, tables: list[pa.Table]) -> int:
        part = max(part_ordinals(self.folder, "rollouts"), default=-1) + 1
        table = pa.concat_tables(tables, promote_options="default").unify_dictionaries()
        self._part(part).parent.mkdir(exist_ok=True)
        with replacing(self._part(part)) as path:
            pq.write_table(table, path, compression="zstd")
        return part

    def _small_parts(self) -> list[int]:
        """The last parts that are not full, at most so many that they fit into one."""
        small: list[int] = []
        rows = 0
        for part in reversed(self._state.parts):
            rows += pq.read_metadata(self._part(part)).num_rows
            if rows > PART_ROWS + self._state.rows // 4:
                break
            small.insert(0, part)
        return small


def _has_changed(file: FileState) -> str:
    """Why a file is no longer the one that was read, in a few words; "" if it is the same or has only grown."""
    if not file.inode:
        return ""
    try:
        now = Path(file.path).stat()
        if (now.st_size, now.st_mtime_ns, now.st_ino) == (file.size, file.mtime_ns, file.inode):
            return ""
        if not file.in_place:
            return "was written again"
        if now.st_size < file.done:
            return f"was truncated from {file.size:,} to {now.st_size:,} bytes"
        if file.ends != _ends_of(Path(file.path), file.done):
            return "was replaced by another file"
    except OSError as error:
        return f"can't be read: {error.strerror}"
    return "was changed" if now.st_size == file.size and file.done == file.size and now.st_ino == file.inode else ""


def _ends_of(path: Path, done: int) -> tuple[str, str]:
    """Hashes of the first bytes and of the last before `done`. Raises `OSError`."""
    with path.open("rb") as file:
        head = file.read(min(_ENDS_BYTES, done))
        file.seek(max(0, done - _ENDS_BYTES))
        tail = file.read(min(_ENDS_BYTES, done))
    return hashlib.sha256(head).hexdigest()[:16], hashlib.sha256(tail).hexdigest()[:16]


def _empty(folder: Path) -> None:
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        elif path.name != LOCK:
            with contextlib.suppress(OSError):
                path.unlink()


def _opened(source: RolloutSource, file: File) -> FileState:
    layout = layout_of(Source(Path(file.path), file.name), Role.ROLLOUTS, source.format, source.field_map)
    if not layout.format.name:
        raise no_rows(layout.source)
    in_place = layout.in_place and not _is_list_at(file.path, layout.offset)
    done = layout.offset if in_place else 0
    return FileState(file.path, file.name, in_place, layout.format.name, layout.line if in_place else 1, done=done)


def _is_list_at(path: str, offset: int) -> bool:
    """Whether the first row is a list: such rows are identified by their number in the file."""
    with Path(path).open("rb") as file:
        file.seek(offset)
        return file.read(1) == b"["
