"""Rules for text as it is; what each accepts is in its docstring."""

from __future__ import annotations

import operator

from evaluator.checkers import Checker
from evaluator.checkers._text import (
    Spot,
    common_prefix,
    compare_lines,
    difference,
    excerpt,
    extra_lines,
    missing_lines,
    position,
    token_spot,
)
from evaluator.model import Difference


def exact(expected: str, actual: str) -> Difference | None:
    """The same bytes.

    White space, line ends and the last line feed all count. The position is that of the first differing character.
    """
    if expected == actual:
        return None
    at = common_prefix(expected, actual)
    line, column = position(actual, at)
    if column == 1 and at == len(actual):
        return missing_lines(line, _lines_from(expected, at), _line(expected, at))
    if column == 1 and at == len(expected):
        return extra_lines(line, _lines_from(actual, at), _line(actual, at))
    start = at - column + 1
    wanted, got = _line(expected, start), _line(actual, start)
    return difference(line, column, excerpt(wanted, column - 1), excerpt(got, column - 1))


def _line(text: str, start: int) -> str:
    """The line that begins there, with its line feed: in this checker it counts, so it must be visible."""
    end = text.find("\n", start)
    return text[start:] if end < 0 else text[start : end + 1]


def _lines_from(text: str, start: int) -> int:
    return text.count("\n", start) + (not text.endswith("\n"))


def lines(expected: str, actual: str) -> Difference | None:
    """Each line stripped, empty lines at the end dropped; inner empty lines count.

    A line ends at a line feed. Stripping removes what `str.strip` does, so a carriage return before the line feed does
    not count. White space inside a line does. The column is that of the first differing character.
    """
    return compare_lines(expected, actual, _spot)


def _spot(expected: str, actual: str) -> Spot | None:
    wanted, got = expected.strip(), actual.strip()
    if wanted == got:
        return None
    at = common_prefix(wanted, got)
    indent = len(actual) - len(actual.lstrip()) if got else 0
    return Spot(indent + at, excerpt(wanted, at), excerpt(got, at))


def tokens(expected: str, actual: str) -> Difference | None:
    """White space folded: the same tokens in the same order.

    A token is a run of characters without white space; how tokens are spread over lines does not count. The position is
    that of the first differing token.
    """
    spot = None if expected == actual else token_spot(expected, actual, operator.eq, "the end of the output")
    return spot and difference(*position(actual, spot.offset), spot.expected, spot.actual)


CHECKERS = [Checker(check.__name__, {"text": check}) for check in (exact, lines, tokens)]
