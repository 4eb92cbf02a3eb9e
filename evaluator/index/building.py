"""Makes the index of a source, and continues it where its files have grown.

A row is read once. What the index knows of it goes into Parquet parts, its text stays in the file. The state is written
after each part, so that an opening that is stopped, or killed, is continued and a page can show what is there so far.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from evaluator.formats import FormatError
from evaluator.formats.reading.file_layout import layout_of, no_rows
from evaluator.formats.reading.problems import Problem
from evaluator.formats.reading.registry import Role
from evaluator.formats.reading.sources import Source as NamedFile
from evaluator.index.numbering import Numbering
from evaluator.index.rows_of import RowReader, keep
from evaluator.index.scanning import Scanned
from evaluator.index.state import (
    File,
    FileState,
    ProblemLog,
    RolloutSource,
    State,
    ends_of,
    folder_of,
    has_changed,
    kept_path,
    note_size,
    read_state,
    write_state,
)
from evaluator.index.workers import scans
from evaluator.runs.files import (
    LOCK,
    RunError,
    RunLock,
    forget_unused,
    part_ordinals,
    part_path,
)
from evaluator.user_files import replacing

PART_ROWS: Final = 50_000
"""Rows that are written at once, where so many are new."""
MOST_SMALL_PARTS: Final = 64
"""A source that grows by little gets many small parts; so many are made one."""

Progress = Callable[[int, int], object]
"""Called with the bytes read and the bytes there are."""


class BuildStoppedError(Exception):
    """The caller's progress function ended the reading; what was read is kept."""


class Indexer:
    """Reads a source and, at each later call, what has come since. Not for several threads at once."""

    def __init__(self, source: RolloutSource) -> None:
        self.source = source
        self.folder = folder_of(source)
        self._numbering: Numbering | None = None

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
            return read_state(folder) or State(source=self.source)
        try:
            builder = _Builder(self.source, folder, on_progress or (lambda *_: None), self._numbering)
            self._numbering = None  # of no use if the reading ends early
            state = builder.run()
            self._numbering = builder.numbering
            return state
        except OSError as error:
            where = error.filename or folder
            raise RunError(f"{where}: can't be read or written: {error.strerror or error}") from None
        finally:
            lock.release()


def update(source: RolloutSource, on_progress: Progress | None = None) -> State:
    """Read what is new in a source, once; see `Indexer.update`."""
    return Indexer(source).update(on_progress)


class _Builder:
    """One update, by the process that holds the lock."""

    def __init__(self, source: RolloutSource, folder: Path, on_progress: Progress, numbering: Numbering | None) -> None:
        self._folder = folder
        self._tell = on_progress
        self._state = _usable(source, folder)
        is_current = numbering is not None and numbering.rows == self._state.rows
        self.numbering = numbering if is_current else None
        self._parts = _Parts(folder, self._state)
        self._log = ProblemLog(folder, self._state)

    def run(self) -> State:
        state = self._state
        _forget_superseded(self._folder, state)
        fault = self._open_new()
        grown = [(number, file) for number, file in enumerate(state.files) if self._has_more(number, file)]
        if grown or not state.complete:
            for number, file in grown:
                self._read(number, file)
            state.complete = True
            self._save()
        if fault is not None:
            raise fault
        return state

    def _open_new(self) -> FormatError | None:
        """Add the files that are new. Returns why one can't be read yet, which must not keep the others from it."""
        state, fault = self._state, None
        known = {file.path for file in state.files}
        for file in state.source.files:
            if file.path in known:
                continue
            try:
                state.files.append(_opened(state.source, file))
            except FormatError as error:
                fault = fault or error
        if fault is not None and not state.files:
            raise fault
        return fault

    def _save(self) -> None:
        self._log.save()
        write_state(self._folder, self._state)

    def _has_more(self, number: int, file: FileState) -> bool:
        try:
            if file.in_place:
                return Path(file.path).stat().st_size > file.done + file.partial
        except OSError as error:
            raise FormatError(f"{file.name}: can't be read: {error.strerror}") from None
        return not file.is_known or kept_path(self._folder, number).stat().st_size > file.done

    def _read(self, number: int, file: FileState) -> None:
        path = file.path
        if file.in_place:
            note_size(file)
        else:
            path = str(kept_path(self._folder, number))
            if not file.is_known:
                note_size(file)
                keep(self._state.source, file, Path(path), self._log.add)
                self._save()
        size = Path(path).stat().st_size
        for scanned in scans(reader_of(self._state.source, file), number, path, file.done or file.start, size):
            self._take(file, scanned)
            if self._parts.rows >= PART_ROWS:
                self._save_place(file, path)
            self._tell(file.done, size)
        self._save_place(file, path)

    def _take(self, file: FileState, scanned: Scanned) -> None:
        found = scanned.found
        before = file.first_line - 1 + file.lines if file.in_place else 0
        table, dropped = self._numbers().numbered(scanned.table, before)
        for problem in found.problems:
            self._log.add(msgspec.structs.replace(problem, path=file.name, line=problem.line + before))
        for line, sample_id in dropped:
            self._log.add(_repeated(file.name, line, sample_id))
        file.lines += found.lines
        file.done, file.partial = found.done, found.partial
        self._state.rows += table.num_rows
        self._parts.add(table)

    def _save_place(self, file: FileState, path: str) -> None:
        self._parts.flush()
        file.head, file.tail = ends_of(path, file.done)
        self._save()

    def _numbers(self) -> Numbering:
        if self.numbering is None:
            self.numbering = Numbering()
            self.numbering.note(self._parts.tables(("task_id", "model", "id_hash")))
        return self.numbering


