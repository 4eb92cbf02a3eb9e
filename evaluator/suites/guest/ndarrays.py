"""numpy's arrays and scalars as JSON, bit for bit, and back from text that may be hostile.

`np`: `[dtype, shape, bytes]`. `no`: an array of objects, `[shape, items]`. `ns`: a scalar, `[dtype, bytes]`. `nd`: a
dtype. Bytes are base64. Rare kinds (masked, structured or long-double arrays, subclasses) are not sent.
"""

from __future__ import annotations

import importlib
import math
import re
from binascii import a2b_base64, b2a_base64
from collections.abc import Callable
from typing import Any

from evaluator.suites.guest.errors import NotDataError, TooLargeError

_DTYPE = re.compile(
    r"\|b1|\|[iu]1|[<>][iu][248]|[<>]f[248]|[<>]c(?:8|16)|\|S[0-9]{1,8}|[<>]U[0-9]{1,7}"
    r"|[<>][mM]8(?:\[(?:[1-9][0-9]{0,8})?(?:Y|M|W|D|h|m|s|ms|us|ns|ps|fs|as)\])?"
)
_MOST_DIMENSIONS, _MOST_PLACES = 32, 1 << 26

Item = Callable[[Any], Any]
"""Lowers or rebuilds the items of an array of objects, in order."""
Lowered = dict[str, object]


def lower(numpy: Any, value: Any, kind: type, lower_item: Item, room: int) -> Lowered | None:
    """The value as an object with one tag, or None if it is not numpy's. `kind` is its type.

    Raises `NotDataError`, or `TooLargeError` if it would surely take over `room` characters.
    """
    if kind is numpy.ndarray:
        return lower_array(value, lower_item, room)
    if issubclass(kind, numpy.generic):
        return _lower_scalar(numpy, value, kind, room)
    if issubclass(kind, numpy.dtype):
        return {"nd": _described(value)}
    if issubclass(kind, numpy.ndarray):
        raise _subclass(kind, "ndarray")
    return None


def build(tag: str, payload: Any, build_item: Item) -> Any:
    """The value that was lowered to this. Raises `ValueError`, or what numpy raises for a malformed payload."""
    return _BUILDERS[tag](payload, build_item)


def _subclass(kind: type, base: str) -> NotDataError:
    return NotDataError(f"an object of class {kind.__name__}, a subclass of {base}", kind)


def _described(dtype: Any) -> str:
    text: str = dtype.str
    if dtype.metadata is not None or not (text == "|O" or _DTYPE.fullmatch(text)):
        raise NotDataError(f"an array of dtype {text[:40]}")
    return text


def lower_array(value: Any, lower_item: Item, room: int) -> Lowered:
    text, shape = _described(value.dtype), list(value.shape)
    if max(value.nbytes, value.size) > room or len(shape) > _MOST_DIMENSIONS:
        raise TooLargeError
    if text == "|O":
        return {"no": [shape, [lower_item(item) for item in value.ravel().tolist()]]}
    return {"np": [text, shape, b2a_base64(value.tobytes(), newline=False).decode("ascii")]}


def _lower_scalar(numpy: Any, value: Any, kind: type, room: int) -> Lowered:
    if kind.__module__ != "numpy" or kind.__name__ == "void":
        raise _subclass(kind, "generic")
    # in an array a text would lose trailing zeros
    if kind is numpy.str_:
        text, data = "U0", str.encode(value, "utf-8", "surrogatepass")
    elif kind is numpy.bytes_:
        text, data = "S0", bytes(value)
    else:
        text, data = _described(value.dtype), value.tobytes()
    if len(data) > room:
        raise TooLargeError
    return {"ns": [text, b2a_base64(data, newline=False).decode("ascii")]}


def _dtype(text: Any) -> Any:
    if type(text) is not str or not _DTYPE.fullmatch(text):
        raise ValueError("a dtype was expected")
    return importlib.import_module("numpy").dtype(text)


def _places(shape: Any) -> int:
    if type(shape) is not list or len(shape) > _MOST_DIMENSIONS:
        raise ValueError("a shape was expected")
    if not all(type(size) is int and size >= 0 for size in shape):
        raise ValueError("a shape was expected")
    if math.prod(size or 1 for size in shape) > _MOST_PLACES:
        raise ValueError("an array with too many items")
    return math.prod(shape)


def _build_array(payload: Any, _build_item: Item) -> Any:
    text, shape, encoded = payload
    dtype, data = _dtype(text), a2b_base64(encoded, strict_mode=True)
    if _places(shape) * dtype.itemsize != len(data):
        raise ValueError("an array whose size differs from its bytes")
    _check_bits(dtype, data)
    numpy = importlib.import_module("numpy")
    return numpy.frombuffer(data, dtype).reshape(shape).copy() if data else numpy.zeros(shape, dtype)


def _check_bits(dtype: Any, data: bytes) -> None:
    """Raises `ValueError` for bytes that are not valid for their dtype, which numpy does not check."""
    if dtype.kind == "b" and data.translate(None, b"\0\1"):
        raise ValueError("a bool that is neither true nor false")
    if dtype.kind == "U":
        data.decode("utf-32-be" if dtype.str[0] == ">" else "utf-32-le", "surrogatepass")


def _build_objects(payload: Any, build_item: Item) -> Any:
    shape, items = payload
    if type(items) is not list or _places(shape) != len(items):
        raise ValueError("an array whose size differs from its items")
    array = importlib.import_module("numpy").empty(shape, "O")
    places = array.reshape(-1)
    for place, item in enumerate(items):  # one by one: numpy would unpack items that are sequences
        places[place] = build_item(item)
    return array


def _build_scalar(payload: Any, build_item: Item) -> Any:
    text, encoded = payload
    numpy = importlib.import_module("numpy")
    data = a2b_base64(encoded, strict_mode=True)
    if text == "U0":
        return numpy.str_(data.decode("utf-8", "surrogatepass"))
    return numpy.bytes_(data) if text == "S0" else _build_array([text, [], encoded], build_item)[()]


_BUILDERS: dict[str, Callable[[Any, Item], Any]] = {
    "np": _build_array,
    "no": _build_objects,
    "ns": _build_scalar,
    "nd": lambda text, _: importlib.import_module("numpy").dtype("O") if text == "|O" else _dtype(text),
}
