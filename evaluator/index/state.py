"""What is kept of a source between two openings: its files, how far they were read, where the columns are, and the rows
that could not be used (all of them counted, the first of them kept).
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from evaluator.formats.reading.problems import Problem
from evaluator.runs.files import part_path
from evaluator.runs.schema import safe_text
from evaluator.user_files import cache_folder, replacing

VERSION: Final = 1
STATE: Final = "index.json"
_ENDS_BYTES: Final = 4096


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
    def key(self) -> str:
        """Names the source's folder in the cache, and that of its notes. A folder's further files do not change it."""
        decides = msgspec.json.encode((self.name, self.format, self.field_map))
        return hashlib.sha256(decides).hexdigest()[:20]


class FileState(msgspec.Struct):
    """One file and how far it was read."""

    path: str
    name: str
    in_place: bool = True
    """False: its rollouts are in a file of our own beside the index."""
    format: str = ""
    container: str = ""
    start: int = 0
    first_line: int = 1
    size: int = 0
    mtime_ns: int = 0
    inode: int = 0
    done: int = 0
    """The first byte that was not read."""
    lines: int = 0
    """Lines before it."""
    partial: int = 0
    """Bytes of a last line that is still being written."""
    head: str = ""
    tail: str = ""
    """Hashes of the first bytes, and of the last before `done`: whether the file is still the same."""

    @property
    def is_known(self) -> bool:
        """Whether its reading has begun."""
        return self.inode != 0


class State(msgspec.Struct, kw_only=True):
    """`index.json`."""

    version: int = VERSION
    source: RolloutSource
    files: list[FileState] = []
    parts: list[int] = []
    """The ordinals of the Parquet files with the columns, in the order of their rows; see `runs.files.part_path`."""
    rows: int = 0
    complete: bool = False
    """Whether everything was read that was there."""
    reasons: dict[str, int] = {}
    """Rows that could not be used, by reason."""
    problems: int = 0
    problem_bytes: int = 0
    """Of the file of stored ones."""
    notice: str = ""
    """What happened to the file that its user should know: it was truncated or replaced."""
    began: int = 0
    """When its first file was read from its start, in nanoseconds; another time is another index."""


def folder_of(source: RolloutSource) -> Path:
    """Where the source's index is kept."""
    return cache_folder("index") / source.key


def kept_path(folder: Path, number: int) -> Path:
    """The file that has the rollouts of a source's file that can't be read in place."""
    return folder / f"rows-{number:05d}.jsonl"


def read_state(folder: Path) -> State | None:
    """The state; None if there is none that this version can use."""
    try:
        state = msgspec.json.decode((folder / STATE).read_bytes(), type=State)
    except (OSError, msgspec.DecodeError, msgspec.ValidationError):
        return None
    needed = [part_path(folder, "rollouts", part) for part in state.parts]
    needed += [kept_path(folder, n) for n, file in enumerate(state.files) if file.is_known and not file.in_place]
    return state if state.version == VERSION and all(path.is_file() for path in needed) else None


def write_state(folder: Path, state: State) -> None:
    """Put the state in place. Raises `OSError`."""
    with replacing(folder / STATE) as path:
        path.write_bytes(msgspec.json.encode(state))


def has_changed(file: FileState) -> str:
    """Why a file is no longer the one that was read, in a few words; "" if it is the same or has only grown."""
    try:
        now = Path(file.path).stat()
        if (now.st_size, now.st_mtime_ns, now.st_ino) == (file.size, file.mtime_ns, file.inode):
            return ""
        if not file.in_place:
            return "was written again"
        if now.st_size < file.done:
            return f"was truncated from {file.size:,} to {now.st_size:,} bytes"
        if (file.head, file.tail) != ends_of(file.path, file.done):
            return "was replaced by another file"
    except OSError as error:
        return f"can't be read: {error.strerror}"
    return "was changed" if now.st_size == file.size and file.done == file.size and now.st_ino == file.inode else ""


def note_size(file: FileState) -> None:
    """Remember the size and the time of what is about to be read. Raises `OSError`."""
    now = Path(file.path).stat()
    file.size, file.mtime_ns, file.inode = now.st_size, now.st_mtime_ns, now.st_ino


def read_at(path: str, at: int, size: int) -> bytes:
    """So many bytes of a file from a place on. Raises `OSError`."""
    with Path(path).open("rb", buffering=0) as file:
        return os.pread(file.fileno(), size, at)


def ends_of(path: str, done: int) -> tuple[str, str]:
    """Hashes of the first bytes and of the last before `done`. Raises `OSError`."""
    with Path(path).open("rb") as file:
        head = file.read(min(_ENDS_BYTES, done))
        file.seek(max(0, done - _ENDS_BYTES))
        tail = file.read(min(_ENDS_BYTES, done))
    return hashlib.sha256(head).hexdigest()[:16], hashlib.sha256(tail).hexdigest()[:16]


KEPT: Final = 10_000
"""Further ones are only counted."""
_FILE: Final = "problems.jsonl"


class ProblemLog:
    """Adds problems to the state's counts, and to the file beside it."""

    def __init__(self, folder: Path, state: State) -> None:
        self._path = folder / _FILE
        self._state = state
        self._new: list[Problem] = []
        if self._path.exists():
            os.truncate(self._path, state.problem_bytes)  # a process that was killed may have written more

    def add(self, problem: Problem) -> None:
        """Count a problem and keep it if there is room."""
        if self._state.problems < KEPT:
            safe = {"path": safe_text(problem.path), "message": safe_text(problem.message)}
            self._new.append(msgspec.structs.replace(problem, **safe))
        self._state.problems += 1
        self._state.reasons[problem.reason] = self._state.reasons.get(problem.reason, 0) + 1

    def save(self) -> None:
        """Write the new ones. Raises `OSError`."""
        if self._new:
            with self._path.open("ab") as file:
                file.write(msgspec.json.Encoder().encode_lines(self._new))
                self._state.problem_bytes = file.tell()
            self._new = []


def kept_problems(folder: Path, state: State) -> Iterator[Problem]:
    """The problems that were kept, in the order in which they were found."""
    if not state.problem_bytes:
        return
    decoder = msgspec.json.Decoder(Problem)
    with (folder / _FILE).open("rb") as file:
        for line in file.read(state.problem_bytes).splitlines():
            yield decoder.decode(line)
