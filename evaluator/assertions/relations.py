"""What an assert requires of a call's result, decided on decoded data by the `python` checker."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from evaluator.checkers import brief, get_checker, message, why_no_data
from evaluator.model import Difference, Opaque


class Relation(StrEnum):
    """The relation between the result and the literal."""

    EQUAL = "=="
    UNEQUAL = "!="
    IDENTICAL = "is"
    NOT_IDENTICAL = "is not"
    AMONG = "in"
    NOT_AMONG = "not in"
    TRUE = "true"
    FALSE = "false"


@dataclass(frozen=True)
class Expectation:
    """`relation` to `value`, which is not used for TRUE and FALSE."""

    relation: Relation
    value: object = None


def expectation_holds(expectation: Expectation, value: object) -> Difference | None:
    """None if a decoded result meets the expectation, else why not.

    A value that is not data is unequal to everything. Whether it is true was asked in the sandbox, as an assert would:
    a completion that may answer what it likes could as well return True.
    """
    expected = expectation.value
    match expectation.relation:
        case Relation.EQUAL:
            return _difference(expected, value)
        case Relation.UNEQUAL:
            return None if _difference(expected, value) else _unmet(f"anything but {brief(expected)}", value)
        case Relation.IDENTICAL:
            return None if value is expected else _unmet(brief(expected), value)
        case Relation.NOT_IDENTICAL:
            return None if value is not expected else _unmet(f"anything but {brief(expected)}", value)
        case Relation.AMONG:
            return None if _is_among(expected, value) else _unmet(f"one of {brief(expected)}", value)
        case Relation.NOT_AMONG:
            return _unmet(f"none of {brief(expected)}", value) if _is_among(expected, value) else None
        case Relation.TRUE | Relation.FALSE as truth:
            is_met = truth_of(value) is (truth is Relation.TRUE)
            return None if is_met else _unmet(f"a {truth.value} value", value)


def truth_of(value: object) -> bool | None:
    """Whether a decoded value is true; None if that can't be known."""
    if isinstance(value, Opaque):
        return value.truth
    return None if why_no_data(value) else bool(value)


def _difference(expected: object, value: object) -> Difference | None:
    return get_checker("python").rules["value"](expected, value)


def _is_among(expected: Any, value: object) -> bool:
    return any(_difference(item, value) is None for item in expected)


def _unmet(expected: str, value: object) -> Difference:
    why = why_no_data(value)
    return Difference(message(f"expected {expected}, got {brief(value)}{f': {why}' if why else ''}"), path="")
