"""Pairs the items of two collections without order, for the `value` rules.

Items are matched by a text that is the same for items that are equal without tolerance, in linear time for any items.
(A completion can make Python's hashes of ints collide, but not those of texts.) Usually few items are left over; those
are all compared with each other. An actual item that is larger than every expected one has no partner: it is only
counted up to that size.
"""

from __future__ import annotations

import math
from collections import defaultdict, deque
from collections.abc import Callable, Iterable
from decimal import Decimal
from fractions import Fraction
from itertools import count
from typing import Any, NamedTuple

from evaluator.checkers._families import Family, all_scalars, family_of

MATCH_LIMIT = 100
"""Left-over items that are all compared with each other; if there are more, in sorted order."""
_DEPTH = 50

_unmatched = count()
_Equal = Callable[[Any, Any], bool]


class Paired(NamedTuple):
    """Pairs of items of two collections, and the items left over from each."""

    pairs: list[tuple[Any, Any]]
    missing: list[Any]
    extra: list[Any]


def pair_off(expected: Iterable[Any], actual: Iterable[Any], equal: _Equal) -> Paired:
    """Pairs equal items: those with the same canonical text first, then by `equal`."""
    paired = pair_by(canonical, expected, actual)
    missing = paired.missing
    room = max(map(size, missing), default=0)
    extra = [item for item in paired.extra if size(item, room) <= room]
    if not missing or not extra:
        return paired
    made = _best_pairs if max(len(missing), len(extra)) <= MATCH_LIMIT else _sorted_pairs
    pairs, missing, left = made(missing, extra, equal)
    return Paired(pairs, missing, [*left, *(item for item in paired.extra if size(item, room) > room)])


def pair_by(key: Callable[[Any], str], expected: Iterable[Any], actual: Iterable[Any]) -> Paired:
    """Pairs the items with the same key, in the order of expected."""
    wanted = list(expected)
    room = max((size(item) for item in wanted), default=0)
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


def canonical(value: Any, depth: int = 0) -> str:
    """A text that two values share only if they are equal by the `value` rules.

    Equal values may have different texts: numbers of different types that are not whole, floats within the
    tolerance, a set and a list. What is not data, or is nested too deeply, never has the same text twice.
    """
    family = family_of(value)
    if family is Family.OPAQUE or depth > _DEPTH:
        return _no_key()
    if family is Family.SCALAR:
        return _canonical_scalar(value)
    if family is Family.MAPPING:
        items = [f"{canonical(key, depth + 1)}:{canonical(item, depth + 1)}" for key, item in value.items()]
        return f"{{{','.join(sorted(items))}}}"
    texts = [canonical(item, depth + 1) for item in value]
    if family is Family.SET:
        return f"<{','.join(sorted(texts))}>"
    return f"[{','.join(texts)}]"


def _canonical_scalar(value: Any) -> str:
    kind = type(value)
    if kind in (int, bool):
        return f"i{int(value):x}"
    if kind is float:
        return f"i{int(value):x}" if value.is_integer() else f"f{value.hex()}"
    if kind is str:
        # The length keeps a text from imitating the syntax around it.
        return f"s{len(value)}:{value}"
    if kind in (bytes, bytearray):
        return f"b{value.hex()}"
    if kind is Decimal:
        # Not as an int or a ratio: 1e999999999 is a short Decimal but a very long int.
        return f"d{value}"
    if kind is Fraction:
        return f"q{value.numerator:x}/{value.denominator:x}"
    if kind is range:
        return f"r{value.start:x}:{value.stop:x}:{value.step:x}"
    return f"{kind.__name__}{value!r}"


def _best_pairs(missing: list[Any], extra: list[Any], equal: _Equal) -> Paired:
    """As many pairs as possible: bipartite matching by augmenting paths."""
    fitting = [[there for there, other in enumerate(extra) if equal(item, other)] for item in missing]
    holder: dict[int, int] = {}

    def placed(here: int, tried: set[int]) -> bool:
        for there in fitting[here]:
            if there not in tried:
                tried.add(there)
                if there not in holder or placed(holder[there], tried):
                    holder[there] = here
                    return True
        return False

    left = [item for here, item in enumerate(missing) if not placed(here, set())]
    pairs = [(missing[here], extra[there]) for there, here in holder.items()]
    return Paired(pairs, left, [item for there, item in enumerate(extra) if there not in holder])


def _sorted_pairs(missing: list[Any], extra: list[Any], equal: _Equal) -> Paired:
    """Pairs in sorted order up to the first two that differ."""
    missing, extra = sorted(missing, key=_order), sorted(extra, key=_order)
    shared = min(len(missing), len(extra))
    for at in range(shared):
        if not equal(missing[at], extra[at]):
            shared = at
            break
    return Paired(list(zip(missing[:shared], extra, strict=False)), missing[shared:], extra[shared:])


_Order = tuple[int, float, str, tuple[Any, ...]]


def _order(value: Any, depth: int = 0) -> _Order:
    """Sorts numbers by value, then the rest by text; a collection by its items."""
    family = family_of(value)
    if type(value) in (int, bool, float, Decimal, Fraction):
        return _order_number(value)
    if family in (Family.SCALAR, Family.OPAQUE) or depth > _DEPTH:
        return 2, 0.0, canonical(value, depth), ()
    items = value.items() if family is Family.MAPPING else value
    keys = [_order(item, depth + 1) for item in items]
    return 3, 0.0, "", tuple(sorted(keys) if family in (Family.MAPPING, Family.SET) else keys)


def _order_number(value: Any) -> _Order:
    try:
        number = float(value)
    except (OverflowError, ValueError):
        return 1, 0.0, canonical(value), ()
    return (1, 0.0, "nan", ()) if math.isnan(number) else (0, number, "", ())
