"""Objects that both processes hold, by number, and what was in them when they last crossed.

What can be changed in place gets a number when it first crosses, the same on both sides. So aliases and cycles are
kept, a result that is an argument comes back as that argument, and what one side changes is changed on the other. The
test's side alone decides when a number is let go: when nobody there holds the object any more.
"""

from __future__ import annotations

import collections
import contextlib
import sys
from operator import is_
from typing import Any

from evaluator.sandbox.inside.assertions import arrays

_SEQUENCES = frozenset((list, set, collections.deque))
_MAPPINGS = frozenset((dict, collections.Counter, collections.defaultdict, collections.OrderedDict))
_OWN_REFERENCES = 2
"""To an object of a table: the table's, and that of the call which counts them."""


class Table:
    """Numbered as on the other side, which does the same in the same order. No number is given twice."""

    def __init__(self) -> None:
        self.objects: dict[int, Any] = {}
        self.numbers: dict[int, int] = {}
        """Number by `id`."""
        self.next = 0
        self._seen: dict[int, Any] = {}
        self._settled = 0

    def add(self, value: Any) -> None:
        self.objects[self.next] = value
        self.numbers[id(value)] = self.next
        self.next += 1

    def settle(self, changed: list[int]) -> None:
        """Notes what is in the objects that are new, and in those that have changed."""
        for number in (*changed, *range(self._settled, self.next)):
            self._seen[number] = contents(self.objects[number])
        self._settled = self.next

    def changed(self) -> list[int]:
        """The numbers of objects whose contents are not what they were."""
        return [number for number, before in self._seen.items() if not _unchanged(self.objects[number], before)]

    def forget(self, first: int) -> None:
        """Takes back the numbers from this one on, which have not crossed."""
        self.drop(list(range(first, self.next)))
        self.next = first

    def drop(self, numbers: list[int]) -> None:
        """Raises `KeyError` for a number that is not known."""
        for number in numbers:
            del self.numbers[id(self.objects.pop(number))]
            self._seen.pop(number, None)

    def drop_unheld(self) -> list[int]:
        """Lets go of what nobody but this table holds, where the other side knows what is in it; the numbers."""
        dropped = []
        for number in list(self.objects):  # what holds others has the lower number
            unheld = sys.getrefcount(self.objects[number]) <= _OWN_REFERENCES
            if unheld and _unchanged(self.objects[number], self._seen[number]):
                self.drop([number])
                dropped.append(number)
        return dropped


def contents(value: Any) -> Any:
    """What an object that can be changed holds; of bytes and arrays, what tells whether they are the same."""
    kind = type(value)
    if kind in _SEQUENCES:
        return tuple(value)
    if kind in _MAPPINGS:
        return (*value.keys(), *value.values())
    if kind is bytearray:
        return bytes(value)
    if kind is float:  # NaN
        return ()
    if arrays.is_mutable(kind):
        return arrays.snapshot(value)
    named = fields(value)
    return (*named.keys(), *named.values())


def _unchanged(value: Any, before: Any) -> bool:
    """Whether it holds the very objects that it held, in that order."""
    now = contents(value)
    if type(now) is bytes:
        return bool(now == before)
    if arrays.is_mutable(type(value)):
        return bool(now[0] == before[0]) and len(now) == len(before) and all(map(is_, now[1:], before[1:]))
    return len(now) == len(before) and all(map(is_, now, before))


def fields(value: Any) -> dict[str, Any]:
    """An object's own attributes, read past whatever its class says of them."""
    found: dict[str, Any] = {}
    for kind in type.__dict__["__mro__"].__get__(type(value)):
        slots = type.__dict__["__dict__"].__get__(kind).get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            with contextlib.suppress(AttributeError):
                found[name] = object.__getattribute__(value, name)
    with contextlib.suppress(AttributeError):
        found.update(object.__getattribute__(value, "__dict__"))
    found.pop("__dict__", None)
    found.pop("__weakref__", None)
    return found


def refill(value: Any, content: Any) -> None:
    """Makes an object hold this, in place: items, or keys and values by turns."""
    kind = type(value)
    if kind is list or kind is bytearray:
        value[:] = content
    elif kind in _SEQUENCES:
        value.clear()
        value.extend(content) if kind is collections.deque else value.update(content)
    elif kind in _MAPPINGS:
        value.clear()
        pairs = dict(zip(content[::2], content[1::2], strict=True))
        # `update` of a Counter adds; `dict.update` does not tell an OrderedDict its order
        value.update(pairs) if kind is collections.OrderedDict else dict.update(value, pairs)
    elif arrays.is_mutable(kind):
        arrays.replace(value, content)
    else:
        named = dict(zip(content[::2], content[1::2], strict=True))
        for name in fields(value).keys() - named.keys():
            object.__delattr__(value, name)
        for name, part in named.items():
            object.__setattr__(value, name, part)
