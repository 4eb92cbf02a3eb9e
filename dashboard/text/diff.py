"""Expected beside actual: which lines, or items of values, and which words differ, and where the first difference is.

Rows come out; `diff_view` draws them. The work is bounded: RapidFuzz's memory grows with the product of
both lengths, so long outputs are cut to a window around the first difference first.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from rapidfuzz.distance import Indel

from dashboard.facts import counted
from dashboard.text.words import Span, changed_spans, opcodes, shared_head
from evaluator.checkers import common_prefix
from evaluator.model import Excerpt

GAP = "\n"
"""The place of the missing part among the lines. No line is equal to it, as none holds a newline."""

_CUT = re.compile(r"[ \n]\.\.\. ([\d,]+) characters left out \.\.\.[ \n]")
_LEAST_KEPT = 2_000
"""The fewest characters of head and tail together; in a shorter text, a program printed these words."""
_HEAD_TO_TAIL = (2, 3)
"""How many times longer than the tail the head may be."""


class Side(NamedTuple):
    """The lines of an output without their newlines, or the items of a value as text."""

    lines: list[str]
    gap: int | None = None
    """The index of `GAP`; None where the whole output was stored."""
    left_out: int = 0
    """Characters missing at `GAP`, with the partial lines on both sides of it."""
    characters: int = 0
    """The length of the whole output."""
    first: int = 1
    """The number of the first line: lines count from 1, items from 0."""
    noun: str = "line"
    extent: str = ""
    """Which part of a longer one it is, in words."""
    continues: bool = False
    """Whether there is more after it."""
    keys: Sequence[Hashable] = ()
    """What is equal for lines that count as equal; empty: they are as their texts are."""

    def number(self, index: int) -> int | None:
        """A line's number; None after the gap, where it is not known."""
        return index + self.first if self.gap is None or index < self.gap else None


def taken_apart(text: str) -> Side:
    """The lines of a text as stored in a run."""
    cut = next((found for found in _CUT.finditer(text) if _is_cut(text, found)), None)
    if cut is None:
        return Side(split_lines(text), characters=len(text))
    head, tail = text[: cut.start()], text[cut.end() :]
    characters = len(head) + len(tail) + int(cut[1].replace(",", ""))
    head, tail = head[: head.rfind("\n") + 1] or head, tail[tail.find("\n") + 1 :] or tail
    lines = split_lines(head)
    left_out = characters - len(head) - len(tail)
    return Side([*lines, GAP, *split_lines(tail)], len(lines), left_out, characters)


def part(side: Side, unit: str, before: int, total: int) -> Side:
    """The side as a part of a longer one, `before` units from its start; without numbers where these are characters."""
    if unit == "item" != side.noun:  # of values that can't be read
        return side._replace(gap=-1, extent=f"a part of {total:,} items", continues=True)
    kept, first = side.characters if unit == "character" else len(side.lines), before + side.first
    extent = f"{unit}s {first:,} to {first + kept - 1:,} of {total:,}"
    side = side._replace(gap=-1) if unit == "character" else side._replace(first=first)
    return side._replace(extent=extent, continues=before + kept < total)


def split_lines(text: str) -> list[str]:
    """Lines without their newline. Only "\\n" ends a line, so that a carriage return stays visible."""
    lines = text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def _is_cut(text: str, found: re.Match[str]) -> bool:
    head, tail = found.start(), len(text) - found.end()
    return head + tail >= _LEAST_KEPT and tail > 0 and head // tail in _HEAD_TO_TAIL


MAX_LINES = 20_000
"""Lines of both sides together, from the first difference on. Beyond it, only a window around it is aligned."""
MAX_ROWS = 100_000
"""Lines of both sides together, also before the first difference. Beyond it, only that window is aligned."""
MAX_PAIRS = 200
"""Pairs of changed lines that are compared word by word."""
_WINDOW = 200
_CONTEXT = 3
_HEAD, _TAIL = 260, 60
MAX_PAIRED = 400
"""Lines that went times lines that came, next to each other, that are paired by how alike they are."""
_COMPARED = 200
_SHOWN_OF_WORD = 24
_EXCERPT = re.compile(r"\n|[^\S\n]+|\S+")


