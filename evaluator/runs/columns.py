"""Columns of graded rollouts in Arrow's layout, made without pyarrow: by the workers, so that the run's writer only
appends them.

What is made is a record batch as Arrow's IPC format has it (a flatbuffer that says where each buffer is, then the
buffers), which `pyarrow.ipc.read_record_batch` takes as it is. The columns that only the run's writer knows
(`of_the_run`) are left out: see `made_by_workers`.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import Any, Final

from evaluator.model import Grade, Rollout
from evaluator.runs.schema import CASE_COLUMNS, ROLLOUT_COLUMNS, CaseRow, Column, GradedRow, of_the_run

_ALIGNED: Final = 8
Buffers = list[bytes]
Columns = tuple[bytes, bytes]
"""The rows of `rollouts` and those of `cases`, for the same grades."""


def made_by_workers(columns: Sequence[Column[Any]]) -> list[Column[Any]]:
    """These columns without the ones that only the run's writer knows."""
    return [column for column in columns if column.get is not of_the_run]


_OF_ROLLOUTS: Final = made_by_workers(ROLLOUT_COLUMNS)
_OF_CASES: Final = made_by_workers(CASE_COLUMNS)


def columns_of(rollouts: Sequence[Rollout], grades: Sequence[Grade]) -> Columns:
    """The rows of `rollouts` and of `cases` for these grades."""
    return rollout_columns(rollouts, grades), case_columns(grades)


def rollout_columns(rollouts: Iterable[Rollout], grades: Iterable[Grade]) -> bytes:
    """The rows of `rollouts` for these grades."""
    return _batch(_OF_ROLLOUTS, [GradedRow(*pair) for pair in zip(rollouts, grades, strict=True)])


def case_columns(grades: Iterable[Grade]) -> bytes:
    """The rows of `cases` for these grades."""
    return _batch(_OF_CASES, [CaseRow(grade, case) for grade in grades for case in grade.cases])


def _batch(columns: Sequence[Column[Any]], records: Sequence[object]) -> bytes:
    nodes: list[tuple[int, int]] = []
    """Of each array, also one within another: its length, and how many of it are null."""
    buffers: Buffers = []
    for column in columns:
        _ARRAYS[column.type](list(map(column.get, records)), nodes, buffers)
    return _message(len(records), nodes, buffers)


# ---- arrays: each adds its node and its buffers, and those of what is in it


def _validity(values: Sequence[Any], nodes: list[tuple[int, int]], buffers: Buffers) -> None:
    nulls = values.count(None)
    nodes.append((len(values), nulls))
    if nulls == len(values):
        buffers.append(bytes((nulls + 7) // 8))
    else:
        buffers.append(_bits([value is not None for value in values]) if nulls else b"")


def _bits(values: list[bool]) -> bytes:
    text = "".join(["1" if value else "0" for value in reversed(values)])
    return int(text, 2).to_bytes((len(text) + 7) // 8, "little") if text else b""


def _numbers(code: str) -> Callable[[Sequence[Any], list[tuple[int, int]], Buffers], None]:
    def add(values: Sequence[Any], nodes: list[tuple[int, int]], buffers: Buffers) -> None:
        _validity(values, nodes, buffers)
        if nodes[-1][1]:
            values = [0 if value is None else value for value in values]
        buffers.append(array(code, values).tobytes())

    return add


def _booleans(values: Sequence[Any], nodes: list[tuple[int, int]], buffers: Buffers) -> None:
    _validity(values, nodes, buffers)
    buffers.append(_bits(list(map(bool, values))))


def _texts(values: Sequence[Any], nodes: list[tuple[int, int]], buffers: Buffers) -> None:
    _validity(values, nodes, buffers)
    if nodes[-1][1] == len(values):
        buffers += (bytes(4 * (len(values) + 1)), b"")
        return
    try:
        encoded = [value.encode() if value else b"" for value in values]
    except UnicodeEncodeError:  # rare; as `safe_text`: lone surrogates are written as \udXXX
        encoded = [value.encode("utf-8", "backslashreplace") if value else b"" for value in values]
    buffers += (_offsets(encoded), b"".join(encoded))


def _lists(values: Sequence[Any], nodes: list[tuple[int, int]], buffers: Buffers) -> None:
    _validity(values, nodes, buffers)
    buffers.append(_offsets(values))
    _texts([text for value in values for text in value], nodes, buffers)


def _offsets(values: Sequence[Any]) -> bytes:
    return array("i", accumulate(map(len, values), initial=0)).tobytes()


_ARRAYS: Final[dict[str, Callable[[Sequence[Any], list[tuple[int, int]], Buffers], None]]] = {
    "string": _texts,
    "int32": _numbers("i"),
    "int64": _numbers("q"),
    "double": _numbers("d"),
    "bool": _booleans,
    "list<string>": _lists,
}


# ---- the message: see Message.fbs and Schema.fbs of Arrow's format

_VERSION_5, _RECORD_BATCH = 4, 3
_CONTINUES: Final = b"\xff\xff\xff\xff"


def _message(rows: int, nodes: Sequence[tuple[int, int]], buffers: Sequence[bytes]) -> bytes:
    body: list[bytes] = []
    places: list[int] = []
    at = 0
    for buffer in buffers:
        places += (at, len(buffer))
        padding = -len(buffer) % _ALIGNED
        body += (buffer, bytes(padding))
        at += len(buffer) + padding
    table = _flatbuffer(rows, [number for node in nodes for number in node], places, at)
    return b"".join((_CONTINUES, struct.pack("<i", len(table)), table, *body))


def _flatbuffer(rows: int, nodes: list[int], places: list[int], body_bytes: int) -> bytes:
    """`Message{version, header: RecordBatch{length, nodes, buffers}, bodyLength}`.

    A table begins with the distance back to its vtable, which says how long it is, how long the table, and where in
    the table each field is. A reference is the distance to what it refers to.
    """
    at_message, at_batch, at_nodes = 16, 48, 68
    at_places = at_nodes + 8 + 8 * len(nodes)  # so that what follows the length is aligned, as it is at `at_nodes`
    head = struct.pack(
        "<I6H iIqHBx 5H2x iIqI",
        at_message,
        *(12, 20, 16, 18, 4, 8),  # the message's vtable: version, type of the header, header, bodyLength
        *(12, at_batch - 20, body_bytes, _VERSION_5, _RECORD_BATCH),
        *(10, 20, 8, 4, 16),  # the record batch's: length, nodes, buffers
        *(12, at_nodes - 52, rows, at_places - 64),
    )
    counted = struct.pack(f"<I{len(nodes)}q", len(nodes) // 2, *nodes)
    return head + counted + struct.pack(f"<4xI{len(places)}q", len(places) // 2, *places)
