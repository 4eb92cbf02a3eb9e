"""LiveCodeBench's grader (`testing_util.py`, 28fef95).

Text. Both outputs are stripped and split at line feeds; there must be as many lines, empty ones included. A line is
right when it is equal once stripped, or when all its tokens are numbers that are equal as decimals: `1.0` is `1`,
`0.1` is not `0.10000001`. White space between other words counts.

Values. A tuple on top counts as a list; then Python's `==`. There is no tolerance, a tuple inside of a list is no list,
and NaN equals nothing.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Literal

from evaluator.checkers._cascade import same
from evaluator.checkers._decimals import first_difference, same_tokens
from evaluator.checkers._other_systems import value_refused
from evaluator.model import Difference

COMPARES: Literal["both"] = "both"


def check(expected: str, actual: str) -> Difference | None:
    """None when every line is the same text or the same decimals."""
    return first_difference(expected, actual, _same_line)


def check_value(expected: object, actual: object) -> Difference | None:
    """None when `==` holds once a tuple is a list."""
    given = list(actual) if isinstance(actual, tuple) else actual
    return None if same(expected, given) else value_refused(expected, actual, "LiveCodeBench")


def _same_line(expected: str, actual: str) -> bool:
    return same_tokens(expected, actual, _same)


def _same(_expected: str, _actual: str, wanted: Decimal, given: Decimal) -> bool:
    return wanted == given
