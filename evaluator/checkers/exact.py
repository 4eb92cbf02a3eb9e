"""The same bytes.

White space, line ends and the last line feed all count.
"""

from __future__ import annotations

from evaluator.checkers._text import common_prefix, difference, excerpt, extra_lines, missing_lines, position
from evaluator.model import Difference

COMPARES = "text"


def check(expected: str, actual: str) -> Difference | None:
    """None when both texts are the same, character for character."""
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
