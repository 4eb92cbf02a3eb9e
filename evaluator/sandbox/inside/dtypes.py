"""numpy's dtypes as JSON, and which bytes may be values of one.

A plain dtype is numpy's own text for it (`<f8`), a structured one `[[[name, dtype, offset], ...], itemsize, aligned]`
with a fourth part to fields that have a title, one with a shape `[dtype, shape]`.
"""

from __future__ import annotations

import functools
import importlib
import math
import re
from typing import Any

MOST_ITEM_BYTES = 1 << 24
"""Of one value: numpy sets that aside even for an array without any."""
_MOST_OF_NOTHING = 1 << 24
"""Places in an array without bytes: `(10**15, 0)` costs nothing, until somebody makes it a list."""
_MOST_DIMENSIONS = 64
_MOST_LEVELS = 20
_TEXT = re.compile(
    r"\|[biu]1|[<>][iu][248]|[<>][qQ]|[<>]f(?:2|4|8|12|16)|[<>]c(?:8|16|24|32)|\|[SV][0-9]{1,8}|[<>]U[0-9]{1,7}"
    r"|[<>][mM]8(?:\[(?:[1-9][0-9]{0,8})?(?:Y|M|W|D|h|m|s|ms|us|ns|ps|fs|as)\])?"
)


class UnfaithfulError(Exception):
    """The value would not be the same on the other side. The message says why, in one line."""

    def __init__(self, message: str, kind: type | None = None) -> None:
        """`kind`: the class that nobody here knows, where that is why."""
        super().__init__(message)
        self.kind = kind


class TooLargeError(Exception):
    """The value's text would be longer than there is room."""


@functools.cache
def numpy() -> Any:
    """The module, imported where nobody has yet."""
    return importlib.import_module("numpy")


def described(dtype: Any, level: int = 0) -> Any:
    """The dtype as JSON. Raises `UnfaithfulError` for what can't be told by its bytes."""
    kind = dtype.kind
    if dtype.metadata is not None or dtype.isbuiltin == 2 or level > _MOST_LEVELS:
        raise UnfaithfulError(
            f"an array whose dtype has metadata, is deeply nested or is not numpy's own: {dtype.char}"
        )
    if dtype.itemsize > MOST_ITEM_BYTES:
        raise UnfaithfulError(f"an array whose dtype has over {MOST_ITEM_BYTES} bytes a value")
    if kind in "biufcSUmM":
        # On Linux `longlong` has the bits of `int64` and the same text, but is another class.
        return dtype.str[0] + dtype.char if dtype.char in "qQ" else dtype.str
    if kind != "V" or dtype.type is not numpy().void:
        raise UnfaithfulError(f"an array of dtype {dtype.type.__name__}")
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        return [described(base, level + 1), list(shape)]
    if dtype.fields is None:
        return dtype.str
    fields = [(name, *dtype.fields[name]) for name in dtype.names]
    if any(type(text) is not str for name, _, _, *title in fields for text in (name, *title)):
        raise UnfaithfulError("a structured array with a title that is no text")
    if _overlaps(dtype):
        raise UnfaithfulError("a structured array whose fields overlap")
    listed = [[name, described(one, level + 1), *rest] for name, one, *rest in fields]
    return [listed, dtype.itemsize, dtype.isalignedstruct]


def built(form: Any, level: int = 0) -> Any:
    """The dtype that was described. Raises `ValueError`, or what numpy raises."""
    if type(form) is str:
        return _plain(form)
    if type(form) is not list or level > _MOST_LEVELS:
        raise ValueError("no dtype")
    dtype = _with_shape(form, level) if len(form) == 2 else _structured(form, level)
    if dtype.itemsize > MOST_ITEM_BYTES or _overlaps(dtype):
        raise ValueError("a dtype of too many bytes")
    return dtype


@functools.lru_cache(maxsize=256)
def _plain(text: str) -> Any:
    if not _TEXT.fullmatch(text):
        raise ValueError("no dtype")
    dtype = numpy().dtype(text)
    if dtype.itemsize > MOST_ITEM_BYTES or described(dtype) != text:
        raise ValueError("no dtype as numpy writes it")
    return dtype


def _with_shape(form: list[Any], level: int) -> Any:
    base, shape = built(form[0], level + 1), form[1]
    check_extent(shape, base.itemsize)
    return numpy().dtype((base, tuple(shape)))


