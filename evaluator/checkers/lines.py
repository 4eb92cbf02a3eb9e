"""Each line stripped, empty lines at the end dropped; inner empty lines count.

A line ends at a line feed. Stripping removes what `str.strip` does, so a carriage return before the line feed does not
count. White space inside a line does.
"""

from __future__ import annotations

from evaluator.checkers._text import Spot, common_prefix, compare_lines, excerpt
from evaluator.model import Difference

COMPARES = "text"


def check(expected: str, actual: str) -> Difference | None:
    """None when both texts have the same lines; the column is that of the first differing character."""
    return compare_lines(expected, actual, _spot)


def _spot(expected: str, actual: str) -> Spot | None:
    wanted, got = expected.strip(), actual.strip()
    if wanted == got:
        return None
    at = common_prefix(wanted, got)
    indent = len(actual) - len(actual.lstrip()) if got else 0
    return Spot(indent + at, excerpt(wanted, at), excerpt(got, at))
