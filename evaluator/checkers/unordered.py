"""The lines of `lines` as a multiset: their order does not count, how often each comes does.

Each line is stripped, empty lines at the end are dropped; inner empty lines count like others.
"""

from __future__ import annotations

from collections import Counter
from typing import Literal

from evaluator.checkers._rendering import message
from evaluator.checkers._text import content_lines, excerpt
from evaluator.model import Difference

COMPARES: Literal["text"] = "text"


def check(expected: str, actual: str) -> Difference | None:
    """None when both texts have the same lines in any order.

    Otherwise the position is that of the first line of the actual output that is not expected, or is there
    once too often; where lines are only missing, it is the line after the last.
    """
    if expected == actual:
        return None
    wanted = [line.strip() for line in content_lines(expected)]
    given = [line.strip() for line in content_lines(actual)]
    missing, extra = _first_surplus(wanted, given), _first_surplus(given, wanted)
    if extra is not None:
        known = "comes too often" if given[extra] in wanted else "is not expected"
        text = f"line {extra + 1}: {excerpt(given[extra])} {known}"
        if missing is not None:
            text += f"; missing {excerpt(wanted[missing])}"
        return Difference(message(text), line=extra + 1, column=1)
    if missing is not None:
        count = len(wanted) - len(given)
        text = f"{count:,} {'line is' if count == 1 else 'lines are'} missing: {excerpt(wanted[missing])}"
        return Difference(message(text), line=len(given) + 1, column=1)
    return None


def _first_surplus(lines: list[str], others: list[str]) -> int | None:
    """Where the first line stands that comes more often than in the others, at the time that is too many."""
    allowed = Counter(others)
    surplus = Counter(lines) - allowed
    if not surplus:
        return None
    for number, line in enumerate(lines):
        if line in surplus:
            if allowed[line] == 0:
                return number
            allowed[line] -= 1
    return None
