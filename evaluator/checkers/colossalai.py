"""ColossalAI's code reward (`testing_util.py`, as of 2026-04), including its wrong passes.

Text. It accepts, in this order: the whole output, stripped; the same with each line stripped; the expected output's
lines stripped and without empty ones; the same without the output's empty lines; and, unless every line of both is only
digits, equally many lines that are all numbers, one per line, by numpy.allclose (relative 1e-5 of the expected one,
absolute 1e-8). So `-1000005` passes for `-1000000`. An output line ends where Python's `splitlines` splits.

Values. A tuple at the top counts as a list. It accepts what equals the expected value by `==`. If that is a list, it
also accepts what equals its first item, so that the first of three answers passes, even if its items are tuples instead
of lists. In an expected dict, or a dict that is a list's first item, keys that are digits become ints, and such a list
is reduced to that item. There is no tolerance; NaN equals nothing.
"""

from __future__ import annotations

from typing import Literal

from evaluator.checkers._cascade import ORIGINAL, SOUND, text_accepted, value_accepted
from evaluator.checkers._other_systems import text_refused, value_refused
from evaluator.model import Difference

__all__ = ["COMPARES", "ORIGINAL", "SOUND", "check", "check_value", "text_accepted", "value_accepted"]

COMPARES: Literal["both"] = "both"


def check(expected: str, actual: str) -> Difference | None:
    """None when the cascade accepts the output."""
    return None if text_accepted(expected, actual, ORIGINAL) else text_refused(expected, actual, "ColossalAI")


def check_value(expected: object, actual: object) -> Difference | None:
    """None when the cascade accepts the value."""
    return None if value_accepted(expected, actual, ORIGINAL) else value_refused(expected, actual, "ColossalAI")
