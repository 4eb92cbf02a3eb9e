"""Writes native rows as a table in a Parquet file: typed columns, and one of JSON text for all other fields.

`evaluator.formats.native` reads them back as the same records.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

from evaluator.extras import needs
from evaluator.formats.conversion import Row
from evaluator.formats.native import METADATA_JSON

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
    "grader": "string", "exit_code": "string", "weights": "list", "limits": "string", "source": "string",
    "licence": "string",
}  # fmt: skip
_JSON_COLUMNS: Final = ("in_outs", "answer", "limits")
_BATCH_ROWS: Final = 1_000
_BATCH_CHARACTERS: Final = 16 << 20


class Table:
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
        self._rows: list[Row] = []
        self._characters = 0
        self.escaped = 0
        """Rows with half of a surrogate pair outside the JSON text: Parquet has no such text."""

    def write(self, row: Row) -> None:
        """Add one native row."""
        cells = self._cells(row)
        self._rows.append(cells)
        self._characters += sum(len(value) for value in cells.values() if isinstance(value, str))
        if len(self._rows) >= _BATCH_ROWS or self._characters >= _BATCH_CHARACTERS:
            self._write_batch()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is None:
            self._write_batch()
        self._writer.close()

    def _cells(self, row: Row) -> Row:
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

    def _escaped(self, row: Row) -> Row:
        safe = {name: _escape(value) if isinstance(value, str) else value for name, value in row.items()}
        self.escaped += safe != row
        return safe


def _escape(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
