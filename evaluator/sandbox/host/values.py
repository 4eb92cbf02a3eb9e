"""Values on the trusted side: arguments written for the sandbox, answers read from it.

An answer is hostile text. It becomes builtin and standard-library values by exact type, or `Opaque`; no code of the
completion is called, and a text that no honest encoder writes raises `BadValueError`.
"""

from __future__ import annotations

import collections
import datetime
import decimal
import fractions
import marshal
import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import msgspec

from evaluator.model import Opaque
from evaluator.sandbox.guest.encode import TooLargeError, encode

Number = TypeVar("Number", int, float)
_MAX_DEPTH = 250
_SCALARS = frozenset((type(None), bool, int, float, str))
_ADDRESS = re.compile(r"\b0x[0-9a-f]{6,16}\b")
_EQUAL_HASHES = 64
_MOST_BITS = 1 << 14
_MOST_NAMED = 3
_LONGEST_ANSWER = 2**20
_LONGEST_NAME = 200


class BadValueError(ValueError):
    """The text is not what the encoder in the sandbox writes."""


def encoded_call(arguments: Sequence[object], keywords: Mapping[str, object]) -> bytes:
    """Arguments, encoded for the sandbox.

    Raises `ValueError` for a value that is neither a builtin scalar nor a builtin container of such.
    """
    call: Any = (tuple(arguments), dict(keywords))
    return marshal.dumps(call, 2)


class Answer(NamedTuple):
    """The answer of a completion."""

    value: object
    subclasses: tuple[str, ...] = ()
    """Notes on the completion's own classes whose instances crossed as their bases' values."""


def decoded(text: bytes) -> object:
    """The value of an answer. Raises `BadValueError`."""
    return answered(text).value


def encoded_answer(value: object) -> bytes | None:
    """What a completion sends that returns just this value, and no other; None if that is too long.

    A set's items may come in another order.
    """
    try:
        return encode(value, _LONGEST_ANSWER)
    except TooLargeError:
        return None


def answered(text: bytes) -> Answer:
    """The value of an answer, with notes on its classes. Raises `BadValueError`."""
    try:
        node = msgspec.json.decode(text)
        if type(node) is not dict or "u" not in node:
            return Answer(_value(node, 0))
        names, value = node.pop("u")
        if node or type(names) is not list or not 0 < len(names) <= _MOST_NAMED:
            raise BadValueError("class names that no encoder writes")
        return Answer(_value(value, 0), tuple(_text(_value(name, 0))[:_LONGEST_NAME] for name in names))
    except (ValueError, TypeError, ArithmeticError, RecursionError, msgspec.DecodeError) as error:
        raise BadValueError(f"an answer that no encoder writes: {error}"[:200]) from None


def _value(node: Any, depth: int) -> object:
    if type(node) in _SCALARS:
        return node
    if depth > _MAX_DEPTH:
        raise BadValueError("nested too deeply")
    if type(node) is list:
        return _items(node, depth + 1)
    if len(node) != 1:
        raise BadValueError("an object with several tags")
    ((tag, payload),) = node.items()
    read = _TAGS.get(tag)
    if read is None:
        raise BadValueError(f"unknown tag {tag!r}")
    return read(payload, depth + 1)


def _items(nodes: Any, depth: int) -> list[object]:
    if type(nodes) is not list:
        raise BadValueError("a list was expected")
    if _SCALARS.issuperset(map(type, nodes)):
        return nodes
    return [_value(node, depth) for node in nodes]


def _mapping(make: Callable[[Any], object]) -> Callable[[Any, int], object]:
    """Reads pairs; `make` gets them as a dict."""

    def read(nodes: Any, depth: int) -> object:
        parts = _items(nodes, depth)
        if len(parts) % 2:
            raise BadValueError("a key without a value")
        keys = _checked_keys(parts[::2])
        made = dict(zip(keys, parts[1::2], strict=True))
        return make(made) if len(made) == len(keys) else _merged("dict")

    return read


def _items_of(make: type[set[Any]] | type[frozenset[Any]]) -> Callable[[Any, int], object]:
    def read(nodes: Any, depth: int) -> object:
        members = _checked_keys(_items(nodes, depth))
        made = make(members)
        return made if len(made) == len(members) else _merged(make.__name__)

    return read


