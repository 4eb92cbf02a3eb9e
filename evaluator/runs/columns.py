"""Columns of graded rollouts, made without pyarrow: by the workers, so that the run's writer only puts them together.

What is made of a column can be joined with what is made of it for other rollouts. `runs.parts` makes Arrow's arrays of
it. The columns that only the run's writer knows (`of_the_run`) are left out.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from typing import Any, Final

import msgspec

from evaluator.model import Grade, Rollout
from evaluator.runs.schema import CASE_COLUMNS, ROLLOUT_COLUMNS, CaseRow, GradedRow, of_the_run

MADE_BY_WORKERS: Final = tuple(column for column in ROLLOUT_COLUMNS if column.get is not of_the_run)


def columns_of(rollouts: Sequence[Rollout], grades: Sequence[Grade]) -> bytes:
    """The rows of `rollouts` and of `cases` for these grades: a packed list of the bytes of all columns.

    First those of `MADE_BY_WORKERS`, then those of `CASE_COLUMNS`. Each column has a byte for each value, 0 where it is
    null; then its numbers, or the lengths of its texts and the texts in UTF-8, or the lengths of its lists and the
    same for the texts in them.
    """
    rows = [GradedRow(*pair) for pair in zip(rollouts, grades, strict=True)]
    cases = [CaseRow(grade, case) for grade in grades for case in grade.cases]
    packed: list[bytes] = []
    for rollout_column in MADE_BY_WORKERS:
        _PACKED[rollout_column.type](list(map(rollout_column.get, rows)), packed)
    for case_column in CASE_COLUMNS:
        _PACKED[case_column.type](list(map(case_column.get, cases)), packed)
    return msgspec.msgpack.encode(packed)


def _numbers(code: str) -> Callable[[Sequence[Any], list[bytes]], None]:
    def add(values: Sequence[Any], packed: list[bytes]) -> None:
        packed += (_present(values), array(code, [value or 0 for value in values]).tobytes())

    return add


def _texts(values: Sequence[Any], packed: list[bytes]) -> None:
    try:
        encoded = [value.encode() if value else b"" for value in values]
    except UnicodeEncodeError:  # rare; as `safe_text`: lone surrogates are written as \udXXX
        encoded = [value.encode("utf-8", "backslashreplace") if value else b"" for value in values]
    packed += (_present(values), _lengths(encoded), b"".join(encoded))


def _lists(values: Sequence[Any], packed: list[bytes]) -> None:
    packed += (_present(values), _lengths(values))
    _texts([text for value in values for text in value], packed)


def _present(values: Sequence[Any]) -> bytes:
    return bytes([value is not None for value in values])


def _lengths(values: Sequence[Any]) -> bytes:
    return array("i", map(len, values)).tobytes()


_PACKED: Final[dict[str, Callable[[Sequence[Any], list[bytes]], None]]] = {
    "string": _texts,
    "int32": _numbers("i"),
    "int64": _numbers("q"),
    "double": _numbers("d"),
    "bool": _numbers("b"),
    "list<string>": _lists,
}
