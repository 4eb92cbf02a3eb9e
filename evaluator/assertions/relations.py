"""What an assert asks of a call's result, decided on decoded data by the `python` checker."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from evaluator.checkers import brief, get_checker, message, why_no_data
from evaluator.model import Difference


class Relation(StrEnum):
    """How the result must stand to the literal."""

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
    """`relation` to `value`, which means nothing for TRUE and FALSE."""

    relation: Relation
    value: object = None


def expectation_holds(expectation: Expectation, value: object) -> Difference | None:
    """None when a decoded result meets the expectation, else why not.

    What is no data is unequal to everything, and neither true nor false: its class is the completion's, which
    the trusted side does not ask.
    """
    wanted = expectation.value
    match expectation.relation:
        case Relation.EQUAL:
            return _difference(wanted, value)
        case Relation.UNEQUAL:
            return None if _difference(wanted, value) else _unmet(f"anything but {brief(wanted)}", value)
        case Relation.IDENTICAL:
            return None if value is wanted else _unmet(brief(wanted), value)
        case Relation.NOT_IDENTICAL:
            return None if value is not wanted else _unmet(f"anything but {brief(wanted)}", value)
        case Relation.AMONG:
            return None if _is_among(wanted, value) else _unmet(f"one of {brief(wanted)}", value)
        case Relation.NOT_AMONG:
            return _unmet(f"none of {brief(wanted)}", value) if _is_among(wanted, value) else None
        case Relation.TRUE:
            return _truth(value, wanted=True)
        case Relation.FALSE:
            return _truth(value, wanted=False)


def _difference(wanted: object, value: object) -> Difference | None:
    return get_checker("python").rules["value"](wanted, value)


def _is_among(wanted: Any, value: object) -> bool:
    return any(_difference(item, value) is None for item in wanted)


def _truth(value: Any, *, wanted: bool) -> Difference | None:
    asked = f"a {str(wanted).lower()} value"
    if why_no_data(value):
        return _unmet(asked, value)
    return None if bool(value) is wanted else _unmet(asked, value)


def _unmet(asked: str, value: object) -> Difference:
    why = why_no_data(value)
    return Difference(message(f"expected {asked}, got {brief(value)}{f': {why}' if why else ''}"), path="")