def _merged(kind: str) -> Opaque:
    """The completion's own `__eq__` and `__hash__` distinguished keys that are equal as data."""
    return Opaque(kind, "some of its keys or items are equal once they are data")


def _checked_keys(keys: list[object]) -> list[Hashable]:
    """The keys, refused if so many share a hash that a table of them would take forever to build."""
    try:
        hashes = collections.Counter(map(hash, keys))
    except TypeError:
        keys = [_hashable(key) for key in keys]
        hashes = collections.Counter(map(hash, keys))
    if hashes and len(keys) > _EQUAL_HASHES and max(hashes.values()) > _EQUAL_HASHES:
        raise BadValueError("too many keys with one hash")
    return keys


def _hashable(key: object) -> Hashable:
    """The key; `Opaque` if only the completion could hash it, such as a subclass of list with `__hash__`."""
    try:
        hash(key)
    except TypeError:
        return Opaque(type(key).__name__, "as data it can't be a key or in a set")
    return key


def _text(node: Any) -> str:
    if type(node) is not str:
        raise BadValueError("a text was expected")
    return node


def _number(node: Any, kind: type[Number]) -> Number:
    value = _value(node, 0)
    if type(value) is not kind:
        raise BadValueError(f"{kind.__name__} was expected")
    return value


def _short_int(node: Any) -> int:
    """An int that is used in arithmetic while reading: the common divisor of two long ints can take minutes."""
    value = _number(node, int)
    if value.bit_length() > _MOST_BITS:
        raise BadValueError("an int that is too long for its type")
    return value


def _special_float(node: Any, _depth: int) -> float:
    if node not in ("nan", "inf", "-inf"):
        raise BadValueError("not a special float")
    return float(node)


def _complex(node: Any, _depth: int) -> complex:
    real, imaginary = node
    return complex(_number(real, float), _number(imaginary, float))


def _opaque(node: Any, _depth: int) -> Opaque:
    kind, text, *truth = node
    if truth and (len(truth) > 1 or type(truth[0]) is not bool):
        raise BadValueError("a truth that no encoder writes")
    shown = _ADDRESS.sub("0x...", str(_value(text, 0))).encode("utf-8", "backslashreplace").decode()
    return Opaque(str(_value(kind, 0)), shown, *truth)


def _named(node: Any, depth: int) -> object:
    name, payload = node
    read = _NAMED.get(name)
    if read is None:
        raise BadValueError(f"unknown type {name!r}")
    return read(payload, depth)


_TAGS: dict[str, Callable[[Any, int], object]] = {
    "i": lambda node, _: int(_text(node), 16),
    "f": _special_float,
    "s": lambda node, _: bytes.fromhex(_text(node)).decode("utf-8", "surrogatepass"),
    "b": lambda node, _: bytes.fromhex(_text(node)),
    "B": lambda node, _: bytearray.fromhex(_text(node)),
    "c": _complex,
    "t": lambda node, depth: tuple(_items(node, depth)),
    "d": _mapping(lambda pairs: pairs),
    "S": _items_of(set),
    "Z": _items_of(frozenset),
    "o": _opaque,
    "x": _named,
}

_NAMED: dict[str, Callable[[Any, int], object]] = {
    "Counter": _mapping(collections.Counter),
    "OrderedDict": _mapping(collections.OrderedDict),
    "defaultdict": _mapping(lambda pairs: collections.defaultdict(None, pairs)),
    "deque": lambda node, depth: collections.deque(_items(node, depth)),
    "Decimal": lambda node, _: decimal.Decimal(_text(node)),
    "Fraction": lambda node, _: fractions.Fraction(*map(_short_int, node)),
    "range": lambda node, _: range(*map(_short_int, node)),
    "date": lambda node, _: datetime.date.fromisoformat(_text(node)),
    "datetime": lambda node, _: datetime.datetime.fromisoformat(_text(node)),
    "time": lambda node, _: datetime.time.fromisoformat(_text(node)),
    "timedelta": lambda node, _: datetime.timedelta(*map(_short_int, node)),
}
