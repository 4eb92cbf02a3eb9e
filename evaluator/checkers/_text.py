"""What the text checkers share: lines, tokens, and where two texts first differ.

A position is a line and a column of the actual output, both from 1. A line ends at a line feed and at
nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import zip_longest
from typing import NamedTuple

from evaluator.checkers._rendering import message
from evaluator.model import Difference

_EXCERPT = 60
_BEFORE = 20
_TOKEN = re.compile(r"\S+")


class Spot(NamedTuple):
    """Where the actual text first differs: its offset from 0, and what stands there on both sides."""

    offset: int
    expected: str
    actual: str


def common_prefix(one: str, other: str) -> int:
    """How many characters both texts begin with alike, in linear time without a loop over characters."""
    low, high = 0, min(len(one), len(other))
    if one[:high] == other[:high]:
        return high
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def excerpt(text: str, at: int = 0) -> str:
    """The text around an offset as a Python literal, `...` where it was cut."""
    if len(text) <= _EXCERPT:
        return _literal(text)
    start = max(0, min(at, len(text)) - _BEFORE)
    piece = text[start : start + _EXCERPT]
    return f"{'...' if start else ''}{_literal(piece)}{'...' if start + _EXCERPT < len(text) else ''}"


def _literal(text: str) -> str:
    literal = repr(text)  # ten times as long where it escapes every character
    return literal if len(literal) <= 2 * _EXCERPT else literal[: 2 * _EXCERPT] + "..."


def difference(line: int, column: int, expected: str, actual: str) -> Difference:
    """Expected and actual are given as they are to be shown (see `excerpt`)."""
    text = f"line {line}, column {column}: expected {expected}, got {actual}"
    return Difference(message(text), line=line, column=column)


def missing_lines(line: int, count: int, first: str) -> Difference:
    """The actual output ends before `line`, where `first` was expected; `count` lines are missing in all."""
    what = f"line {line} is missing" if count == 1 else f"{count:,} lines are missing from line {line}"
    return Difference(message(f"{what}: expected {excerpt(first)}"), line=line, column=1)


def extra_lines(line: int, count: int, first: str) -> Difference:
    """The actual output goes on at `line` with `first`, where the expected one has ended."""
    what = "1 extra line, line" if count == 1 else f"{count:,} extra lines from line"
    return Difference(message(f"{what} {line}: got {excerpt(first)}"), line=line, column=1)


def position(text: str, offset: int) -> tuple[int, int]:
    """Line and column, both from 1, of an offset into the text."""
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def content_lines(text: str) -> list[str]:
    """The lines as they stand, without the ones at the end that are empty or white space."""
    lines = text.split("\n")
    while lines and not lines[-1].strip():
        lines.pop()
    return lines


def compare_lines(expected: str, actual: str, spot: Callable[[str, str], Spot | None]) -> Difference | None:
    """Line by line; `spot` tells where two lines differ, or None where they count as equal."""
    if expected == actual:
        return None
    wanted, given = content_lines(expected), content_lines(actual)
    for number, (one, other) in enumerate(zip(wanted, given, strict=False), start=1):
        found = None if one == other else spot(one, other)
        if found is not None:
            return difference(number, found.offset + 1, found.expected, found.actual)
    shared = min(len(wanted), len(given))
    if len(wanted) > shared:
        return missing_lines(shared + 1, len(wanted) - shared, wanted[shared].strip())
    if len(given) > shared:
        return extra_lines(shared + 1, len(given) - shared, given[shared].strip())
    return None


def token_spot(expected: str, actual: str, same: Callable[[str, str], bool], end: str) -> Spot | None:
    """The first token (run of characters that are no white space) that differs. `end` names a text's end."""
    pairs = zip_longest(_TOKEN.finditer(expected), _TOKEN.finditer(actual))
    for wanted, given in pairs:
        if given is None:
            return Spot(len(actual.rstrip()), excerpt(wanted.group()), end)
        if wanted is None:
            return Spot(given.start(), end, excerpt(given.group()))
        one, other = wanted.group(), given.group()
        if one != other and not same(one, other):
            at = common_prefix(one, other)
            return Spot(given.start(), excerpt(one, at), excerpt(other, at))
    return None