def reader_of(source: RolloutSource, file: FileState) -> RowReader:
    """How the rows of a file of the source are read."""
    return RowReader(file.path, file.name, file.format, source.field_map, kept=not file.in_place)


def _repeated(path: str, line: int, sample_id: str) -> Problem:
    """The problem of a row whose sample came before."""
    message = f"sample_id {sample_id!r} came before: this row is skipped; give each sample its own id"
    return Problem(path, line, message, reason="repeated id")


def _usable(source: RolloutSource, folder: Path) -> State:
    """What was kept, if its files are the same or have grown; else an empty state, which says what happened."""
    state = read_state(folder)
    if state is None:
        _empty(folder)
        return State(source=source, began=time.time_ns())
    notices = list(filter(None, (_what_happened(source, file) for file in state.files)))
    if not notices:
        state.source = source
        return state
    _empty(folder)
    state = State(source=source, notice=notices[0], began=time.time_ns())
    write_state(folder, state)  # what happened is known even if the file can't be read now
    return state


def _what_happened(source: RolloutSource, file: FileState) -> str:
    """What makes it necessary to read a file again, as a sentence; "" if it is the same or has only grown."""
    if file.path not in {each.path for each in source.files}:
        return f"{file.name} is gone: the other files were read again"
    why = has_changed(file)
    return f"{file.name} {why}: it was read again from its start" if why else ""


def _empty(folder: Path) -> None:
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        elif path.name != LOCK:
            with contextlib.suppress(OSError):
                path.unlink()


def _opened(source: RolloutSource, file: File) -> FileState:
    layout = layout_of(NamedFile(Path(file.path), file.name), Role.ROLLOUTS, source.format, source.field_map)
    if not layout.format.name:
        raise no_rows(file.name)
    in_place = layout.in_place and not _is_list_at(file.path, layout.offset)
    state = FileState(
        path=file.path, name=file.name, in_place=in_place, format=layout.format.name, container=layout.container
    )
    if in_place:
        state.start, state.first_line = layout.offset, layout.line
    return state


def _is_list_at(path: str, offset: int) -> bool:
    """Whether the first row is a list: such rows are identified by their number in the file."""
    with Path(path).open("rb") as file:
        file.seek(offset)
        return file.read(1) == b"["


class _Parts:
    """The Parquet files of the columns, of which one is added each time."""

    def __init__(self, folder: Path, state: State) -> None:
        self._folder = folder
        self._state = state
        self._waiting: list[pa.Table] = []
        self.rows = 0
        """That wait to be written."""

    def tables(self, columns: tuple[str, ...]) -> Iterator[pa.Table]:
        for part in self._state.parts:
            yield pq.read_table(self._path(part), columns=list(columns))

    def add(self, table: pa.Table) -> None:
        if table.num_rows:
            self._waiting.append(table)
            self.rows += table.num_rows

    def flush(self) -> None:
        if not self._waiting:
            return
        self._state.parts = [*self._state.parts, self._write(self._waiting)]
        self._waiting, self.rows = [], 0
        small = self._small_at_the_end()
        if len(small) > MOST_SMALL_PARTS:
            tables = [pq.read_table(self._path(part)) for part in small]
            self._state.parts = [*self._state.parts[: -len(small)], self._write(tables)]

    def _path(self, part: int) -> Path:
        return part_path(self._folder, "rollouts", part)

    def _write(self, tables: list[pa.Table]) -> int:
        part = max(part_ordinals(self._folder, "rollouts"), default=-1) + 1
        table = pa.concat_tables(tables, promote_options="default").unify_dictionaries()
        self._path(part).parent.mkdir(exist_ok=True)
        with replacing(self._path(part)) as path:
            pq.write_table(table, path, compression="zstd")
        return part

    def _small_at_the_end(self) -> list[int]:
        """The last parts that are not full, at most so many that they fit into one."""
        small: list[int] = []
        rows = 0
        for part in reversed(self._state.parts):
            rows += pq.read_metadata(self._path(part)).num_rows
            if rows > PART_ROWS + self._state.rows // 4:
                break
            small.insert(0, part)
        return small


def _forget_superseded(folder: Path, state: State) -> None:
    """Remove parts that were made one. A reader may still have the newest of them open."""
    old = [part for part in part_ordinals(folder, "rollouts") if part not in state.parts]
    for part in old[: -MOST_SMALL_PARTS - 1]:
        part_path(folder, "rollouts", part).unlink(missing_ok=True)