def _structured(form: list[Any], level: int) -> Any:
    fields, size, aligned = form
    parts: dict[str, Any] = {"names": [], "formats": [], "offsets": [], "titles": [], "itemsize": size}
    for name, one, offset, *title in fields:
        if {*map(type, (name, *title))} != {str} or {type(offset), type(size)} != {int} or len(title) > 1:
            raise ValueError("no structured dtype")
        parts["names"].append(name)
        parts["formats"].append(built(one, level + 1))
        parts["offsets"].append(offset)
        parts["titles"].append(title[0] if title else None)
    return numpy().dtype(parts, align=aligned is True)


def check_extent(shape: Any, item_bytes: int) -> None:
    """Raises `ValueError` unless the shape is a list of sizes, few where none of them costs a byte."""
    if type(shape) is not list or len(shape) > _MOST_DIMENSIONS:
        raise ValueError("no shape")
    for size in shape:
        if type(size) is not int or size < 0:
            raise ValueError("no shape")
    if (item_bytes == 0 or 0 in shape) and math.prod(size or 1 for size in shape) > _MOST_OF_NOTHING:
        raise ValueError("an array of too many places for nothing")


def check_bits(dtype: Any, data: bytes, array: Any) -> None:
    """Raises `ValueError` where bytes are no value of their dtype, which numpy trusts them to be.

    `data` are the array's bytes in the order of their places; `array` is looked at where it is structured.
    """
    kind = dtype.kind
    if kind == "b":
        if data.translate(None, b"\0\1"):
            raise ValueError("a bool that is neither true nor false")
    elif kind == "U":
        data.decode("utf-32-be" if dtype.str[0] == ">" else "utf-32-le", "surrogatepass")
    elif dtype.char in "gG":
        _check_extended(dtype, data)
    elif dtype.fields is not None:
        for name in dtype.names:
            part = array[name]
            check_bits(part.dtype, part.tobytes(), part)


def without_padding(array: Any) -> Any:
    """The array, or a copy in which the bytes between and within its values are zero: they may be of anything."""
    if not _has_padding(array.dtype):
        return array
    cleared = numpy().zeros(array.shape, array.dtype)
    _copy_values(array, cleared)
    return cleared


def _has_padding(dtype: Any) -> bool:
    if dtype.subdtype is not None:
        return _has_padding(dtype.base)
    if dtype.fields is None:
        return dtype.char in "gG" and _is_extended()
    return _field_bytes(dtype) < dtype.itemsize or any(_has_padding(dtype.fields[name][0]) for name in dtype.names)


def _overlaps(dtype: Any) -> bool:
    """Whether its fields are longer than it is itself: a few bytes could be a million fields, and cost their time."""
    return dtype.fields is not None and _field_bytes(dtype) > dtype.itemsize


def _field_bytes(dtype: Any) -> int:
    return sum(dtype.fields[name][0].itemsize for name in dtype.names)


def _copy_values(source: Any, target: Any) -> None:
    dtype = source.dtype
    if dtype.fields is not None:
        for name in dtype.names:
            _copy_values(source[name], target[name])
    elif dtype.char in "gG" and _is_extended():
        copied = bytearray(source.tobytes())
        _in_bytes(dtype, copied)[:, 10:] = 0
        target[...] = numpy().ndarray(source.shape, dtype, copied)
    else:
        target[...] = source


@functools.cache
def _is_extended() -> bool:
    """Whether a long double is x86's of 80 bits: then it has padding, and bits that are no number at all."""
    return bool(numpy().finfo(numpy().longdouble).nmant == 63)


def _in_bytes(dtype: Any, data: bytes | bytearray) -> Any:
    """One row of bytes for each long double, the lowest first."""
    size = dtype.itemsize // (2 if dtype.char == "G" else 1)
    rows = numpy().frombuffer(data, "u1").reshape(-1, size)
    return rows[:, ::-1] if dtype.str[0] == ">" else rows


def _check_extended(dtype: Any, data: bytes) -> None:
    if not _is_extended():
        return
    rows = _in_bytes(dtype, data)
    has_exponent = (rows[:, 8] != 0) | (rows[:, 9] & 0x7F != 0)
    if (has_exponent != (rows[:, 7] >= 0x80)).any():
        raise ValueError("a long double that is no number")
