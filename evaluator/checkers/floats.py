"""The same lines as `lines`, then within each line token by token, numbers that are no ints by value.

Two lines that are equal once stripped are equal. Otherwise their tokens are compared one by one, as many on
both sides: equal text is equal; where both are numbers and at least one has a point or an exponent, they may
differ by 1e-6, absolute or relative to the expected one. Two ints must be the same text: `007` is not `7`,
for such tokens are as often codes or bit strings as numbers. A number is an optional sign, ASCII digits, an
optional point and an optional exponent; with `_`, `nan` or `inf` a token is plain text. A number beyond the
range of a double equals only its own text.
"""

from __future__ import annotations

import math
import re
from typing import Literal

from evaluator.checkers._text import Spot, compare_lines, token_spot
from evaluator.model import Difference

COMPARES: Literal["text"] = "text"
TOLERANCE = 1e-6

_NUMBER = re.compile(r"[+-]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?")
_FRACTIONAL = re.compile(r"[.eE]")


def check(expected: str, actual: str) -> Difference | None:
    """None when every line is the same within the tolerance; else where the first differing token is."""
    return compare_lines(expected, actual, _spot)


def _spot(expected: str, actual: str) -> Spot | None:
    if expected.strip() == actual.strip():
        return None
    return token_spot(expected, actual, _close, "the end of the line")


def _close(expected: str, actual: str) -> bool:
    """Whether two tokens of different text are numbers that count as equal."""
    if not (_NUMBER.fullmatch(expected) and _NUMBER.fullmatch(actual)):
        return False
    if not (_FRACTIONAL.search(expected) or _FRACTIONAL.search(actual)):
        return False
    wanted, given = float(expected), float(actual)
    if not (math.isfinite(wanted) and math.isfinite(given)):
        return False
    return abs(wanted - given) <= TOLERANCE * max(1.0, abs(wanted))
