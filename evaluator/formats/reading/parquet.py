"""Parquet files: read a batch of rows at a time, and written from native rows. Needs pyarrow.

What is written has typed columns, and one of JSON text for all other fields; `evaluator.formats.native` reads it back.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from datetime import date, datetime, time
from decimal import Decimal
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from evaluator.extras import MissingExtraError, needs
from evaluator.formats.reading.fields import METADATA_JSON
from evaluator.formats.reading.problems import MAX_ROW_BYTES, FormatError, Problem, one_line
from evaluator.formats.reading.registry import ContainerKind, Row
from evaluator.formats.writers import JsonRow
from evaluator.model import JsonValue

_BATCH_BYTES = 16 << 20
_MOST_ROWS = 512
_MAGIC = b"PAR1"


def read_parquet(path: Path) -> Iterator[Row | Problem]:
    """The rows, numbered from 1. Times and dates become ISO text, bytes become text, as far as they are some."""
    try:
        with needs("runs", f"{path}: reading Parquet needs pyarrow"):
            import pyarrow as pa
            from pyarrow import parquet
    except MissingExtraError as error:
        raise FormatError(str(error)) from None
    try:
        file = parquet.ParquetFile(path, buffer_size=1 << 20, pre_buffer=False)
    except (pa.ArrowException, OSError, ValueError) as error:
        why = one_line(str(error))
        raise FormatError(f"{path}: is a Parquet file that is cut off or damaged ({why}): write it again") from None
    with file:
        rows = max(file.metadata.num_rows, 1)
        size = sum(file.metadata.row_group(n).total_byte_size for n in range(file.metadata.num_row_groups))
        number = 0
        for batch in file.iter_batches(min(_MOST_ROWS, max(1, _BATCH_BYTES * rows // max(size, 1)))):
            for part in [batch] if batch.nbytes <= MAX_ROW_BYTES else map(batch.slice, range(len(batch)), repeat(1)):
                if part.nbytes > MAX_ROW_BYTES:
                    message = (
                        f"the row has {part.nbytes / 1e6:.1f} MB, more than the limit of {MAX_ROW_BYTES >> 20} MiB"
                    )
                    number += 1
                    yield Problem(str(path), number, f"{message} per row: it is skipped")
                    continue
                for fields in part.to_pylist():
                    number += 1
                    yield Row(number, {name: _json_value(value) for name, value in fields.items()})


def _json_value(value: Any) -> JsonValue:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list) and not (value and all(type(item) is tuple for item in value)):
        return [*map(_json_value, value)]
    if isinstance(value, dict | list):
        pairs = value.items() if isinstance(value, dict) else value  # a map's
        return {str(_json_value(name)): _json_value(inner) for name, inner in pairs}
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, Decimal):
        number = float(value)
        return number if math.isfinite(number) else str(value)
    return value.isoformat() if isinstance(value, datetime | date | time) else str(value)


CONTAINER = ContainerKind("Parquet", lambda head, _: head.startswith(_MAGIC), read_parquet)


if TYPE_CHECKING:
    import pyarrow as pa

ROLLOUT_COLUMNS: Final = {
    "task_id": "string", "sample_id": "string", "sample_index": "int64", "group": "string", "model": "string",
    "step": "int64", "kind": "string", "completion": "string", "expected_pass": "bool", "given_reward": "double",
    "recorded_verdict": "string", "recorded_word": "string", "recorded_by": "string",
}  # fmt: skip
TASK_COLUMNS: Final = {
    "task_id": "string", "mode": "string", "prompt": "string", "entry_point": "string", "in_outs": "string",
    "test": "string", "answer": "string", "preamble": "string", "reference": "string", "checker": "string",
    "checker_code": "string", "grader": "string", "exit_code": "string", "weights": "list", "limits": "string",
    "time_limit": "double", "memory_limit": "double", "source": "string", "licence": "string",
}  # fmt: skip
_JSON_COLUMNS: Final = ("in_outs", "answer", "limits")
_BATCH_ROWS: Final = 1_000
_BATCH_CHARACTERS: Final = 16 << 20


class Table(AbstractContextManager["Table"]):
    """A Parquet file that is written row by row; memory holds one batch. Close it, or use it as a context manager."""

    def __init__(self, path: Path, columns: Mapping[str, str]) -> None:
        with needs("runs", "Parquet needs pyarrow"):
            import pyarrow as pa
            import pyarrow.parquet as pq

        types = {"list": pa.list_(pa.float64())}
        fields = [(name, types.get(kind) or pa.type_for_alias(kind)) for name, kind in columns.items()]
        self._schema = pa.schema([*fields, (METADATA_JSON, pa.string())])
        self._make: Any = pa.Table.from_pylist
        self._writer = pq.ParquetWriter(path, self._schema, compression="zstd")
        self._rows: list[JsonRow] = []
        self._characters = 0
        self.escaped = 0
        """Rows with half of a surrogate pair outside the JSON text: Parquet has no such text."""

    def write(self, row: JsonRow) -> None:
        """Add one native row."""
        cells = self._cells(row)
        self._rows.append(cells)
        self._characters += sum(len(value) for value in cells.values() if isinstance(value, str))
        if len(self._rows) >= _BATCH_ROWS or self._characters >= _BATCH_CHARACTERS:
            self._write_batch()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self._write_batch()
        self._writer.close()

    def _cells(self, row: JsonRow) -> JsonRow:
        cells = {name: row[name] for name in self._schema.names if name in row and name != METADATA_JSON}
        for name in _JSON_COLUMNS:
            if name in cells:
                cells[name] = json.dumps(cells[name])
        others = {name: value for name, value in row.items() if name not in cells and name != METADATA_JSON}
        cells[METADATA_JSON] = json.dumps(others | row.get(METADATA_JSON, {}))
        return cells

    def _write_batch(self) -> None:
        if self._rows:
            self._writer.write_table(self._table())
        self._rows, self._characters = [], 0

    def _table(self) -> pa.Table:
        try:
            return self._make(self._rows, schema=self._schema)
        except UnicodeEncodeError:  # rare, so only handled after it happens
            return self._make([self._escaped(row) for row in self._rows], schema=self._schema)

    def _escaped(self, row: JsonRow) -> JsonRow:
        safe = {name: _escape(value) if isinstance(value, str) else value for name, value in row.items()}
        self.escaped += safe != row
        return safe


def _escape(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