class First(NamedTuple):
    """Where two texts first differ, counted from 1, and the text of each side there."""

    line: int
    column: int
    expected: str
    actual: str


class Row(NamedTuple):
    """A line of each side; None where a side has no line, or its number is not known.

    A "fold" has the number of equal rows that are not shown, a "cut" that of any rows, a "gap" the number of characters
    left out of each side.
    """

    kind: Literal["equal", "change", "fold", "cut", "gap"]
    left_no: int | None
    left: list[Span] | None
    right_no: int | None
    right: list[Span] | None
    folded: int = 0
    left_out: tuple[int, int] = (0, 0)
    said: str = ""
    """What stands where one side has no line: that it is missing, or extra. Of a "fold": what its rows are."""

    @property
    def what(self) -> str:
        """What a changed row is: missing, extra or changed."""
        return "missing" if self.right is None else "extra" if self.left is None else "changed"


class Comparison(NamedTuple):
    """The result. `rows` is empty when both texts are the same."""

    first: First | None
    rows: list[Row]
    expected: Side
    actual: Side
    whole: bool
    """False when only a window around the first difference was aligned."""
    endings: list[str]
    """What the lines don't show: a missing newline at an end, carriage returns."""
    found: str = ""
    """How many lines or items are missing, extra and changed; "" where only a part was aligned."""

    def first_row(self, line: int | None = None) -> Row | None:
        """The first that differs, from the line of actual on at which the checker found a difference."""
        changed = [row for row in self.rows if row.kind == "change"]
        reached = [row for row in changed if (row.right_no or row.left_no or 0) >= (line or 0)]
        return next(iter(reached or changed), None)


@lru_cache(maxsize=16)
def compare(expected: str, actual: str, excerpt: Excerpt | None = None) -> Comparison:
    """Align the two texts, in bounded time and memory. `excerpt`: which parts of longer texts they are."""
    if excerpt is None:
        left, right = taken_apart(expected), taken_apart(actual)
    else:
        left, right = (Side(split_lines(text), characters=len(text)) for text in (expected, actual))
        left, right = part(left, excerpt.unit, *excerpt.expected), part(right, excerpt.unit, *excerpt.actual)
    if expected == actual:
        return Comparison(None, [], left, right, whole=True, endings=[])
    kept_whole = left.gap is None and right.gap is None and excerpt is None
    endings = [] if excerpt else _endings(expected, actual, kept_whole=kept_whole)
    found = aligned(left, right, lambda i, j: changed_spans(left.lines[i], right.lines[j]))
    first = first_difference(expected, actual)
    return found._replace(first=first._replace(line=first.line + left.first - 1), endings=endings)


Spans = Callable[[int, int], tuple[list[Span], list[Span]]]
"""What differs in a changed pair of lines, by their indices."""


