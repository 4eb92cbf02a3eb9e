"""Shared by the text checkers: lines, tokens, and where two texts first differ.

A position is a line and a column of the actual output, both from 1. Only a line feed ends a line.

A completion may write megabytes instead of two expected lines. So nothing here splits the whole actual output: both
texts are read in blocks, and of the actual one no more lines or tokens than of the expected one. The operations on the
rest (`strip`, `count`, one copy) take milliseconds, whatever it contains.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from evaluator.checkers._rendering import message
from evaluator.model import Difference

_EXCERPT = 60
_BEFORE = 20
_BLOCK = 1 << 16
"""Lines or tokens per block: enough that copying the rest once per block is cheap."""

_MOST_SHIFTED = 1_000
"""Lines in the middle that are named as missing or extra."""


class Spot(NamedTuple):
    """Where the actual text first differs: its offset from 0, and the text there on both sides."""

    offset: int
    expected: str
    actual: str


def common_prefix(one: str, other: str) -> int:
    """The length of the common start of both texts, in linear time without a loop over characters."""
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
    """The text around an offset as a Python literal, with `...` where it was cut."""
    if len(text) <= _EXCERPT:
        return _literal(text)
    start = max(0, min(at, len(text)) - _BEFORE)
    piece = text[start : start + _EXCERPT]
    return f"{'...' if start else ''}{_literal(piece)}{'...' if start + _EXCERPT < len(text) else ''}"


def _literal(text: str) -> str:
    literal = repr(text)  # ten times as long where it escapes every character
    return literal if len(literal) <= 2 * _EXCERPT else literal[: 2 * _EXCERPT] + "..."


def difference(line: int, column: int, expected: str, actual: str) -> Difference:
    """Expected and actual are shown unchanged (see `excerpt`)."""
    text = f"line {line}, column {column}: expected {expected}, got {actual}"
    return Difference(message(text), line=line, column=column)


def missing_lines(line: int, count: int, first: str, after: str | None = None) -> Difference:
    """`count` lines are missing in total; the first of them, `line`, was expected to be `first`.

    `after`: the line that stands in their place; None if the actual output ends before them.
    """
    what = f"line {line} is missing" if count == 1 else f"{count:,} lines are missing from line {line}"
    return _lines(what, f"expected {excerpt(first)}", line, after)


def extra_lines(line: int, count: int, first: str, after: str | None = None) -> Difference:
    """The actual output has `count` more lines from `line` on, which is `first`.

    `after`: the line behind them; None if they are after the end of the expected output.
    """
    what = f"1 extra line, line {line}" if count == 1 else f"{count:,} extra lines from line {line}"
    return _lines(what, f"got {excerpt(first)}", line, after)


def _lines(what: str, side: str, line: int, after: str | None) -> Difference:
    before = "" if after is None else f", before {excerpt(after)}"
    return Difference(message(f"{what}{before}: {side}"), line=line, column=1)


def position(text: str, offset: int) -> tuple[int, int]:
    """Line and column, both from 1, of an offset into the text."""
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def content(text: str) -> str | None:
    """The text without blank lines at the end; None if there are no others.

    White space at the end of the last line is removed too: no rule that uses this counts it.
    """
    return text.rstrip() or None


def first_lines(text: str | None, most: int = _BLOCK) -> tuple[list[str], str | None]:
    """At most that many lines from the start, and the rest of the text; None means no lines at all."""
    if text is None:
        return [], None
    lines = text.split("\n", most)
    rest = lines.pop() if len(lines) > most else None
    return lines, rest


LineSpot = Callable[[str, str], Spot | None]
"""Where two lines differ, or None if they count as equal."""


def compare_lines(expected: str, actual: str, spot: LineSpot) -> Difference | None:
    """Line by line. If some lines in a row are all that is missing or extra, these are the difference."""
    if expected == actual:
        return None
    found = _first_lines_that_differ(expected, actual, spot)
    if not isinstance(found, tuple):
        return found
    at, where = found
    return _shifted(expected, actual, at, spot) or difference(at, where.offset + 1, where.expected, where.actual)


def _first_lines_that_differ(expected: str, actual: str, spot: LineSpot) -> tuple[int, Spot] | Difference | None:
    """The number of the first line that differs, and where in it; or the lines by which one text is longer."""
    number = 0
    wanted_rest, got_rest = content(expected), content(actual)
    while wanted_rest is not None and got_rest is not None:
        wanted, wanted_after = first_lines(wanted_rest)
        got, got_after = first_lines(got_rest, len(wanted))
        if wanted != got:
            for at, (one, other) in enumerate(zip(wanted, got, strict=False), start=number + 1):
                found = None if one == other else spot(one, other)
                if found is not None:
                    return at, found
        number += len(got)
        if len(got) < len(wanted):
            _, wanted_after = first_lines(wanted_rest, len(got))
        wanted_rest, got_rest = wanted_after, got_after
    if wanted_rest is not None:
        return missing_lines(number + 1, wanted_rest.count("\n") + 1, _first_line(wanted_rest))
    if got_rest is not None:
        return extra_lines(number + 1, got_rest.count("\n") + 1, _first_line(got_rest))
    return None


def _shifted(expected: str, actual: str, at: int, spot: LineSpot) -> Difference | None:
    """The lines from `at` on without which the two texts are equal; None if there is more to it."""
    sides = content(expected) or "", content(actual) or ""
    more = sides[0].count("\n") - sides[1].count("\n")
    if not 0 < abs(more) <= _MOST_SHIFTED:
        return None
    wanted, got = (side.split("\n", at - 1)[-1] for side in sides)
    longer, other = (wanted, got) if more > 0 else (got, wanted)
    rest = longer.split("\n", abs(more))[-1]
    if _first_lines_that_differ(*((rest, other) if more > 0 else (other, rest)), spot) is not None:
        return None
    name = missing_lines if more > 0 else extra_lines
    return name(at, abs(more), _first_line(longer), _first_line(other))


def _first_line(text: str) -> str:
    return text.split("\n", 1)[0].strip()


def token_spot(expected: str, actual: str, same: Callable[[str, str], bool], end: str) -> Spot | None:
    """The first token (a run of characters without white space) that differs. `end` describes a text's end."""
    wanted_rest, got_rest = expected, actual
    while True:
        wanted, wanted_rest = _first_tokens(wanted_rest, _BLOCK)
        got, got_after = _first_tokens(got_rest, len(wanted))
        if wanted != got:
            for at, (one, other) in enumerate(zip(wanted, got, strict=False)):
                if one != other and not same(one, other):
                    shared = common_prefix(one, other)
                    # The rest after `at` tokens begins with this one.
                    offset = len(actual) - len(got_rest.split(None, at)[at])
                    return Spot(offset, excerpt(one, shared), excerpt(other, shared))
            if len(got) < len(wanted):
                return Spot(len(actual.rstrip()), excerpt(wanted[len(got)]), end)
        got_rest = got_after
        if not wanted_rest:
            break
    if got_rest:
        return Spot(len(actual) - len(got_rest), end, excerpt(got_rest.split(None, 1)[0]))
    return None


def _first_tokens(text: str, most: int) -> tuple[list[str], str]:
    """At most that many tokens from the start, and the text from the next token on; "" if there is none."""
    tokens = text.split(None, most)
    rest = tokens.pop() if len(tokens) > most else ""
    return tokens, rest
