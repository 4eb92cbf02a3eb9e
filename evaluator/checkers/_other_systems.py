"""What rules of other systems share: comparing, and finding where two outputs differ that a rule only refuses."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal

from evaluator.checkers import floats, python, value
from evaluator.checkers._rendering import brief, message
from evaluator.checkers._text import Spot, compare_lines, difference, excerpt, extra_lines, missing_lines
from evaluator.model import Difference


def as_many_lines(wanted: str, got: str) -> Difference | None:
    """None if both texts have equally many lines; else the first missing or extra one.

    An empty text has one line. Counts lines before splitting a text: it may have millions instead of the expected one.
    """
    there, here = wanted.count("\n") + 1, got.count("\n") + 1
    if here < there:
        return missing_lines(here + 1, there - here, _line_after(wanted, here))
    if here > there:
        return extra_lines(there + 1, here - there, _line_after(got, there))
    return None


def _line_after(text: str, count: int) -> str:
    """The line after the first `count`, stripped."""
    return text.split("\n", count + 1)[count].strip()


def line_differs(number: int, wanted: str, got: str) -> Difference:
    """The difference of the two stripped lines with this number."""
    return difference(number, 1, excerpt(wanted), excerpt(got))


def text_refused(expected: str, actual: str, system: str) -> Difference:
    """Where they first differ line by line, or else that the system's rule refuses them although they are equal."""
    exact = compare_lines(expected, actual, _spot)
    if exact is not None and floats.check(expected, actual) is not None:
        return exact
    text = f"equal line by line or within 1e-6, but {system} refuses it"
    return Difference(message(text), line=exact.line if exact else 1, column=exact.column if exact else 1)


def value_refused(expected: object, actual: object, system: str) -> Difference:
    """As `text_refused`, for values."""
    found = value.check(expected, actual)
    text = f"equal as values, but {system} refuses it: expected {brief(expected)}, got {brief(actual)}"
    return found or Difference(message(text))


def same(expected: object, actual: object) -> bool:
    """Python's `==`; what is not data equals nothing."""
    return python.check(expected, actual) is None


def close_numbers(expected: object, actual: object, relative: float, absolute: float) -> bool:
    """Whether both are numbers, or text that is a number, within a tolerance like numpy.allclose's."""
    if not isinstance(expected, int | float | str) or not isinstance(actual, int | float | str):
        return False
    try:
        return near(float(expected), float(actual), relative, absolute)
    except (ValueError, OverflowError):
        return False


def near(expected: float, actual: float, relative: float, absolute: float) -> bool:
    """As in numpy.allclose: relative to the expected one, infinities equal themselves, NaN equals nothing."""
    if math.isinf(expected) or math.isinf(actual):
        return expected == actual
    return abs(actual - expected) <= absolute + relative * abs(expected)


def _spot(expected: str, actual: str) -> Spot | None:
    return None if expected.strip() == actual.strip() else Spot(0, excerpt(expected.strip()), excerpt(actual.strip()))


SameLine = Callable[[str, str], bool]
SameToken = Callable[[str, str, Decimal, Decimal], bool]


def first_difference(expected: str, actual: str, same_line: SameLine) -> Difference | None:
    """None if both have equally many lines and each pair is equal, as stripped text or by `same_line`."""
    wanted, got = expected.strip(), actual.strip()
    if (uneven := as_many_lines(wanted, got)) is not None:
        return uneven
    pairs = zip(wanted.split("\n"), got.split("\n"), strict=True)
    for number, (one, other) in enumerate(((one.strip(), other.strip()) for one, other in pairs), 1):
        if one != other and not same_line(one, other):
            return line_differs(number, one, other)
    return None


def same_tokens(expected: str, actual: str, same: SameToken) -> bool:
    """Whether both lines have only numbers, equally many, and each pair is the same."""
    wanted = expected.split()
    got = actual.split(None, len(wanted))
    if len(wanted) != len(got):
        return False
    try:
        return all(same(one, other, Decimal(one), Decimal(other)) for one, other in zip(wanted, got, strict=True))
    except ArithmeticError:  # not a number, or one that can't be calculated with
        return False
