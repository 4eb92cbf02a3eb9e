"""Values on the trusted side: arguments written for the sandbox, answers read from it.

An answer is hostile text. It becomes builtin and standard-library values by exact type, or `Opaque`; nothing of
the completion's is called, and a text that no honest encoder writes raises `BadValueError`.
"""

from __future__ import annotations

import collections
import datetime
import decimal
import fractions
import marshal
import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import msgspec

from evaluator.model import Opaque

_MAX_DEPTH = 250
_PLAIN = frozenset((type(None), bool, int, float, str))
_ADDRESS = re.compile(r"\b0x[0-9a-f]{6,16}\b")
_EQUAL_HASHES = 64
_MOST_BITS = 1 << 14


class BadValueError(ValueError):
    """The text is not what the encoder in the sandbox writes."""


def encoded_call(arguments: Sequence[object], keywords: Mapping[str, object]) -> bytes:
    """Arguments for the way into the sandbox.

    Raises `ValueError` for a value that is neither a builtin scalar nor a builtin container of such.
    """
    call: Any = (tuple(arguments), dict(keywords))
    return marshal.dumps(call, 2)


def decoded(text: bytes) -> object:
    """The value that a completion answered. Raises `BadValueError`."""
    try:
        return _value(msgspec.json.decode(text), 0)
    except (ValueError, TypeError, ArithmeticError, RecursionError, msgspec.DecodeError) as error:
        raise BadValueError(f"an answer that no encoder writes: {error}"[:200]) from None


def _value(node: Any, depth: int) -> object:
    if type(node) in _PLAIN:
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
        raise BadValueError("no list where one belongs")
    if _PLAIN.issuperset(map(type, nodes)):
        return nodes
    return [_value(node, depth) for node in nodes]


def _pairs(nodes: Any, depth: int) -> dict[Hashable, object]:
    parts = _items(nodes, depth)
    keys = parts[::2]
    if len(parts) % 2:
        raise BadValueError("a key without a value")
    return dict(zip(_spread(keys), parts[1::2], strict=True))


def _spread(keys: list[object]) -> list[Hashable]:
    """The keys, refused when so many share a hash that a table of them would take for ever to build."""
    hashes = collections.Counter(map(hash, keys))
    if hashes and len(keys) > _EQUAL_HASHES and max(hashes.values()) > _EQUAL_HASHES:
        raise BadValueError("too many keys with one hash")
    return [key for key in keys if isinstance(key, Hashable)]


def _text(node: Any) -> str:
    if type(node) is not str:
        raise BadValueError("no text where it belongs")
    return node


def _int(node: Any) -> int:
    value = _value(node, 0)
    if type(value) is not int:
        raise BadValueError("no int where one belongs")
    return value


def _short_int(node: Any) -> int:
    """Of what is reckoned with while it is read: the common divisor of two long ints alone can take minutes."""
    value = _int(node)
    if value.bit_length() > _MOST_BITS:
        raise BadValueError("an int that is too long for what it is part of")
    return value


def _float(node: Any) -> float:
    value = _value(node, 0)
    if type(value) is not float:
        raise BadValueError("no float where one belongs")
    return value


def _special_float(node: Any, _depth: int) -> float:
    if node not in ("nan", "inf", "-inf"):
        raise BadValueError("no special float")
    return float(node)


def _complex(node: Any, _depth: int) -> complex:
    real, imaginary = node
    return complex(_float(real), _float(imaginary))


def _opaque(node: Any, _depth: int) -> Opaque:
    kind, text = node
    shown = _ADDRESS.sub("0x...", str(_value(text, 0)))
    return Opaque(str(_value(kind, 0)), shown)


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
    "d": _pairs,
    "S": lambda node, depth: set(_spread(_items(node, depth))),
    "Z": lambda node, depth: frozenset(_spread(_items(node, depth))),
    "o": _opaque,
    "x": _named,
}

_NAMED: dict[str, Callable[[Any, int], object]] = {
    "Counter": lambda node, depth: collections.Counter(_pairs(node, depth)),
    "OrderedDict": lambda node, depth: collections.OrderedDict(_pairs(node, depth)),
    "defaultdict": lambda node, depth: collections.defaultdict(None, _pairs(node, depth)),
    "deque": lambda node, depth: collections.deque(_items(node, depth)),
    "Decimal": lambda node, _: decimal.Decimal(_text(node)),
    "Fraction": lambda node, _: fractions.Fraction(*map(_short_int, node)),
    "range": lambda node, _: range(*map(_short_int, node)),
    "date": lambda node, _: datetime.date.fromisoformat(_text(node)),
    "datetime": lambda node, _: datetime.datetime.fromisoformat(_text(node)),
    "time": lambda node, _: datetime.time.fromisoformat(_text(node)),
    "timedelta": lambda node, _: datetime.timedelta(*map(_short_int, node)),
}
