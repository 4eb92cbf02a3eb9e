"""NeMo Gym's code_gen resource server, 0.7.

Text. As `livecodebench`, but `YES` and `NO` are the same in upper and lower case, and two numbers, one of which has a
point or an exponent, may differ by 1e-6, absolute or relative to the expected one.

Values. A tuple at the top counts as a list. It accepts what is equal by `==`, has the same JSON text, or, if both are
numbers, is close by numpy.allclose (relative 1e-5, absolute 1e-8).
"""

from __future__ import annotations

import json
from decimal import Decimal

from evaluator.checkers._multiset import size
from evaluator.checkers._other_systems import close_numbers, first_difference, same, same_tokens, value_refused
from evaluator.model import Difference

COMPARES = "both"

_TOLERANCE = Decimal("1e-6")
_WORDS = ("yes", "no")


def check(expected: str, actual: str) -> Difference | None:
    """None when every line is the same text, the same word of YES and NO, or the same numbers within 1e-6."""
    return first_difference(expected, actual, _same_line)


def check_value(expected: object, actual: object) -> Difference | None:
    """None when `==`, the JSON text or numpy.allclose says so."""
    got = list(actual) if isinstance(actual, tuple) else actual
    if same(expected, got) or close_numbers(expected, got, 1e-5, 1e-8) or _same_json(expected, got):
        return None
    return value_refused(expected, actual, "NeMo Gym")


def _same_json(expected: object, actual: object) -> bool:
    try:
        if size(actual, room := size(expected)) > room:  # its JSON text differs, and may be very long
            return False
        return json.dumps(expected) == json.dumps(actual)
    except (TypeError, ValueError, RecursionError):
        return False


def _same_line(expected: str, actual: str) -> bool:
    if expected.lower() in _WORDS and expected.lower() == actual.lower():
        return True
    return same_tokens(expected, actual, _close)


def _close(expected: str, actual: str, wanted: Decimal, got: Decimal) -> bool:
    if wanted == got:
        return True
    if not (_is_fractional(expected) or _is_fractional(actual)) or not (wanted.is_finite() and got.is_finite()):
        return False
    return abs(wanted - got) <= _TOLERANCE * max(abs(wanted), Decimal(1))


def _is_fractional(token: str) -> bool:
    return "." in token or "e" in token.lower()
