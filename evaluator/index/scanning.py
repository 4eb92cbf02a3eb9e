"""Reads the rows of a part of a file into the columns of an index: one pass over its bytes, without keeping a text.

A column has what is known of a rollout without its texts, or where its row is in the file.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
import pyarrow as pa

from evaluator.formats.reading.containers import MAX_ROW_BYTES, is_incomplete
from evaluator.formats.reading.loader import own_number
from evaluator.formats.reading.problems import Problem, snippet_of
from evaluator.index.numbering import id_hash
from evaluator.index.rows_of import RowReader
from evaluator.model import Rollout, Verdict
from evaluator.recorded import recorded_grade
from evaluator.runs.parts import arrow_array

_READ_BYTES: Final = 1 << 20


class Span(msgspec.Struct, frozen=True):
    """The rows of a file that begin at `start` or later and before `end`.

    `start` need not be the beginning of a row, unless `exact`: then the row that it is in belongs to the span before.
    """

    file: int
    path: str
    start: int
    end: int
    exact: bool = False


class Found(msgspec.Struct):
    """What was read besides the columns. Lines count from 1 at the span's first row."""

    lines: int = 0
    """Line feeds."""
    done: int = 0
    """The first byte that was not read: the end of the last complete row."""
    partial: int = 0
    """Bytes of a last line that is still being written."""
    problems: list[Problem] = []


class Scanned(NamedTuple):
    """The columns of a span, with `id_hash` besides, and what else was found."""

    table: pa.Table
    found: Found


def scan(reader: RowReader, span: Span) -> Scanned:
    """Reads a span. Raises `OSError`; a bad row is a problem."""
    rows: list[tuple[Any, ...]] = []
    found = Found(done=span.start)
    for line, at, data in lines(span, found):
        if data.isspace():
            continue
        for nth, rollout in enumerate(reader.rollouts(data, line, at, found.problems)):
            _number_by_name(rollout)
            place = Place(span.file, at, len(data), nth)
            hashed = id_hash(rollout.sample_id) if rollout.sample_id else 0
            number = rollout.line if reader.kept else line
            rows.append(values_of(rollout, place, number, hashed))
    columns = zip(*rows, strict=True) if rows else [()] * len(COLUMNS)
    arrays = [_array(kind, values) for kind, values in zip(COLUMNS.values(), columns, strict=True)]
    return Scanned(pa.table(arrays, names=list(COLUMNS)), found)


def _number_by_name(rollout: Rollout) -> None:
    if rollout.sample_index is None and rollout.sample_id:
        rollout.sample_index = own_number(rollout.sample_id)


def _array(kind: pa.DataType, values: Sequence[Any]) -> pa.Array:
    if pa.types.is_dictionary(kind):
        return arrow_array(values, kind.value_type).dictionary_encode()
    return arrow_array(values, kind)


def lines(span: Span, found: Found) -> Iterator[tuple[int, int, bytes]]:
    """Each row's line, first byte, and bytes. A last line without a line feed is one if it is complete."""
    with Path(span.path).open("rb", buffering=_READ_BYTES) as file:
        at = span.start
        if at and not span.exact:
            file.seek(at - 1)
            at += len(_through_line(file)) - 1  # a line that begins at `start` is ours
        file.seek(at)
        found.done = max(at, span.start)
        while at < span.end:
            data = file.readline(MAX_ROW_BYTES + 1)
            if not data:
                return
            if not data.endswith(b"\n") and len(data) > MAX_ROW_BYTES:
                at = _skip(file, span, found, at, data)
                continue
            if not data.endswith(b"\n") and is_incomplete(data):
                found.partial = len(data)
                return
            yield found.lines + 1, at, data
            found.lines += data.endswith(b"\n")
            at += len(data)
            found.done = at


def _through_line(file: Any) -> bytes:
    """The bytes up to the next line feed, the length of which alone matters."""
    read: list[bytes] = []
    while data := file.readline(_READ_BYTES):
        read.append(data)
        if data.endswith(b"\n"):
            break
    return b"".join(read)


def _skip(file: Any, span: Span, found: Found, at: int, data: bytes) -> int:
    size = len(data) + len(_through_line(file))
    found.lines += 1
    limit = MAX_ROW_BYTES // (1024 * 1024)
    message = f"the row has {size / 1e6:.1f} MB, more than the limit of {limit} MiB per row: it is skipped"
    found.problems.append(Problem(span.path, found.lines, message, snippet_of(data), offset=at))
    found.done = at + size
    return found.done


MAX_MESSAGE: Final = 500
"""Characters of a recorded message that are kept; the file has the rest."""


NOT_GRADED: Final = "not graded yet"
"""The message of rollouts that came without a grade."""


class Place(NamedTuple):
    """Where a rollout is: the file's ordinal, the row's first byte and its size, and which of the row's rollouts."""

    file: int
    at: int
    size: int
    nth: int


_WORD: Final = pa.dictionary(pa.int32(), pa.string())

COLUMNS: Final[dict[str, pa.DataType]] = {
    "task_id": pa.string(),
    "sample_id": pa.string(),
    "sample_index": pa.int64(),
    "group": pa.string(),
    "model": _WORD,
    "step": pa.int64(),
    "reward": pa.float64(),
    "verdict": _WORD,
    "error_message": _WORD,
    "expected_pass": pa.bool_(),
    "given_reward": pa.float64(),
    "recorded_reward": pa.float64(),
    "recorded_verdict": _WORD,
    "recorded_word": _WORD,
    "recorded_by": _WORD,
    "length": pa.int64(),
    "source_line": pa.int64(),
    "file": pa.int32(),
    "at": pa.int64(),
    "size": pa.int64(),
    "nth": pa.int32(),
    "id_hash": pa.uint64(),
}
"""Each column's name and Arrow type. `length` is in characters; `id_hash` is 0 until a sample has an id."""


def values_of(rollout: Rollout, place: Place, line: int, id_hash: int) -> tuple[Any, ...]:
    """One row, in the order of `COLUMNS`."""
    verdict, reward, message = recorded_grade(rollout)
    if reward is not None and not math.isfinite(reward):
        verdict, reward = Verdict.UNKNOWN, None
    if verdict is Verdict.UNKNOWN and rollout.recorded_verdict is None and rollout.given_reward is None:
        message = NOT_GRADED
    return (
        rollout.task_id, rollout.sample_id, rollout.sample_index, rollout.group, rollout.model, rollout.step,
        reward, verdict, message[:MAX_MESSAGE] if message else None, rollout.expected_pass,
        rollout.given_reward, rollout.given_reward, rollout.recorded_verdict, rollout.recorded_word,
        rollout.recorded_by, len(rollout.completion), line, *place, id_hash,
    )  # fmt: skip
