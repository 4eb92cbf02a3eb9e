"""Decoded values of `call` tasks, between JSON's equality and Python's.

A list, a tuple, a namedtuple and a deque with equal items are equal. A set equals only a set with equal items: it has
no order, so it is wrong if a list is expected (`unordered` is the checker for that). `dict`, `Counter`, `OrderedDict`
and `defaultdict` are equal if their keys and values are; order does not count; an int key equals the string key that
JSON would turn it into; otherwise keys are matched exactly. `True == 1`. An expected float or complex equals any number
within 1e-9, absolute or relative to the larger; `value:tolerance=1e-5` sets another. Every other expected number,
especially an int, equals only exactly the same number: 5.0 equals 5, 1e18 is not 10**18 + 7. NaN equals NaN. `bytes`
equal `bytearray`. Text never equals a number. Generators and iterators are not data (`evaluator.model.Opaque`) and
equal nothing.

Items of sets are first paired exactly. Items left over on both sides (floats that differ within the tolerance) are
paired if they are equal with their numbers rounded, and up to 100 others each with the first that it equals. Sets and
dicts of more than twice the expected size plus 1,000 differ by their size: it is not reported in which items.
"""

from __future__ import annotations

import cmath
import math
from decimal import Decimal
from typing import Any

from evaluator.checkers._values import NUMBERS, canonical, native_equal, pair_by, unpaired
from evaluator.checkers._walk import Equal, Keys, Rules, Walk
from evaluator.model import Difference

COMPARES = "value"
TOLERANCE = 1e-9

_TOLERANT = (float, complex)
_LARGEST_KEY = 10**1000  # for an int key in decimal; Python refuses 4,300 digits


def check(expected: object, actual: object, *, tolerance: float = TOLERANCE) -> Difference | None:
    """None when equal by these rules; else the path to the first difference."""
    return Walk(ValueRules(tolerance)).first_difference(expected, actual)


class ValueRules(Rules):
    """The decisions of this checker for `Walk`, and mostly those of `unordered`."""

    mixed = True

    def __init__(self, tolerance: float = TOLERANCE) -> None:
        self._tolerance = tolerance

    def same_scalar(self, expected: Any, actual: Any) -> bool:
        if type(expected) in NUMBERS and type(actual) in NUMBERS:
            return _same_number(expected, actual, self._tolerance)
        return native_equal(expected, actual)

    def keys(self, expected: dict[Any, Any], actual: dict[Any, Any]) -> Keys:
        """Pairs equal keys first; the rest by what JSON would turn them into."""
        same, missing, extra = super().keys(expected, actual)
        if not missing or not extra:
            return same, missing, extra
        rest = pair_by(_json_key, missing, extra)
        partner = dict(same) | dict(rest.pairs)
        return [(key, partner[key]) for key in expected if key in partner], rest.missing, rest.extra

    def unpaired(self, expected: Any, actual: Any, equal: Equal, /) -> tuple[list[Any], list[Any]]:
        return unpaired(expected, actual, equal)


def _json_key(key: object) -> str:
    """A text that is the same for an int key and for the string key that JSON turns it into."""
    if isinstance(key, int) and abs(key) < _LARGEST_KEY:
        return canonical(str(int(key)))
    return canonical(key)


def _same_number(expected: Any, actual: Any, most: float) -> bool:
    if type(expected) not in _TOLERANT:
        return native_equal(expected, actual) or (_is_nan(expected) and _is_nan(actual))
    try:
        if complex in (type(expected), type(actual)):
            one, other = complex(expected), complex(actual)
            return cmath.isclose(one, other, rel_tol=most, abs_tol=most) or (cmath.isnan(one) and cmath.isnan(other))
        one, other = float(expected), float(actual)
        return math.isclose(one, other, rel_tol=most, abs_tol=most) or (math.isnan(one) and math.isnan(other))
    except (OverflowError, ValueError):  # beyond a double; a signalling Decimal NaN
        return False


def _is_nan(number: Any) -> bool:
    if type(number) is Decimal:
        return number.is_nan()
    return type(number) in _TOLERANT and number != number  # noqa: PLR0124
