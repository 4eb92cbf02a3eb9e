"""Parquet files of a run: a part of rollouts with their cases, from columns that workers made, and tables from rows.

What a killed writer had not yet put into a part is in a journal: each graded batch is on disk as soon as it has
arrived. A run being written has one, `.journal-00007`, for the part that comes next. When that part is in place the
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
from typing import Any, Final

import msgspec

from evaluator.extras import needs
from evaluator.runs.columns import Columns, made_by_workers
from evaluator.runs.files import part_path
from evaluator.runs.schema import CASE_COLUMNS, ROLLOUT_COLUMNS, TABLES, Column, safe_text
from evaluator.user_files import replacing

with needs("runs", "a run needs pyarrow and duckdb"):
    import pyarrow as pa
    import pyarrow.parquet as pq

_ARROW_TYPES: Final[dict[str, pa.DataType]] = {
    "string": pa.string(),
    "int32": pa.int32(),
    "int64": pa.int64(),
    "double": pa.float64(),
    "bool": pa.bool_(),
    "list<string>": pa.list_(pa.string()),
}
_UNIQUE_TEXT: Final = {"row", "code", "completion", "task", "cases", "prompt", "reference", "test"}


class Rows:
    """Rows for one Parquet file, from one record each."""

    def __init__(self, columns: Sequence[Column[Any]]) -> None:
        self._columns = columns
        self._values: list[list[Any]] = [[] for _ in columns]
        self.bytes = 0

    def add(self, record: object) -> None:
        for column, values in zip(self._columns, self._values, strict=True):
            value = column.get(record)
            if isinstance(value, str):
                self.bytes += len(value)
            values.append(value)

    def table(self) -> pa.Table:
        arrays = [arrow_array(v, _ARROW_TYPES[c.type]) for c, v in zip(self._columns, self._values, strict=True)]
        return pa.table(arrays, schema=_schema(self._columns))


def _schema(columns: Sequence[Column[Any]]) -> pa.Schema:
    return pa.schema([(column.name, _ARROW_TYPES[column.type]) for column in columns])


def arrow_array(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """The values as an array, with `safe_text`."""
    try:
        return pa.array(values, kind)
    except UnicodeEncodeError:  # rare, so only handled after it happens
        return pa.array([_safe(value) for value in values], kind)


def _safe(value: Any) -> Any:
    if isinstance(value, str):
        return safe_text(value)
    return [safe_text(item) for item in value] if isinstance(value, list) else value


def parquet_writer(path: Path, columns: Sequence[Column[Any]]) -> pq.ParquetWriter:
    """A writer of one table's files."""
    # For columns whose texts all differ, a dictionary costs time and saves nothing.
    repeated = [c.name for c in columns if c.name not in _UNIQUE_TEXT and not c.type.startswith("list")]
    return pq.ParquetWriter(path, _schema(columns), compression="zstd", use_dictionary=repeated)


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


_MADE_ROLLOUTS: Final = _schema(made_by_workers(ROLLOUT_COLUMNS))
_MADE_CASES: Final = _schema(CASE_COLUMNS)


class Part:
    """Rows for one part, as batches of columns, and the journal that has them until the part is in place."""

    def __init__(self, run: Path, ordinal: int, origin: Origin) -> None:
        self._run = run
        self._ordinal = ordinal
        self._origin = origin
        self._places: list[int] = []
        self._rollouts: list[pa.RecordBatch] = []
        self._cases: list[pa.RecordBatch] = []
        self._journal: int | None = None
        """The file's descriptor; it is made with the first batch."""
        self.bytes = 0

    @property
    def rows(self) -> int:
        """How many rollouts."""
        return len(self._places)

    def add(self, rows: Sequence[int], columns: Columns) -> None:
        """Adds a batch of rollouts, which have these ordinals in their file; it is on disk when this returns.

        Raises `OSError` and `pa.ArrowInvalid`.
        """
        frame = _frame(Entry(list(rows), *columns))
        if self._journal is None:
            self._journal = os.open(self._journal_path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666)
            frame = _frame(self._origin) + frame
        view = memoryview(frame)
        while view:
            view = view[os.write(self._journal, view) :]
        self.take(rows, columns)

    def take(self, rows: Sequence[int], columns: Columns) -> None:
        """The same for a batch that a journal has. Raises `pa.ArrowInvalid`."""
        rollouts, cases = columns
        self._rollouts.append(pa.ipc.read_record_batch(pa.py_buffer(rollouts), _MADE_ROLLOUTS))
        self._cases.append(pa.ipc.read_record_batch(pa.py_buffer(cases), _MADE_CASES))
        self._places.extend(rows)
        self.bytes += len(rollouts) + len(cases)

    @property
    def _journal_path(self) -> Path:
        return self._run / f"{_PREFIX}{self._ordinal:05d}"

    def forget(self) -> None:
        """Removes the journal: the part is in place, or nobody wants it."""
        if self._journal is not None:
            os.close(self._journal)
            self._journal = None
            self._journal_path.unlink(missing_ok=True)

    def last_layers(self) -> tuple[str, ...]:
        """The sandbox layers of the last rollout."""
        return tuple(self._rollouts[-1].column("layers")[-1].as_py() or ())

    def write(self) -> None:
        """Puts both files in place. Raises `OSError`."""
        cases = pa.Table.from_batches(self._cases, _MADE_CASES)
        rollouts = pa.Table.from_batches(self._rollouts, _MADE_ROLLOUTS)
        given = {
            "row": pa.array(self._places, pa.int64()),
            "dataset_hash": pa.repeat(pa.scalar(self._origin.dataset_hash, pa.string()), self.rows),
            "evaluator_version": pa.repeat(pa.scalar(self._origin.evaluator_version, pa.string()), self.rows),
        }
        for place, column in enumerate(ROLLOUT_COLUMNS):
            if column.name in given:
                rollouts = rollouts.add_column(place, column.name, given[column.name])
        for table, columns, rows in (("cases", CASE_COLUMNS, cases), ("rollouts", ROLLOUT_COLUMNS, rollouts)):
            target = part_path(self._run, table, self._ordinal)
            with replacing(target) as path, parquet_writer(path, columns) as writer:
                writer.write_table(rows)
        self.forget()


def recover(run: Path) -> None:
    """Makes the parts that a killed writer had only in its journal. To be called while nobody else writes."""
    for ordinal, path in journals(run):
        found = None if part_path(run, "rollouts", ordinal).exists() else read_journal(path)
        if found is not None:
            part = Part(run, ordinal, found[0])
            for entry in found[1]:
                part.take(entry.rows, (entry.rollouts, entry.cases))
            if part.rows:
                part.write()
        path.unlink()


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
