"""Which decoded values are data, by exact type, and which types belong together.

The trusted side builds every value itself, so a value of a type that is not listed here is not data from a completion:
it equals nothing, and none of its methods (`==`, `hash`, `repr`) is ever called.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Iterable
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Any

from evaluator.model import Opaque


class Family(Enum):
    """The kind of a value in a comparison."""

    SCALAR = "scalar"
    LIST = "list"
    TUPLE = "tuple"
    DEQUE = "deque"
    MAPPING = "mapping"
    SET = "set"
    OPAQUE = "opaque"


NUMBERS = frozenset({bool, int, float, complex, Decimal, Fraction})

_SCALARS = frozenset((
    *NUMBERS, type(None), str, bytes, bytearray, range, date, datetime, time, timedelta, timezone, type(...),
))  # fmt: skip
_FAMILIES: dict[type, Family] = {
    **dict.fromkeys(_SCALARS, Family.SCALAR),
    list: Family.LIST,
    tuple: Family.TUPLE,
    deque: Family.DEQUE,
    **dict.fromkeys((dict, OrderedDict, defaultdict, Counter), Family.MAPPING),
    **dict.fromkeys((set, frozenset), Family.SET),
}


def family_of(value: object) -> Family:
    """The family of a value, by its exact type; a namedtuple is a tuple."""
    cls = type(value)
    found = _FAMILIES.get(cls)
    if found is not None:
        return found
    return Family.TUPLE if issubclass(cls, tuple) else Family.OPAQUE


def native_equal(expected: Any, actual: Any) -> bool:
    """Python's `==` for two values of the scalar family."""
    try:
        return bool(expected == actual)
    except ArithmeticError:  # a signalling Decimal NaN refuses to be compared
        return False


def why_no_data(value: object) -> str | None:
    """Why a value equals nothing ("a generator is not data"); None for data, whatever is inside it."""
    if family_of(value) is not Family.OPAQUE:
        return None
    name = value.type if type(value) is Opaque else type(value).__name__
    return f"{'an' if name[:1].lower() in 'aeiou' and name else 'a'} {name} is not data"


def holds_opaque(value: object) -> bool:
    """Whether a hashable value (a dict key, an item of a set) is or contains something that is not data."""
    pending: list[Any] = [value]
    while pending:
        item = pending.pop()
        family = family_of(item)
        if family is Family.OPAQUE:
            return True
        if family is not Family.SCALAR and not all_scalars(item):
            pending.extend(item)
    return False


def all_scalars(items: Iterable[Any]) -> bool:
    """Whether a collection has only scalars; fast even for a million."""
    return _SCALARS.issuperset(map(type, items))
