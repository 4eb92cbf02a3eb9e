"""Compares lines of numbers token by token, as LiveCodeBench and graders derived from it do."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

from evaluator.checkers._other_systems import as_many_lines, line_differs
from evaluator.model import Difference

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
