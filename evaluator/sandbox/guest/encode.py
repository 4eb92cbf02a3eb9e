"""Encodes values as JSON text, by exact type, to leave the sandbox. `evaluator.sandbox.host.values` reads it.

None, bool, str, finite float, int of 64 bits and list are plain JSON; everything else is an object with one key, the
tag. A subclass is sent as its base's value by the base's own methods, so that no code of the completion runs; for
objects that are not data, the type's name is sent. Classes of the completion that override how their instances compare
are named around the whole: `{"u":[names, value]}`.
"""

from __future__ import annotations

import collections
import datetime
import decimal
import fractions
import itertools
import math
import operator
import sys
from _json import encode_basestring_ascii as _quoted
from collections.abc import Callable, Iterable
from typing import Any

MAX_DEPTH = 200
_INT64 = 2**63
_MOST_BITS = 1 << 14
"""Of the ints in a Fraction, range or timedelta: longer ones would cost the parent minutes of arithmetic."""
_CONTAINER_COST = 3
_MOST_NAMED = 3
OWN_MODULES = ("solution", "__main__")
"""The modules with the completion's and the dataset's classes."""
_COMPARING = (
    "__eq__", "__ne__", "__class__", "__instancecheck__", "__float__", "__index__", "__len__", "__iter__",
    "__contains__", "__getattribute__", "__array__", "__array_function__", "__array_ufunc__", "equals",
)  # fmt: skip
"""Methods that influence comparisons. Only an order (`__lt__`) or a `__hash__` is for heaps, sorts and keys."""


class TooLargeError(Exception):
    """The value's text is longer than the output cap."""


def encode(value: object, cap: int) -> bytes:
    """The value's text, at most `cap` characters. Raises `TooLargeError`."""
    encoder = _Encoder(cap)
    try:
        text = encoder.text(value, 0)
    except RecursionError:
        text = _opaque("object", "nested too deeply")
    if encoder.named:
        text = '{"u":[[' + ",".join(encoder.named) + "]," + text + "]}"
    if len(text) > cap:
        raise TooLargeError
    return text.encode("ascii")


def _opaque(kind: str, text: str, truth: bool | None = None) -> str:
    more = "" if truth is None else ",true" if truth else ",false"
    return '{"o":[' + _string(kind[:200]) + "," + _string(text[:500]) + more + "]}"


def _string(value: str) -> str:
    if not value.isascii():
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            return '{"s":"' + value.encode("utf-8", "surrogatepass").hex() + '"}'
    return _quoted(value)


def _int(value: int) -> str:
    if -_INT64 <= value < _INT64:
        return int.__repr__(value)
    return '{"i":"' + int.__format__(value, "x") + '"}'


def _float(value: float) -> str:
    text = float.__repr__(value)
    return text if math.isfinite(value) else '{"f":"' + text + '"}'


class _Encoder:
    def __init__(self, cap: int) -> None:
        self._left = cap
        self.named: list[str] = []
        """Classes, as JSON, whose overridden methods were lost when their instances were sent."""

    def text(self, value: object, depth: int) -> str:
        kind = type(value)
        scalar = _SCALARS.get(kind)
        if scalar is not None:
            return self._counted(scalar(value))
        if depth > MAX_DEPTH:
            return _opaque(type_name(kind), f"nested deeper than {MAX_DEPTH} levels")
        container = _CONTAINERS.get(kind)
        if container is not None:
            self._left -= _CONTAINER_COST
            if self._left < 0:  # a list that holds another many times over would never end
                raise TooLargeError
            return container(self, value, depth + 1)
        return self._other(value, kind, depth)

    def _counted(self, text: str) -> str:
        self._left -= len(text) + 1
        if self._left < 0:
            raise TooLargeError
        return text

    def items(self, values: Iterable[object], depth: int) -> str:
        """The values in brackets. Long runs of one scalar type are the common case, so they run at C speed."""
        listed = list(values)
        kinds = set(map(type, listed))
        if len(kinds) == 1:
            scalar = _SCALARS.get(kinds.pop())
            if scalar is not None:
                texts = list(map(scalar, listed))
                self._left -= len(texts) + sum(map(len, texts))
                if self._left < 0:
                    raise TooLargeError
                return "[" + ",".join(texts) + "]"
        return "[" + ",".join([self.text(value, depth) for value in listed]) + "]"

    def pairs(self, value: dict[object, object], depth: int) -> str:
        return self.items([part for pair in dict.items(value) for part in pair], depth)

    def _other(self, value: object, kind: type, depth: int) -> str:
        converted = _numpy_value(value, kind, self._left)
        if converted is not NOT_DATA:
            return self.text(converted, depth + 1)
        converted = base_value(value, kind)
        if converted is not NOT_DATA:
            if len(self.named) < _MOST_NAMED:
                text = overridden(kind)
                if text and _string(text) not in self.named:
                    self.named.append(_string(text))
            return self.text(converted, depth + 1)
        return self._counted(_opaque(type_name(kind), _shown(value), _truth(value)))


