"""ColossalAI's code reward (`testing_util.py`, as of 2026-04), its wrong passes included.

Text. Accepted is, in this order: the whole output, stripped; the same with each line stripped; the expected output's
lines stripped and its empty ones dropped; the same with the output's empty lines dropped; unless every line of both is
digits alone, as many lines which are all numbers, one a line, by numpy.allclose (relative 1e-5 of the expected one,
absolute 1e-8). So `-1000005` passes for `-1000000`. An output line ends where Python's `splitlines` says.

Values. A tuple on top counts as a list. Accepted is what equals the expected value by `==`; or, where that is a list,
its first item, so that the first of three answers passes; that also when its items are tuples in place of lists. Of an
expected dict, or of a list's first item that is one, keys that are digits are made ints, and of such a list only that
item is left. There is no tolerance; NaN equals nothing.
"""

from __future__ import annotations

from typing import Literal

from evaluator.checkers._cascade import ORIGINAL, text_accepted, value_accepted
from evaluator.checkers._other_systems import text_refused, value_refused
from evaluator.model import Difference

COMPARES: Literal["both"] = "both"


def check(expected: str, actual: str) -> Difference | None:
    """None when the cascade accepts the output."""
    return None if text_accepted(expected, actual, ORIGINAL) else text_refused(expected, actual, "ColossalAI")


def check_value(expected: object, actual: object) -> Difference | None:
    """None when the cascade accepts the value."""
    return None if value_accepted(expected, actual, ORIGINAL) else value_refused(expected, actual, "ColossalAI")
