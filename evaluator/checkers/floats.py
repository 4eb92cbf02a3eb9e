"""The same lines as `lines`, then within each line token by token, numbers other than ints by value.

Two lines that are equal once stripped are equal. Otherwise their tokens are compared one by one; both sides must have
equally many. Equal text is equal. Otherwise both must be numbers, and the *expected* one decides:

- It has a point or an exponent: the actual one may differ by 1e-6, absolute or relative to the expected one. A number
  beyond the range of a double equals only its own text.
- It is an int: the actual one must be exactly the same number, however large: `5.0` and `5e0` for `5`, but not
  `123456700.` for `123456789`, nor `1e9` for `1000000007`. Two ints must be the same text: `007` is not `7`, because
  such tokens are as often codes or bit strings as numbers.

A number is an optional sign, ASCII digits, an optional point and an optional exponent; with `_`, `nan` or `inf` a token
is plain text.
"""

from __future__ import annotations

import math
import re
from typing import NamedTuple

from evaluator.checkers._text import Spot, compare_lines, token_spot
from evaluator.model import Difference

COMPARES = "text"
TOLERANCE = 1e-6

_NUMBER = re.compile(r"([+-]?)(?=\.?[0-9])([0-9]*+)(?:(\.)([0-9]*+))?(?:[eE]([+-]?)0*+([0-9]*+)(?<=[0-9]))?")
_LONGEST_EXPONENT = 15
"""Digits. With more, a number other than 0 has more digits, or more decimal places, than fit into any text."""


def check(expected: str, actual: str) -> Difference | None:
    """None when every line is the same within the tolerance; else where the first differing token is."""
    return compare_lines(expected, actual, _spot)


def _spot(expected: str, actual: str) -> Spot | None:
    if expected.strip() == actual.strip():
        return None
    return token_spot(expected, actual, _same, "the end of the line")


def _same(expected: str, actual: str) -> bool:
    """Whether two tokens of different text are numbers that count as equal."""
    wanted, got = _NUMBER.fullmatch(expected), _NUMBER.fullmatch(actual)
    if wanted is None or got is None:
        return False
    if not _is_int(wanted):
        return _close(float(expected), float(actual))
    return not _is_int(got) and _exact(wanted) == _exact(got)


def _is_int(number: re.Match[str]) -> bool:
    return number[3] is None and number[6] is None


def _close(wanted: float, got: float) -> bool:
    if not (math.isfinite(wanted) and math.isfinite(got)):
        return False
    return abs(wanted - got) <= TOLERANCE * max(1.0, abs(wanted))


class _Exact(NamedTuple):
    """A number in a unique form: `digits` as an int, without zeros at either end, times a power of ten."""

    negative: bool
    digits: str
    power: int


_ZERO = _Exact(negative=False, digits="", power=0)


def _exact(number: re.Match[str]) -> _Exact | None:
    """Without converting it to an int or float: `1e999999999` would be very long. None if it can't equal any int."""
    sign, whole, _, places, exponent_sign, exponent = number.groups(default="")
    significant = (whole + places).lstrip("0")
    digits = significant.rstrip("0")
    if not digits:
        return _ZERO
    if len(exponent) > _LONGEST_EXPONENT:
        return None
    shift = int(exponent_sign + (exponent or "0"))
    return _Exact(sign == "-", digits, shift - len(places) + len(significant) - len(digits))
