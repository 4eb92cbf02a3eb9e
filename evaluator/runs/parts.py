"""Parquet files of a run: a part of rollouts with their cases, from columns that workers made, and tables from rows.

What a killed writer had not yet put into a part is in a journal, an Arrow stream: each graded batch is on disk as soon
as it has arrived. A run being written has one, `.journal-00007`, for the part that comes next. When that part is in
place the journal is removed; if the process is killed before, the next writer makes the part from it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any, Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from evaluator.extras import needs
from evaluator.runs.files import part_path
from evaluator.runs.schema import (
    CASE_COLUMNS,
    MADE_BY_WORKERS,
    ROLLOUT_COLUMNS,
    TABLES,
    TASK_COLUMNS,
    Column,
    Manifest,
    TaskRow,
    safe_text,
)
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
_BATCH_BYTES: Final = 16 << 20
"""Of the texts of tasks that are written at once."""


def _schema(columns: Sequence[Column[Any]]) -> pa.Schema:
    return pa.schema([(column.name, _ARROW_TYPES[column.type]) for column in columns])


def arrow_array(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """The values as an array, with `safe_text`."""
    try:
        return pa.array(values, kind)
    except UnicodeEncodeError:  # rare, so only handled after it happens
        return pa.array([safe_text(value) if isinstance(value, str) else value for value in values], kind)


def _parquet_writer(path: Path, columns: Sequence[Column[Any]]) -> pq.ParquetWriter:
    # For columns whose texts all differ, a dictionary costs time and saves nothing. So do their statistics, which hold
    # a copy of the least and the greatest text.
    repeated = [c.name for c in columns if c.name not in _UNIQUE_TEXT and not c.type.startswith("list")]
    return pq.ParquetWriter(
        path, _schema(columns), compression="zstd", use_dictionary=repeated, write_statistics=repeated
    )


class TaskFile:
    """A file of tasks, written in batches as they are added under another name, and put in place at the end."""

    def __init__(self, target: Path) -> None:
        self._target = target
        self._temporary = target.with_name(f"{target.name}.tmp")
        self._writer: pq.ParquetWriter | None = None
        self._rows: list[list[Any]] = []
        self._bytes = 0

    def add(self, row: TaskRow) -> None:
        """Add a task."""
        values = [column.get(row) for column in TASK_COLUMNS]
        self._rows.append(values)
        self._bytes += sum(len(value) for value in values if isinstance(value, str))
        if self._bytes >= _BATCH_BYTES:
            self._write()

    def finish(self) -> None:
        """Put the file in place. Raises `OSError`."""
        self._write().close()
        self._temporary.replace(self._target)

    def abandon(self) -> None:
        """Remove what there is of it."""
        if self._writer is not None:
            self._writer.close()
        self._temporary.unlink(missing_ok=True)

    def _write(self) -> pq.ParquetWriter:
        writer = self._writer = self._writer or _parquet_writer(self._temporary, TASK_COLUMNS)
        schema = _schema(TASK_COLUMNS)
        arrays = []
        for kind in reversed(schema.types):  # each text is held once, however long: a task may have 100 MB of tests
            arrays.append(arrow_array([row.pop() for row in self._rows], kind))
        self._rows, self._bytes = [], 0
        writer.write_table(pa.table(arrays[::-1], schema=schema))
        del arrays
        pa.default_memory_pool().release_unused()
        return writer


_PREFIX: Final = ".journal-"
_JOURNAL: Final = pa.schema(
    {"rows": pa.list_(pa.int64()), "columns": pa.binary()},
    metadata={"columns": repr([(c.name, c.type) for table in ("rollouts", "cases") for c in TABLES[table]])},
)
"""A row is a batch: the ordinals of its rollouts in their file, and what `runs.schema` made."""


class Part:
    """Rows for one part, as batches of columns, and the journal that has them until the part is in place."""

    def __init__(self, run: Path, ordinal: int) -> None:
        self._run = run
        self._ordinal = ordinal
        self._batches: list[list[bytes]] = []
        self._places: list[int] = []
        self._journal: IO[bytes] | None = None
        """Made with the first batch."""
        self.bytes = 0

    @property
    def rows(self) -> int:
        """How many rollouts."""
        return len(self._places)

    def add(self, rows: Sequence[int], columns: bytes) -> None:
        """Adds a batch of rollouts, which have these ordinals in their file; it is on disk when this returns.

        Raises `OSError`.
        """
        if self._journal is None:
            self._journal = self._journal_path.open("wb")
            self._journal.write(_JOURNAL.serialize())
        self._journal.write(pa.record_batch([[rows], [columns]], schema=_JOURNAL).serialize())
        self._journal.flush()
        self.take(rows, columns)

    def take(self, rows: Sequence[int], columns: bytes) -> None:
        """The same for a batch that a journal has."""
        self._batches.append(msgspec.msgpack.decode(columns, type=list[bytes]))
        self._places.extend(rows)
        self.bytes += len(columns)

    @property
    def _journal_path(self) -> Path:
        return self._run / f"{_PREFIX}{self._ordinal:05d}"

    def forget(self) -> None:
        """Removes the journal: the part is in place, or nobody wants it."""
        if self._journal is not None:
            with contextlib.suppress(OSError):  # on a full disk what waits to be written, which nobody needs any more
                self._journal.close()
            self._journal = None
            self._journal_path.unlink(missing_ok=True)

    def write(self, manifest: Manifest) -> tuple[str, ...]:
        """Puts both files in place, and returns the sandbox layers of the last rollout. Raises `OSError`."""
        joined = map(b"".join, zip(*self._batches, strict=True))
        own = {column.name: _array(_ARROW_TYPES[column.type], joined) for column in MADE_BY_WORKERS}
        own["row"] = pa.array(self._places, pa.int64())
        for name in ("dataset_hash", "evaluator_version"):
            own[name] = pa.repeat(getattr(manifest, name), self.rows)
        schema = _schema(CASE_COLUMNS)
        cases = pa.table([_array(kind, joined) for kind in schema.types], schema=schema)
        rollouts = pa.table([own[column.name] for column in ROLLOUT_COLUMNS], schema=_schema(ROLLOUT_COLUMNS))
        for table, columns, rows in (("cases", CASE_COLUMNS, cases), ("rollouts", ROLLOUT_COLUMNS, rollouts)):
            target = part_path(self._run, table, self._ordinal)
            with replacing(target) as path, _parquet_writer(path, columns) as writer:
                writer.write_table(rows)
        self.forget()
        return tuple(own["layers"][-1].as_py())


def _array(kind: pa.DataType, packed: Iterator[bytes]) -> pa.Array:
    """The next column of what `runs.schema` made."""
    present = np.frombuffer(next(packed), np.bool_)
    buffers, children = [None if present.all() else _bits(present)], None
    if pa.types.is_string(kind) or pa.types.is_list(kind):
        lengths = np.frombuffer(next(packed), np.int32)
        buffers.append(pa.py_buffer(np.concatenate(([0], np.cumsum(lengths))).astype(np.int32)))
    if pa.types.is_list(kind):
        children = [_array(kind.value_type, packed)]
    elif pa.types.is_boolean(kind):
        buffers.append(_bits(np.frombuffer(next(packed), np.bool_)))
    else:
        buffers.append(pa.py_buffer(next(packed)))
    return pa.Array.from_buffers(kind, len(present), buffers, children=children)


def _bits(values: NDArray[np.bool_]) -> pa.Buffer:
    return pa.py_buffer(np.packbits(values, bitorder="little"))


def recover(run: Path, manifest: Manifest) -> None:
    """Makes the parts that a killed writer had only in its journal. To be called while nobody else writes."""
    for path in run.glob(f"{_PREFIX}*"):
        ordinal = int(path.name.removeprefix(_PREFIX))
        part = Part(run, ordinal)
        if not part_path(run, "rollouts", ordinal).exists():
            for rows, columns in _journaled(path.read_bytes()):
                part.take(rows, columns)
        if part.rows:
            part.write(manifest)
        path.unlink()


def _journaled(journal: bytes) -> Iterator[tuple[list[int], bytes]]:
    """The batches up to where the writer was killed; none of a journal of a version with other columns."""
    with contextlib.suppress(pa.ArrowInvalid, OSError):  # what pyarrow raises where it ends early
        reader = pa.ipc.open_stream(journal)
        if reader.schema.equals(_JOURNAL, check_metadata=True):
            for batch in reader:
                yield batch["rows"][0].as_py(), batch["columns"][0].as_py()