NOT_DATA = object()


def base_value(value: object, kind: type) -> object:
    """A subclass's value as its base sees it, by the base's own methods; `NOT_DATA` if no base is data."""
    for base, convert in _BASES:
        if issubclass(kind, base):  # `isinstance` would read the value's own `__class__`
            return convert(value)
    return NOT_DATA


def overridden(kind: type) -> str:
    """The comparing methods that a class of the completion overrides, as text; empty if none."""
    own = [one for one in _read(kind, "__mro__") if _is_own(one)]
    methods = [name for name in _COMPARING if any(name in _read(one, "__dict__") for one in own)]
    return f"{_NAME(kind)} has its own {', '.join(methods)}"[:200] if methods else ""


def _numpy_value(value: Any, kind: type, room: int) -> object:
    """A numpy scalar or array converted by numpy's own `tolist`. Raises `TooLargeError` over `room` items."""
    numpy: Any = sys.modules.get("numpy")
    scalar, array = getattr(numpy, "generic", None), getattr(numpy, "ndarray", None)
    if not (isinstance(scalar, type) and isinstance(array, type)):
        return NOT_DATA
    if issubclass(kind, scalar):
        return _numpy_scalar(numpy, value, kind)
    if not issubclass(kind, array):
        return NOT_DATA
    parts = itertools.accumulate(numpy.ndarray.shape.__get__(value), operator.mul, initial=1)
    if sum(parts) > room:
        raise TooLargeError
    masked = getattr(sys.modules.get("numpy.ma"), "MaskedArray", None)
    own: Any = masked if isinstance(masked, type) and issubclass(kind, masked) else array
    return own.tolist(value)


def _numpy_scalar(numpy: Any, value: Any, kind: type) -> object:
    converted = numpy.generic.tolist(value)
    if type(converted) is not kind:
        return converted
    return complex(value) if issubclass(kind, numpy.complexfloating) else float(value)  # long double


_NAME, _MODULE = (type.__dict__[name].__get__ for name in ("__name__", "__module__"))
_read = type.__getattribute__
"""Reads a class's attribute past its metaclass."""


def _is_own(kind: type) -> bool:
    module = _MODULE(kind)
    return type(module) is str and module in OWN_MODULES


def type_name(kind: type) -> str:
    name, module = _NAME(kind), _MODULE(kind)
    is_bare = type(module) is not str or module in ("builtins", *OWN_MODULES)
    return name if is_bare else f"{module}.{name}"


def _shown(value: object) -> str:
    try:
        return str.__str__(repr(value))
    except Exception:
        return "its repr raises"


def _truth(value: object) -> bool | None:
    """What an assert sees in it; None if that raises."""
    try:
        return bool(value)
    except Exception:
        return None


def _tuple(encoder: _Encoder, value: tuple[object, ...], depth: int) -> str:
    return '{"t":' + encoder.items(tuple.__iter__(value), depth) + "}"


def _named(name: str, payload: str) -> str:
    return '{"x":["' + name + '",' + payload + "]}"


def _defaultdict(encoder: _Encoder, value: dict[object, object], depth: int) -> str:
    return _named("defaultdict", encoder.pairs(value, depth))


def _ordered_dict(encoder: _Encoder, value: collections.OrderedDict[object, object], depth: int) -> str:
    pairs = collections.OrderedDict.items(value)  # `dict.items` ignores `move_to_end`
    return _named("OrderedDict", encoder.items([part for pair in pairs for part in pair], depth))


def _deque(encoder: _Encoder, value: collections.deque[object], depth: int) -> str:
    return _named("deque", encoder.items(value, depth))


