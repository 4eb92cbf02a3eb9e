"""Parquet files, a batch of rows at a time. Needs pyarrow."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

from evaluator.extras import MissingExtraError, needs
from evaluator.formats.container_kinds import ContainerKind, Row
from evaluator.formats.problems import FormatError, Problem, one_line
from evaluator.model import JsonValue

MAX_ROW_BYTES = 32 << 20
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
            for part in [batch] if batch.nbytes <= MAX_ROW_BYTES else map(batch.slice, range(len(batch)), _ones()):
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


def _ones() -> Iterator[int]:
    while True:
        yield 1


def _json_value(value: Any) -> JsonValue:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list):
        return _pairs(value) if value and all(type(item) is tuple for item in value) else [*map(_json_value, value)]
    if isinstance(value, dict):
        return {str(name): _json_value(inner) for name, inner in value.items()}
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, Decimal):
        number = float(value)
        return number if math.isfinite(number) else str(value)
    return value.isoformat() if isinstance(value, datetime | date | time) else str(value)


def _pairs(value: list[Any]) -> JsonValue:
    """A map."""
    return {str(_json_value(name)): _json_value(inner) for name, inner in value}


CONTAINER = ContainerKind("Parquet", lambda head, _: head.startswith(_MAGIC), read_parquet)
