"""What is in an object that can be changed in place, whether that has changed, and who else holds the object."""

from __future__ import annotations

import collections
import contextlib
import gc
import sys
from operator import is_
from typing import Any

from evaluator.sandbox.inside import arrays

_PLAIN = frozenset((type(None), bool, int, float, str))
_SEQUENCES = frozenset((list, set, collections.deque))
_MAPPINGS = frozenset((dict, collections.Counter, collections.defaultdict, collections.OrderedDict))
_FROZEN = frozenset((tuple, frozenset))
_OWN_REFERENCES = 3
"""To an object of a table: the table's, and the two of who counts."""

Contents = Any
"""A tuple of what the object holds; of an array, and of bytes, what tells whether they are the same."""


def contents(value: Any) -> Contents:
    kind = type(value)
    if kind in _SEQUENCES:
        return tuple(value)
    if kind in _MAPPINGS:
        return (*value.keys(), *value.values())
    if kind is bytearray:
        return bytes(value)
    if kind is float:
        return ()
    if arrays.is_mutable(value, kind):
        return arrays.snapshot(value)
    named = fields(value)
    return (*named.keys(), *named.values())


def unchanged(value: Any, before: Contents) -> bool:
    """Whether it holds the very objects that it held, in that order."""
    kind = type(value)
    if kind is bytearray:
        return bool(value == before)
    if kind not in _SEQUENCES and kind not in _MAPPINGS and arrays.is_mutable(value, kind):
        return arrays.unchanged(value, before)
    now = contents(value)
    return len(now) == len(before) and all(map(is_, now, before))


def fields(value: Any) -> dict[str, Any]:
    """An object's own attributes, read past whatever its class says of them."""
    found: dict[str, Any] = {}
    for kind in type.__dict__["__mro__"].__get__(type(value)):
        slots = type.__dict__["__dict__"].__get__(kind).get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            try:
                found[name] = object.__getattribute__(value, name)
            except AttributeError:
                continue
    with contextlib.suppress(AttributeError):
        found.update(object.__getattribute__(value, "__dict__"))
    found.pop("__dict__", None)
    found.pop("__weakref__", None)
    return found


def fill(value: Any, parts: list[Any]) -> None:
    """Gives an object of a dataset's class these fields, names and values by turns, and no others."""
    named = dict(zip(parts[::2], parts[1::2], strict=True))
    for name in fields(value).keys() - named.keys():
        object.__delattr__(value, name)
    for name, part in named.items():
        object.__setattr__(value, name, part)


def refill(value: Any, content: Any) -> None:
    """Makes an object hold this, in place: items, or keys and values by turns."""
    kind = type(value)
    if kind is list or kind is bytearray:
        value[:] = content
    elif kind is set:
        value.clear()
        value.update(content)
    elif kind is collections.deque:
        value.clear()
        value.extend(content)
    elif kind in _MAPPINGS:
        pairs = dict(zip(content[::2], content[1::2], strict=True))
        value.clear()
        dict.update(value, pairs) if kind is not collections.OrderedDict else value.update(pairs)
    elif arrays.is_mutable(value, kind):
        arrays.replace(value, content)
    else:
        fill(value, content)


def viewed(view: Any) -> dict[Any, Any]:
    """The dict of a view: the very one, which `view.mapping` does not give."""
    held: dict[Any, Any] = gc.get_referents(view)[0]
    return held


def held(objects: list[Any], seen: list[Contents], base: int) -> list[int]:
    """The numbers from `base` on of objects that are referred to from elsewhere than these objects themselves.

    And of all that stands in one of those, or in one before `base`, for these stay.
    """
    if base == len(objects):
        return []
    from_table, tuples = _references(seen)
    found = []
    for number in range(base, len(objects)):
        value = objects[number]
        if sys.getrefcount(value) > _OWN_REFERENCES + from_table.get(id(value), 0):
            found.append(number)
    outer = [each for each in tuples.values() if sys.getrefcount(each) > _OWN_REFERENCES + from_table[id(each)]]
    if not (base or found or outer):
        return []
    places = {id(objects[number]): number for number in range(base, len(objects))}
    return sorted(_reached(found, [*outer, *seen[:base]], places, seen))


def _reached(found: list[int], pending: list[Contents], places: dict[int, int], seen: list[Contents]) -> set[int]:
    """The numbers of the objects found, and of what stands in them and in what is pending. `places`: number by id."""
    reached = set(found)
    pending += [seen[number] for number in found]
    walked: set[int] = set()
    while pending:
        children = pending.pop()
        if type(children) not in _FROZEN or id(children) in walked or _PLAIN.issuperset(map(type, children)):
            continue
        walked.add(id(children))
        for child in children:
            number = places.get(id(child))
            if number is None:
                pending.append(child)
            elif number not in reached:
                reached.add(number)
                pending.append(seen[number])
    return reached


def _references(seen: list[Contents]) -> tuple[dict[int, int], dict[int, Contents]]:
    """How often each object stands in what was seen: for each there, once more in the object itself.

    Second the tuples and frozensets among them, by id.
    """
    counts: dict[int, int] = {}
    frozen: dict[int, Contents] = {}
    pending: list[tuple[Any, int]] = [(each, 2) for each in seen if type(each) is tuple]
    while pending:
        children, weight = pending.pop()
        if _PLAIN.issuperset(map(type, children)):
            continue
        for child in children:
            kind = type(child)
            if kind in _PLAIN:
                continue
            counts[id(child)] = counts.get(id(child), 0) + weight
            if kind in _FROZEN and id(child) not in frozen:
                frozen[id(child)] = child
                pending.append((child, 1))
    return counts, frozen
