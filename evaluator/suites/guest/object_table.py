"""Objects that both processes hold, by number, and their contents when they last crossed.

A mutable object gets a number when it first crosses, the same on both sides. So aliases and cycles are preserved, a
result that is an argument comes back as that argument, and changes on one side are made on the other. A number is
dropped, on both sides, when nothing on one side refers to the object any more: each message costs a look at all others.
"""

from __future__ import annotations

import collections
import contextlib
import sys
from operator import is_
from typing import Any

from evaluator.suites.guest import arrays

_SEQUENCES = frozenset((list, set, collections.deque))
MAPPINGS = frozenset((dict, collections.Counter, collections.defaultdict, collections.OrderedDict))
_OWN_REFERENCES = 2
"""References to an unused object of a table: the table's own, and that of the call that counts them."""


class Table:
    """Numbers objects as the other side does, in the same order. No number is used twice."""

    def __init__(self) -> None:
        self.objects: dict[int, Any] = {}
        self.numbers: dict[int, int] = {}
        """Number by `id`."""
        self.next = 0
        self.untold: list[int] = []
        """Dropped here, and not yet reported to the other side."""
        self._seen: dict[int, Any] = {}
        self._settled = 0

    def add(self, value: Any) -> None:
        self.objects[self.next] = value
        self.numbers[id(value)] = self.next
        self.next += 1

    def settle(self, changed: list[int]) -> None:
        """Records the contents of the new and the changed objects."""
        for number in (*changed, *range(self._settled, self.next)):
            self._seen[number] = contents(self.objects[number])
        self._settled = self.next

    def changed(self) -> list[int]:
        """The numbers of objects whose contents are not what they were."""
        return [number for number, before in self._seen.items() if not _unchanged(self.objects[number], before)]

    def forget(self, first: int) -> None:
        """Removes the numbers from this one on, which have not crossed."""
        self.drop(list(range(first, self.next)))
        self.next = first

    def drop(self, numbers: list[int]) -> None:
        """Raises `KeyError` for an unknown number."""
        for number in numbers:
            del self.numbers[id(self.objects.pop(number))]
            self._seen.pop(number, None)

    def drop_unheld(self) -> list[int]:
        """Drops objects that only this table holds and that have not changed; returns the numbers to report."""
        for number in list(self.objects):  # containers have lower numbers than their contents
            unheld = sys.getrefcount(self.objects[number]) <= _OWN_REFERENCES
            if unheld and _unchanged(self.objects[number], self._seen[number]):
                self.drop([number])
                self.untold.append(number)
        return self.untold


def contents(value: Any) -> Any:
    """The contents of a mutable object; for bytes and arrays, a copy to compare with."""
    kind = type(value)
    if kind in _SEQUENCES:
        return tuple(value)
    if kind in MAPPINGS:
        return (*value.keys(), *value.values())
    if kind is bytearray:
        return bytes(value)
    if arrays.is_mutable(kind):
        return arrays.snapshot(value)
    named = fields(value)
    return (*named.keys(), *named.values())


def _unchanged(value: Any, before: Any) -> bool:
    """Whether it holds the same objects as before, in the same order."""
    now = contents(value)
    if type(now) is bytes:
        return bool(now == before)
    if arrays.is_mutable(type(value)):
        return bool(now[0] == before[0]) and len(now) == len(before) and all(map(is_, now[1:], before[1:]))
    return len(now) == len(before) and all(map(is_, now, before))


def fields(value: Any) -> dict[str, Any]:
    """An object's own attributes, read without its class's code."""
    attributes: dict[str, Any] = {}
    for kind in type.__dict__["__mro__"].__get__(type(value)):
        slots = type.__dict__["__dict__"].__get__(kind).get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            with contextlib.suppress(AttributeError):
                attributes[name] = object.__getattribute__(value, name)
    with contextlib.suppress(AttributeError):
        attributes.update(object.__getattribute__(value, "__dict__"))
    attributes.pop("__dict__", None)
    attributes.pop("__weakref__", None)
    return attributes


def refill(value: Any, content: Any) -> None:
    """Replaces an object's contents in place: items, or keys and values in turn."""
    kind = type(value)
    if kind is list or kind is bytearray:
        value[:] = content
    elif kind is set:
        items = set(content)  # hashing an item may ask the other side, which must not see half of the contents
        value.clear()
        value.update(items)
    elif kind is collections.deque:
        value.clear()
        value.extend(content)
    elif kind in MAPPINGS:
        pairs = dict(zip(content[::2], content[1::2], strict=True))
        value.clear()
        # `update` of a Counter adds; `dict.update` does not set an OrderedDict's order
        value.update(pairs) if kind is collections.OrderedDict else dict.update(value, pairs)
    elif arrays.is_mutable(kind):
        arrays.replace(value, content)
    else:
        named = dict(zip(content[::2], content[1::2], strict=True))
        for name in fields(value).keys() - named.keys():
            object.__delattr__(value, name)
        for name, part in named.items():
            object.__setattr__(value, name, part)
