"""LiveCodeBench's grader (`testing_util.py`, 28fef95).

Text. Both outputs are stripped and split at line feeds; they must have equally many lines, including empty ones. A line
is right if it is equal once stripped, or if all its tokens are numbers that are equal as decimals: `1.0` is `1`, `0.1`
is not `0.10000001`. White space between other words counts.

Values. A tuple at the top counts as a list; then Python's `==`. There is no tolerance, a tuple inside a list is not a
list, and NaN equals nothing.
"""

from __future__ import annotations

from decimal import Decimal

from evaluator.checkers._other_systems import first_difference, same, same_tokens, value_refused
from evaluator.model import Difference

COMPARES = "both"


def check(expected: str, actual: str) -> Difference | None:
    """None when every line is the same text or the same decimals."""
    return first_difference(expected, actual, _same_line)


def check_value(expected: object, actual: object) -> Difference | None:
    """None when `==` holds once a tuple is a list."""
    got = list(actual) if isinstance(actual, tuple) else actual
    return None if same(expected, got) else value_refused(expected, actual, "LiveCodeBench")


def _same_line(expected: str, actual: str) -> bool:
    return same_tokens(expected, actual, _same)


def _same(_expected: str, _actual: str, wanted: Decimal, got: Decimal) -> bool:
    return wanted == got