def _of_numbers(name: str, *values: int) -> str:
    if max(map(int.bit_length, values)) > _MOST_BITS:
        return _opaque(name, f"it has ints of over {_MOST_BITS} bits")
    return _named(name, "[" + ",".join(map(_int, values)) + "]")


_SCALARS: dict[type, Callable[..., str]] = {
    type(None): lambda _: "null",
    bool: lambda value: "true" if value else "false",
    int: _int,
    float: _float,
    str: _string,
    bytes: lambda value: '{"b":"' + value.hex() + '"}',
    bytearray: lambda value: '{"B":"' + value.hex() + '"}',
    complex: lambda value: '{"c":[' + _float(value.real) + "," + _float(value.imag) + "]}",
    decimal.Decimal: lambda value: _named("Decimal", '"' + str(value) + '"'),
    fractions.Fraction: lambda value: _of_numbers("Fraction", value.numerator, value.denominator),
    range: lambda value: _of_numbers("range", value.start, value.stop, value.step),
    datetime.date: lambda value: _named("date", '"' + value.isoformat() + '"'),
    datetime.timedelta: lambda value: _of_numbers("timedelta", value.days, value.seconds, value.microseconds),
}


def _clock(name: str) -> Callable[..., str]:
    """A time or datetime; not data unless its zone is a fixed offset, because other zones may run foreign code."""

    def text(encoder: _Encoder, value: datetime.datetime | datetime.time, _depth: int) -> str:
        if value.tzinfo is not None and type(value.tzinfo) is not datetime.timezone:
            return encoder._counted(_opaque(name, "its time zone is not a fixed offset"))
        return encoder._counted(_named(name, '"' + value.isoformat() + '"'))

    return text


_CONTAINERS: dict[type, Callable[..., str]] = {
    list: lambda encoder, value, depth: encoder.items(value, depth),
    tuple: _tuple,
    dict: lambda encoder, value, depth: '{"d":' + encoder.pairs(value, depth) + "}",
    set: lambda encoder, value, depth: '{"S":' + encoder.items(value, depth) + "}",
    frozenset: lambda encoder, value, depth: '{"Z":' + encoder.items(value, depth) + "}",
    collections.Counter: lambda encoder, value, depth: _named("Counter", encoder.pairs(value, depth)),
    collections.OrderedDict: _ordered_dict,
    collections.defaultdict: _defaultdict,
    collections.deque: _deque,
    datetime.datetime: _clock("datetime"),
    datetime.time: _clock("time"),
}

_DATETIME = datetime.datetime


def _base_fraction(value: Any) -> fractions.Fraction:
    slots = fractions.Fraction.__dict__
    return fractions.Fraction(slots["_numerator"].__get__(value), slots["_denominator"].__get__(value))


# A subclass crosses as the value of its first base in this list, read by that base's own methods.
_BASES: list[tuple[type, Callable[..., object]]] = [
    (int, lambda value: int.__int__(value)),
    (float, lambda value: float.__float__(value)),
    (str, lambda value: str.__str__(value)),
    (bytes, lambda value: bytes(memoryview(value))),
    (bytearray, lambda value: bytearray(memoryview(value))),
    (complex, lambda value: complex.__pos__(value)),
    (list, lambda value: list(list.__iter__(value))),
    (tuple, lambda value: tuple(tuple.__iter__(value))),
    (collections.OrderedDict, lambda value: collections.OrderedDict(collections.OrderedDict.items(value))),
    (collections.defaultdict, lambda value: collections.defaultdict(None, dict.items(value))),
    (collections.Counter, lambda value: collections.Counter(dict(dict.items(value)))),
    (dict, lambda value: dict(dict.items(value))),
    (set, lambda value: set(set.__iter__(value))),
    (frozenset, lambda value: frozenset(frozenset.__iter__(value))),
    (collections.deque, lambda value: collections.deque(collections.deque.__iter__(value))),
    (decimal.Decimal, decimal.Decimal),
    (fractions.Fraction, _base_fraction),
    (datetime.datetime, lambda value: _DATETIME.combine(_DATETIME.date(value), _DATETIME.timetz(value))),
    (datetime.date, lambda value: datetime.date.fromordinal(datetime.date.toordinal(value))),
    (datetime.time, lambda value: _DATETIME.combine(datetime.date.min, value).timetz()),
    (datetime.timedelta, datetime.timedelta.__pos__),
]