def aligned(left: Side, right: Side, spans: Spans) -> Comparison:
    """The rows of two sides, aligned by content: equal ones folded, the middle of many cut."""
    keys = left.keys or left.lines, right.keys or right.lines
    head, lines = shared_head(*keys), len(left.lines) + len(right.lines)
    whole = lines - 2 * head <= MAX_LINES and lines <= MAX_ROWS
    start = 0 if whole else max(0, head - _WINDOW // 4)
    end = lines if whole else start + _WINDOW
    rows = _trimmed(_aligned(left, right, range(start, end), spans))
    if (not whole and min(len(left.lines), len(right.lines)) > end) or (left.continues and right.continues):
        rows = _without_edge(rows)
    return concluded(rows, left, right, whole=whole)


def concluded(rows: list[Row], left: Side, right: Side, *, whole: bool = True) -> Comparison:
    """Rows with the equal ones folded, and the middle of many cut."""
    found = Counter(row.what for row in rows if row.kind == "change")
    counts = ", ".join(f"{found[word]:,} {word}" for word in ("missing", "extra", "changed") if found[word])
    whole_here = whole and not any(row.kind == "gap" for row in rows)
    return Comparison(None, _clipped(_folded(rows, left.noun)), left, right, whole, [], counts * whole_here)


def first_difference(expected: str, actual: str) -> First:
    """The first place where two different texts differ."""
    at = common_prefix(expected, actual)
    line_start = expected.rfind("\n", 0, at) + 1
    start = _start_of_word(expected, actual, at)
    return First(expected.count("\n", 0, at) + 1, at - line_start + 1, _word(expected, start), _word(actual, start))


def _start_of_word(expected: str, actual: str, at: int) -> int:
    """Where the word begins in which two texts differ; `at` itself where only white space differs."""
    if not any(side[at : at + 1].strip() for side in (expected, actual)):
        return at
    start = at
    while start > max(0, at - _SHOWN_OF_WORD // 2) and not expected[start - 1].isspace():
        start -= 1
    return start


def _word(text: str, at: int) -> str:
    """The word, or the white space, at a position of a text: up to 24 characters, within its line."""
    found = _EXCERPT.match(text, at)
    return found[0][:_SHOWN_OF_WORD] if found else ""


def _aligned(left: Side, right: Side, part: range, spans: Spans) -> Iterator[Row]:
    pairs = 0
    keys = [(side.keys or side.lines)[part.start : part.stop] for side in (left, right)]
    for tag, i1, i2, j1, j2 in opcodes(*keys):
        blocks = range(part.start + i1, part.start + i2), range(part.start + j1, part.start + j2)
        for i, j in _pairs(left, right, *blocks):
            cut = (i is not None and i == left.gap, j is not None and j == right.gap)
            if any(cut):
                yield Row("gap", None, None, None, None, left_out=(left.left_out * cut[0], right.left_out * cut[1]))
                continue
            compared = tag == "change" and i is not None and j is not None and pairs < MAX_PAIRS
            pairs += compared
            shown = spans(i, j) if compared and i is not None and j is not None else None
            yield _row(tag, left, i, right, j, shown)


def _pairs(left: Side, right: Side, ours: range, theirs: range) -> Iterator[tuple[int | None, int | None]]:
    """Which line stands beside which: the most alike where one side has more, else in their order."""
    i, j = ours.start, theirs.start
    whole = left.gap not in ours and right.gap not in theirs
    if whole and len(ours) != len(theirs) and 0 < len(ours) * len(theirs) <= MAX_PAIRED:
        yield from _most_alike(left.lines, right.lines, ours, theirs)
        return
    while i < ours.stop or j < theirs.stop:
        cut = (i < ours.stop and i == left.gap, j < theirs.stop and j == right.gap)
        pair = (i if i < ours.stop and cut[0] >= cut[1] else None, j if j < theirs.stop and cut[1] >= cut[0] else None)
        yield pair
        i, j = i + (pair[0] is not None), j + (pair[1] is not None)


def _most_alike(
    left: Sequence[str], right: Sequence[str], ours: range, theirs: range
) -> Iterator[tuple[int | None, int | None]]:
    """As many pairs as there can be, whose texts are most alike together."""
    best = [[0.0] * (len(theirs) + 1) for _ in range(len(ours) + 1)]
    for a in range(len(ours) - 1, -1, -1):
        for b in range(len(theirs) - 1, -1, -1):
            alike = Indel.normalized_similarity(left[ours[a]][:_COMPARED], right[theirs[b]][:_COMPARED])
            best[a][b] = max(1 + alike + best[a + 1][b + 1], best[a + 1][b], best[a][b + 1])
    a = b = 0
    while a < len(ours) or b < len(theirs):
        if b == len(theirs) or (a < len(ours) and best[a][b] == best[a + 1][b]):
            yield ours[a], None
            a += 1
        elif a == len(ours) or best[a][b] == best[a][b + 1]:
            yield None, theirs[b]
            b += 1
        else:
            yield ours[a], theirs[b]
            a, b = a + 1, b + 1


def _row(
    kind: Literal["equal", "change"],
    left: Side,
    i: int | None,
    right: Side,
    j: int | None,
    spans: tuple[list[Span], list[Span]] | None,
) -> Row:
    ours = None if i is None else spans[0] if spans else [(left.lines[i], False)]
    theirs = None if j is None else spans[1] if spans else [(right.lines[j], False)]
    row = Row(kind, None if i is None else left.number(i), ours, None if j is None else right.number(j), theirs)
    if i is not None and j is not None:
        return row
    number = row.left_no if j is None else row.right_no
    place = left.noun if number is None else f"{left.noun} {number:,}"
    return row._replace(said=f"{place} is {row.what}")


def _trimmed(rows: Iterable[Row]) -> list[Row]:
    """Merge one-sided lines into the gap of both sides next to them: each side was cut at its own place."""
    out: list[Row] = []
    for row in rows:
        if out and all(out[-1].left_out) and _one_sided(row):
            out[-1] = _widened(out[-1], row)
            continue
        wider = row
        while out and all(row.left_out) and _one_sided(out[-1]):
            wider = _widened(wider, out.pop())
        out.append(wider)
    return out


def _without_edge(rows: list[Row]) -> list[Row]:
    """Drop one-sided lines at a window's end: their partners are beyond it."""
    end = len(rows)
    while end and _one_sided(rows[end - 1]):
        end -= 1
    return rows[:end]


def _one_sided(row: Row) -> bool:
    return row.kind == "change" and (row.left is None or row.right is None)


def _widened(gap: Row, row: Row) -> Row:
    expected, actual = (sum(len(text) + 1 for text, _ in spans or ()) for spans in (row.left, row.right))
    return gap._replace(left_out=(gap.left_out[0] + expected, gap.left_out[1] + actual))


def _folded(rows: list[Row], noun: str) -> list[Row]:
    """Turn long runs of equal lines into one row with their number."""
    keep = [False] * len(rows)
    for index, row in enumerate(rows):
        keep[index] |= row.kind == "gap"
        if row.kind == "change":
            for near in range(max(0, index - _CONTEXT), min(len(rows), index + _CONTEXT + 1)):
                keep[near] = True
    out: list[Row] = []
    hidden = 0
    for row, kept in zip(rows, keep, strict=True):
        if kept:
            out += [_fold(hidden, noun=noun)] if hidden else []
            hidden = 0
            out.append(row)
        else:
            hidden += 1
    return out + ([_fold(hidden, noun=noun)] if hidden else [])


def _clipped(rows: list[Row]) -> list[Row]:
    """Keep the head and the tail: extra output at the end is always shown."""
    if len(rows) <= _HEAD + _TAIL:
        return rows
    middle: list[Row] = []
    for row in rows[_HEAD:-_TAIL]:
        if row.kind == "gap" or not middle or middle[-1].kind == "gap":
            middle.append(row if row.kind == "gap" else _fold(row.folded or 1, "cut"))
        else:
            middle[-1] = _fold(middle[-1].folded + (row.folded or 1), "cut")
    return [*rows[:_HEAD], *middle, *rows[-_TAIL:]]


def _fold(count: int, kind: Literal["fold", "cut"] = "fold", noun: str = "row") -> Row:
    return Row(kind, None, None, None, None, count, said=noun)


def _endings(expected: str, actual: str, *, kept_whole: bool) -> list[str]:
    found: list[str] = []
    if not expected or not actual:
        return found
    if expected.endswith("\n") and not actual.endswith("\n"):
        found.append("actual has no newline at its end")
    elif actual.endswith("\n") and not expected.endswith("\n"):
        found.append("expected has no newline at its end, actual has one")
    for name, text, other in (("expected", expected, actual), ("actual", actual, expected)):
        if "\r" in text and "\r" not in other:
            where = "" if kept_whole else " in the stored part"
            found.append(f"{name} has {counted(text.count(chr(13)), 'carriage return')}{where}")
    return found
