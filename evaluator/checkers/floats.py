"""The same lines as `lines`, then within each line token by token, numbers other than ints by value.

Two lines that are equal once stripped are equal. Otherwise their tokens are compared one by one; both sides must have
equally many. Equal text is equal. Otherwise both must be numbers, and the *expected* one decides:

- It has a point or an exponent: the actual one may differ by 1e-6, absolute or relative to the expected one;
  `floats:tolerance=1e-4` sets another. A number beyond the range of a double equals only its own text.
- It is an int: the actual one must be exactly the same number, however large: `5.0` and `5e0` for `5`, but not
  `123456700.` for `123456789`, nor `1e9` for `1000000007`. Two ints must be the same text: `007` is not `7`, because
  such tokens are as often codes or bit strings as numbers.

A number is an optional sign, ASCII digits, an optional point and an optional exponent; with `_`, `nan` or `inf` a token
is plain text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from functools import partial

from evaluator.checkers._text import Spot, compare_lines, token_spot
from evaluator.model import Difference

COMPARES = "text"
TOLERANCE = 1e-6

_NUMBER = re.compile(r"[+-]?(?=\.?[0-9])[0-9]*+(?P<fraction>\.[0-9]*+)?(?P<exponent>[eE][+-]?[0-9]++)?")
_DIGITS_BUT_ZERO = re.compile(r"[^eE]*[1-9]")


def check(expected: str, actual: str, *, tolerance: float = TOLERANCE) -> Difference | None:
    """None when every line is the same within the tolerance; else where the first differing token is."""
    return compare_lines(expected, actual, partial(_spot, partial(_same, tolerance)))


def _spot(same: Callable[[str, str], bool], expected: str, actual: str) -> Spot | None:
    if expected.strip() == actual.strip():
        return None
    return token_spot(expected, actual, same, "the end of the line")


def _same(tolerance: float, expected: str, actual: str) -> bool:
    """Whether two tokens of different text are numbers that count as equal."""
    wanted, got = _NUMBER.fullmatch(expected), _NUMBER.fullmatch(actual)
    if wanted is None or got is None:
        return False
    if wanted["fraction"] or wanted["exponent"]:
        return _close(float(expected), float(actual), tolerance)
    return bool(got["fraction"] or got["exponent"]) and _exact(actual) == Decimal(expected)


def _close(wanted: float, got: float, tolerance: float) -> bool:
    if not (math.isfinite(wanted) and math.isfinite(got)):
        return False
    return abs(wanted - got) <= tolerance * max(1.0, abs(wanted))


def _exact(number: str) -> Decimal | None:
    """None if it can't equal any int."""
    try:
        return Decimal(number)
    except InvalidOperation:  # an exponent of more than 18 digits: only 0 times that is a number that fits into a text
        return None if _DIGITS_BUT_ZERO.match(number) else Decimal(0)
