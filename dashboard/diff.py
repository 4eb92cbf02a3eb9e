"""Expected beside actual: which lines and which characters differ, and where the first difference is.

Pure text in, rows out; drawing is `diff_view`'s job. The work is bounded: RapidFuzz's memory grows with the
product of both lengths, so long outputs are cut to a window round the first difference before it is called.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from rapidfuzz.distance import Indel

MAX_LINES = 20_000
"""Lines of both sides together that are aligned; beyond, only the window round the first difference is."""
MAX_CHARACTERS = 5_000
"""Characters of a pair of lines that are compared one by one, round their first difference."""
MAX_PAIRS = 200
"""Pairs of changed lines that are compared one by one."""
_WINDOW = 200
_CONTEXT = 3
_HEAD, _TAIL = 260, 60

Span = tuple[str, bool]
"""A piece of a line, and whether it differs."""


class First(NamedTuple):
    """Where two texts first differ, counted from 1, and what stands there on each side."""

    line: int
    column: int
    expected: str
    actual: str


class Row(NamedTuple):
    """A line of each side; None where a side has no such line. `kind` "fold" says how many rows are left out."""

    kind: Literal["equal", "change", "fold"]
    left_no: int | None
    left: list[Span] | None
    right_no: int | None
    right: list[Span] | None
    folded: int = 0


class Comparison(NamedTuple):
    """The whole picture. `rows` is empty when both texts are the same."""

    first: First | None
    rows: list[Row]
    expected_lines: int
    actual_lines: int
    whole: bool
    """False when only a window round the first difference was aligned."""
    endings: list[str]
    """What can't be seen in the lines: a missing newline at an end, carriage returns."""


