"""Values as short text, inside the sandbox. None of the completion's own code runs for it: no `__repr__`, no `__str__`.

It is sent as text before `inside.py`, and imports only the standard library.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Iterable
from types import BuiltinFunctionType, FunctionType, GetSetDescriptorType, MethodType, ModuleType
from typing import Any

FIXED = frozenset({int, float, complex, bool, str, bytes, type(None), range})
"""Types whose values can't change."""
_ROOM = 160
"""Characters of a value."""
_SLACK = 90
"""For the last item, and how many there are."""
_DEEP = 6
_SORTED = 1_000
_SHOWN_BY_REPR = {"Decimal", "Fraction", "datetime", "date", "time", "timedelta"}
_NO_LAST = object()
# A class may have code of its own for each of these, or its metaclass; so has `isinstance`, but not `issubclass`.
classes_of = type.__dict__["__mro__"].__get__
names_of_class = type.__dict__["__dict__"].__get__
arguments_of = BaseException.__dict__["args"].__get__
_name = type.__dict__["__name__"].__get__


def name_of(kind: type) -> str:
    """A class's name."""
    return str.__str__(_name(kind))


def shown(value: object, room: int = _ROOM) -> str:
    """The value as text of about `room` characters at most."""
    try:
        text = _shown(value, room, 0)
    except BaseException:
        return "<?>"
    return text if len(text) <= room + _SLACK else f"{text[:room]}…"


def _shown(value: Any, room: int, depth: int) -> str:
    kind = type(value)
    if kind is int:
        return repr(value) if value.bit_length() < 4 * room else f"<int of {value.bit_length()} bits>"
    if kind in (str, bytes, bytearray):
        return repr(value) if len(value) <= room else f"{value[:room]!r}… ({len(value)} characters)"
    if kind in FIXED:
        return repr(value)
    if depth >= _DEEP:
        return "…"
    if issubclass(kind, dict):
        body = _pairs(dict.items(value), dict.__len__(value), room, depth)
        return f"{{{body}}}" if kind is dict else f"{name_of(kind)}({{{body}}})"
    if issubclass(kind, (list, tuple, set, frozenset, deque)):
        return _sequence(value, kind, room, depth)
    if issubclass(kind, type):
        return f"<{name_of(kind)} {name_of(value)}>"
    if kind in (FunctionType, BuiltinFunctionType, MethodType, ModuleType):
        return f"<{name_of(kind)} {getattr(value, '__name__', '')}>"
    if name_of(kind) in _SHOWN_BY_REPR and kind.__module__ in ("datetime", "decimal", "fractions"):
        return repr(value)
    return _object(value, kind, room, depth)


def _sequence(value: Any, kind: type, room: int, depth: int) -> str:
    base: Any = next(each for each in (list, tuple, set, frozenset, deque) if issubclass(kind, each))
    count = base.__len__(value)
    values: Iterable[object] = base.__iter__(value)
    if base in (set, frozenset) and count <= _SORTED:
        values = list(values)
        if all(type(each) in FIXED for each in values):
            with contextlib.suppress(TypeError):
                values = sorted(values)  # type: ignore[type-var]
    last = base.__getitem__(value, -1) if base in (list, tuple) and count else _NO_LAST
    body = _items(values, count, room, depth, last)
    if kind is list:
        return f"[{body}]"
    if kind is tuple:
        return f"({body},)" if tuple.__len__(value) == 1 else f"({body})"
    if kind is set:
        return f"{{{body}}}" if body else "set()"
    return f"{name_of(kind)}({body})" if issubclass(kind, tuple) else f"{name_of(kind)}([{body}])"


def _items(values: Iterable[object], count: int, room: int, depth: int, last: object = _NO_LAST) -> str:
    pieces: list[str] = []
    for value in values:
        if room <= 0:
            end = f" {_shown(last, 40, _DEEP - 1)[:40]}" if last is not _NO_LAST else ""
            return f"{', '.join(pieces)}, …{end} ({count} items)"
        pieces.append(_shown(value, room, depth + 1))
        room -= len(pieces[-1]) + 2
    return ", ".join(pieces)


def _pairs(pairs: Iterable[tuple[object, object]], count: int, room: int, depth: int, joint: str = ": ") -> str:
    pieces: list[str] = []
    for key, value in pairs:
        if room <= 0:
            return f"{', '.join(pieces)}, … ({count} items)"
        name = _shown(key, room, depth + 1) if joint == ": " else str(key)
        pieces.append(f"{name}{joint}{_shown(value, room, depth + 1)}")
        room -= len(pieces[-1]) + 2
    return ", ".join(pieces)


def _object(value: object, kind: type, room: int, depth: int) -> str:
    if issubclass(kind, BaseException):
        arguments = arguments_of(value)
        return f"{name_of(kind)}({_items(arguments, len(arguments), room, depth)})"
    fields = attributes_of(value)
    if not fields:
        return f"<{name_of(kind)}>"
    return f"{name_of(kind)}({_pairs(fields.items(), len(fields), room, depth, '=')})"


def attributes_of(value: object) -> dict[Any, object]:
    """An object's attributes as they are stored. A `__dict__` that its class makes up is not asked."""
    for names in map(names_of_class, classes_of(type(value))):
        stored = names.get("__dict__")
        if stored is not None:
            try:
                fields = stored.__get__(value) if type(stored) is GetSetDescriptorType else None
            except (AttributeError, TypeError):  # of another class
                return {}
            return fields if type(fields) is dict else {}
    return {}
