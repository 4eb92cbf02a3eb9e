"""What a killed writer had not yet put into a part: each graded batch is on disk as soon as it has arrived.

A run being written has one journal, `.journal-00007`, for the part that comes next. When that part is in place the
journal is removed; if the process is killed before, the next writer makes the part from it.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import struct
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec

from evaluator.runs.columns import Columns
from evaluator.runs.schema import TABLES

_PREFIX: Final = ".journal-"
_HEAD: Final = struct.Struct("<II")  # length, checksum
_LAYOUT: Final = hashlib.sha256(
    repr([[(column.name, column.type) for column in TABLES[table]] for table in ("rollouts", "cases")]).encode()
).hexdigest()


class Origin(msgspec.Struct):
    """What all rows of a journal have in common."""

    dataset_hash: str
    evaluator_version: str
    layout: str = _LAYOUT
    """Of the columns: a journal of a version with others is not read."""


class Entry(msgspec.Struct, array_like=True):
    """One batch."""

    rows: list[int]
    rollouts: bytes
    cases: bytes


class Journal:
    """The journal for one part. The file is made with the first batch."""

    def __init__(self, run: Path, ordinal: int, origin: Origin) -> None:
        self._path = run / f"{_PREFIX}{ordinal:05d}"
        self._origin = origin
        self._descriptor: int | None = None

    def add(self, rows: Sequence[int], columns: Columns) -> None:
        """Writes a batch. Raises `OSError`."""
        frame = _frame(Entry(list(rows), *columns))
        if self._descriptor is None:
            self._descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666)
            frame = _frame(self._origin) + frame
        view = memoryview(frame)
        while view:
            view = view[os.write(self._descriptor, view) :]

    def remove(self) -> None:
        """The part is in place, or nobody wants it."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
            self._path.unlink(missing_ok=True)


def journals(run: Path) -> Iterator[tuple[int, Path]]:
    """The ordinal of the part and the file of each journal that was left behind."""
    for path in run.glob(f"{_PREFIX}*"):
        with contextlib.suppress(ValueError):
            yield int(path.name.removeprefix(_PREFIX)), path


def read_journal(path: Path) -> tuple[Origin, list[Entry]] | None:
    """Its batches up to where the writer was killed; None if it can't be used."""
    frames = _frames(path.read_bytes())
    try:
        origin = msgspec.msgpack.decode(next(frames, b""), type=Origin)
        if origin.layout != _LAYOUT:
            return None
        return origin, [msgspec.msgpack.decode(frame, type=Entry) for frame in frames]
    except msgspec.MsgspecError:
        return None


def _frame(record: object) -> bytes:
    body = msgspec.msgpack.encode(record)
    return _HEAD.pack(len(body), zlib.crc32(body)) + body


def _frames(data: bytes) -> Iterator[bytes]:
    at = 0
    while len(data) - at >= _HEAD.size:
        length, checksum = _HEAD.unpack_from(data, at)
        body = data[at + _HEAD.size : at + _HEAD.size + length]
        if len(body) < length or zlib.crc32(body) != checksum:
            return
        yield body
        at += _HEAD.size + length