def compare(expected: str, actual: str) -> Comparison:
    """Align the two texts. Never slow and never large, whatever they are."""
    left, right = split_lines(expected), split_lines(actual)
    if expected == actual:
        return Comparison(None, [], len(left), len(right), whole=True, endings=[])
    first = first_difference(expected, actual)
    whole = len(left) + len(right) <= MAX_LINES
    start = 0 if whole else max(0, first.line - 1 - _WINDOW // 4)
    if not whole:
        left, right = left[start : start + _WINDOW], right[start : start + _WINDOW]
    rows = _clipped(_folded(list(_aligned(left, right, start))))
    return Comparison(first, rows, _count(expected), _count(actual), whole, _endings(expected, actual))


def split_lines(text: str) -> list[str]:
    """Lines without their newline. Only "\\n" ends a line, so that a carriage return stays to be seen."""
    lines = text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def first_difference(expected: str, actual: str) -> First:
    """The first place where two different texts differ."""
    at = _common_prefix(expected, actual)
    line_start = expected.rfind("\n", 0, at) + 1
    return First(expected.count("\n", 0, at) + 1, at - line_start + 1, _excerpt(expected, at), _excerpt(actual, at))


def _excerpt(text: str, at: int) -> str:
    """The word that stands at a place: up to 24 characters, not beyond the line."""
    if at >= len(text):
        return ""
    if text[at] == "\n":
        return "\n"
    end = text.find("\n", at)
    piece = text[at : end if end >= 0 else len(text)]
    word = piece.split(" ", 1)[0] if not piece[0].isspace() else piece[: len(piece) - len(piece.lstrip())]
    return word[:24]


def _common_prefix(a: str, b: str) -> int:
    low, high = 0, min(len(a), len(b))
    if a[:high] == b[:high]:
        return high
    while low < high:  # slices compare at memory speed, so halving beats a loop over characters
        middle = (low + high + 1) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _common_suffix(a: str, b: str, prefix: int) -> int:
    limit = min(len(a), len(b)) - prefix
    return _common_prefix(a[::-1][:limit], b[::-1][:limit]) if limit > 0 else 0


def _count(text: str) -> int:
    return text.count("\n") + (not text.endswith("\n") and text != "")


def _aligned(left: list[str], right: list[str], start: int) -> Iterator[Row]:
    pairs = 0
    for tag, i1, i2, j1, j2 in _opcodes(left, right):
        if tag == "equal":
            for i, j in zip(range(i1, i2), range(j1, j2), strict=True):
                yield Row("equal", start + i + 1, [(left[i], False)], start + j + 1, [(right[j], False)])
            continue
        for offset in range(max(i2 - i1, j2 - j1)):
            i, j = i1 + offset, j1 + offset
            a = left[i] if i < i2 else None
            b = right[j] if j < j2 else None
            if a is not None and b is not None and pairs < MAX_PAIRS:
                pairs += 1
                spans_a, spans_b = changed_spans(a, b)
            else:
                spans_a, spans_b = [(a or "", False)], [(b or "", False)]
            yield Row(
                "change",
                start + i + 1 if a is not None else None,
                spans_a if a is not None else None,
                start + j + 1 if b is not None else None,
                spans_b if b is not None else None,
            )


def _opcodes(left: list[str], right: list[str]) -> Iterator[tuple[str, int, int, int, int]]:
    """Equal runs and changed blocks; a deletion next to an insertion is one block, to stand side by side."""
    head = 0
    while head < min(len(left), len(right)) and left[head] == right[head]:
        head += 1
    if head:
        yield "equal", 0, head, 0, head
    block: tuple[int, int, int, int] | None = None
    for op in Indel.opcodes(left[head:], right[head:]):
        i1, i2, j1, j2 = op.src_start + head, op.src_end + head, op.dest_start + head, op.dest_end + head
        if op.tag == "equal":
            if block:
                yield "change", *block
                block = None
            yield "equal", i1, i2, j1, j2
        else:
            block = (block[0], i2, block[2], j2) if block else (i1, i2, j1, j2)
    if block:
        yield "change", *block


def changed_spans(a: str, b: str) -> tuple[list[Span], list[Span]]:
    """The characters of two lines that differ. Long lines are compared only round their first difference."""
    prefix = _common_prefix(a, b)
    suffix = _common_suffix(a, b, prefix)
    middle_a, middle_b = a[prefix : len(a) - suffix], b[prefix : len(b) - suffix]
    if len(middle_a) + len(middle_b) > MAX_CHARACTERS:
        return _joined(a, prefix, suffix, [(middle_a, True)]), _joined(b, prefix, suffix, [(middle_b, True)])
    spans_a: list[Span] = []
    spans_b: list[Span] = []
    for op in Indel.opcodes(middle_a, middle_b):
        differs = op.tag != "equal"
        spans_a.append((middle_a[op.src_start : op.src_end], differs))
        spans_b.append((middle_b[op.dest_start : op.dest_end], differs))
    return _joined(a, prefix, suffix, spans_a), _joined(b, prefix, suffix, spans_b)


def _joined(text: str, prefix: int, suffix: int, middle: list[Span]) -> list[Span]:
    spans = [(text[:prefix], False), *middle, (text[len(text) - suffix :] if suffix else "", False)]
    return [span for span in spans if span[0]]


def _folded(rows: list[Row]) -> list[Row]:
    """Long runs of equal lines become one row that says how many there are."""
    keep = [False] * len(rows)
    for index, row in enumerate(rows):
        if row.kind == "change":
            for near in range(max(0, index - _CONTEXT), min(len(rows), index + _CONTEXT + 1)):
                keep[near] = True
    out: list[Row] = []
    hidden = 0
    for row, kept in zip(rows, keep, strict=True):
        if kept:
            out += [_fold(hidden)] if hidden else []
            hidden = 0
            out.append(row)
        else:
            hidden += 1
    return out + ([_fold(hidden)] if hidden else [])


def _clipped(rows: list[Row]) -> list[Row]:
    """The head and the tail: extra output at the end is always shown."""
    if len(rows) <= _HEAD + _TAIL:
        return rows
    return [*rows[:_HEAD], _fold(sum(row.folded or 1 for row in rows[_HEAD:-_TAIL])), *rows[-_TAIL:]]


def _fold(count: int) -> Row:
    return Row("fold", None, None, None, None, count)


def _endings(expected: str, actual: str) -> list[str]:
    found: list[str] = []
    if not expected or not actual:
        return found
    if expected.endswith("\n") and not actual.endswith("\n"):
        found.append("actual has no newline at its end")
    elif actual.endswith("\n") and not expected.endswith("\n"):
        found.append("expected has no newline at its end, actual has one")
    for name, text, other in (("expected", expected, actual), ("actual", actual, expected)):
        if "\r" in text and "\r" not in other:
            found.append(f"{name} has {text.count(chr(13))} carriage returns")
    return found
