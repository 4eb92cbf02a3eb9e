"""Decoded values: which are data, by exact type, and pairs of equal items of two collections without order.

The trusted side builds every value itself, so a value of a type that is not listed here is not data from a completion:
it equals nothing, and none of its methods (`==`, `hash`, `repr`) is ever called.

Items of collections are matched by a text that is the same for items that are equal without tolerance, in linear time
for any items. (A completion can make Python's hashes of ints collide, but not those of texts.) Items left over are
matched by the text with rounded numbers; the few that are then left are all compared with each other. An actual item
that is larger than every expected one has no partner: it is only counted up to that size.
"""

from __future__ import annotations

import math
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from functools import partial
from itertools import count
from typing import Any, NamedTuple

from evaluator.model import Opaque

MOST_COMPARED = 100
"""Left-over items that are all compared with each other."""
_DEPTH = 50

_unmatched = count()
_Equal = Callable[[Any, Any], bool]


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


_MARKS = {Family.MAPPING: "{", Family.SET: "<"}


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


# --- collections without order


class Paired(NamedTuple):
    """Pairs of items of two collections, and the items left over from each."""

    pairs: list[tuple[Any, Any]]
    missing: list[Any]
    extra: list[Any]


def unpaired(expected: Iterable[Any], actual: Iterable[Any], equal: _Equal) -> tuple[list[Any], list[Any]]:
    """The items of each that have no equal one in the other."""
    _, missing, extra = pair_by(canonical, expected, actual)
    if not missing or not extra:
        return missing, extra
    pairs, missing, extra = pair_by(partial(canonical, rounded=True), missing, extra)
    for one, other in pairs:
        if not equal(one, other):
            missing.append(one)
            extra.append(other)
    room = max(map(size, missing), default=0)
    near = [at for at, item in enumerate(extra) if size(item, room) <= room]
    if max(len(missing), len(near)) > MOST_COMPARED:
        return missing, extra
    taken: set[int] = set()
    left = []
    for item in missing:
        found = next((at for at in near if at not in taken and equal(item, extra[at])), None)
        if found is None:
            left.append(item)
        else:
            taken.add(found)
    return left, [item for at, item in enumerate(extra) if at not in taken]


def pair_by(key: Callable[[Any], str], expected: Iterable[Any], actual: Iterable[Any]) -> Paired:
    """Pairs the items with the same key, in the order of expected."""
    wanted = list(expected)
    room = max(map(size, wanted), default=0)
    waiting: defaultdict[str, deque[Any]] = defaultdict(deque)
    for item in actual:
        waiting[key(item) if size(item, room) <= room else _no_key()].append(item)
    pairs, missing = [], []
    for item in wanted:
        same = waiting.get(key(item))
        if same:
            pairs.append((item, same.popleft()))
        else:
            missing.append(item)
    return Paired(pairs, missing, [item for same in waiting.values() for item in same])


def size(value: Any, most: float = math.inf) -> int:
    """How many values it consists of, including itself; equal values have the same size. Stops counting at `most`."""
    found, pending = 1, [value]
    while pending and found <= most:
        item = pending.pop()
        family = family_of(item)
        if family in (Family.SCALAR, Family.OPAQUE):
            continue
        parts = (item, item.values()) if family is Family.MAPPING else (item,)
        found += len(parts) * len(item)
        if found <= most:
            for part in parts:
                pending.extend(() if all_scalars(part) else part)
    return found


def _no_key() -> str:
    return f"?{next(_unmatched)}"


def canonical(value: Any, *, rounded: bool = False, depth: int = 0) -> str:
    """A text that two values share only if they are equal by the `value` rules, or may be if numbers are `rounded`.

    Equal values may have different texts: numbers of different types that are not whole, floats within the
    tolerance, a set and a list. What is not data, or is nested too deeply, never has the same text twice.
    """
    family = family_of(value)
    if family is Family.OPAQUE or depth > _DEPTH:
        return _no_key()
    if family is Family.SCALAR:
        return _scalar(value, rounded)
    texts = [canonical(item, rounded=rounded, depth=depth + 1) for item in value]
    if family is Family.MAPPING:
        items = zip(texts, value.values(), strict=True)
        texts = [f"{key}:{canonical(item, rounded=rounded, depth=depth + 1)}" for key, item in items]
    mark = _MARKS.get(family, "[")
    return f"{mark}{','.join(texts if mark == '[' else sorted(texts))}]"


def _scalar(value: Any, rounded: bool) -> str:
    kind = type(value)
    if kind is str:
        # The length keeps a text from imitating the syntax around it.
        return f"s{len(value)}:{value}"
    try:
        if rounded and kind in NUMBERS and kind is not complex:
            return f"n{float(value) + 0.0:.9g}"
        if kind in (int, bool) or (kind is float and value.is_integer()):
            return f"i{int(value):x}"
        return repr(bytes(value) if kind is bytearray else value)
    except (OverflowError, ValueError):  # beyond a double; too many digits for Python
        return _no_key()
