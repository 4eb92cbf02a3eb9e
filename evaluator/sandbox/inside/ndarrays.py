"""numpy's arrays and scalars as JSON, bit for bit, and back from text that may be hostile.

`np`: `[dtype, shape, bytes]` in C's order, or with `F` at the end in Fortran's. `no`: `[shape, items]`, of objects.
`ns`: a scalar, `[dtype, bytes]`. `nm`: numpy's other arrays: `["matrix", array]`, `["masked", ...]`. Bytes are base64.
"""

from __future__ import annotations

import math
import warnings
from binascii import a2b_base64, b2a_base64
from collections.abc import Callable
from operator import is_
from typing import Any

from evaluator.sandbox.inside import dtypes
from evaluator.sandbox.inside.dtypes import TooLargeError, UnfaithfulError

Lowered = dict[str, Any]
Item = Callable[[Any], Any]
Lower = Callable[[Any, Item, int], Lowered]

_CHECKED = frozenset("?UgGV")
"""Characters of the dtypes of which not all bytes are values."""


def lowerers(numpy: Any) -> dict[type, Lower]:
    """What lowers each of numpy's classes."""
    scalars: dict[type, Lower] = dict.fromkeys(set(numpy.sctypeDict.values()) - {numpy.object_}, lower_scalar)
    return scalars | {numpy.ndarray: lower_array, numpy.matrix: _lower_matrix}


def masked_lowerers(masked: Any) -> dict[type, Lower]:
    """The same for `numpy.ma`, which numpy imports when it is asked for."""
    return {masked.MaskedArray: _lower_masked, type(masked.masked): lambda *_: {"nm": ["masked"]}}


def lower_array(value: Any, lower_item: Item, room: int) -> Lowered:
    """An array as `np` or `no`. Raises `UnfaithfulError`, and `TooLargeError` over `room` characters."""
    dtype, shape = value.dtype, list(value.shape)
    if (value.size if dtype.char == "O" else value.nbytes) > room:
        raise TooLargeError
    if 0 in shape or dtype.itemsize == 0:
        _faithfully(dtypes.check_extent, shape, dtype.itemsize)
    if dtype.char == "O":
        return {"no": [shape, [lower_item(item) for item in value.ravel().tolist()]]}
    form = dtypes.described(dtype)
    order = "F" if value.flags.fnc else "C"
    if dtype.char in _CHECKED:
        value = dtypes.without_padding(value)
        _faithfully(dtypes.check_bits, dtype, value.tobytes(), value)
    text = b2a_base64(value.tobytes(order), newline=False).decode("ascii")
    return {"np": [form, shape, text] if order == "C" else [form, shape, text, order]}


def _faithfully(check: Callable[..., None], *parts: Any) -> None:
    """What the other side would refuse is not sent."""
    try:
        check(*parts)
    except ValueError as error:
        raise UnfaithfulError(f"a numpy array that is out of the common: {error}") from None


def lower_scalar(value: Any, _lower_item: Item, room: int) -> Lowered:
    numpy, kind = dtypes.numpy(), type(value)
    if kind is numpy.str_:  # an array would lose zeros at its end
        form, data = "<U", str.__str__(value).encode("utf-32-le", "surrogatepass")
    elif kind is numpy.bytes_:
        form, data = "S", bytes(value)
    else:
        array = dtypes.without_padding(numpy.array(value))
        form, data = dtypes.described(array.dtype), array.tobytes()
        _faithfully(dtypes.check_bits, array.dtype, data, array)
    if len(data) > room:
        raise TooLargeError
    return {"ns": [form, b2a_base64(data, newline=False).decode("ascii")]}


def lower_dtype(value: Any) -> Lowered:
    return {"nd": value.str if value.char == "O" else dtypes.described(value)}


def _lower_matrix(value: Any, lower_item: Item, room: int) -> Lowered:
    return {"nm": ["matrix", lower_array(value.view(dtypes.numpy().ndarray), lower_item, room)]}


def _lower_masked(value: Any, lower_item: Item, room: int) -> Lowered:
    numpy = dtypes.numpy()
    if value.baseclass is not numpy.ndarray or value._optinfo:
        raise UnfaithfulError("a masked array of another kind of array, or with notes of its own")
    mask, _made = numpy.ma.getmask(value), value.fill_value  # which is made when it is asked for
    parts = value.data, None if mask is numpy.ma.nomask else mask, numpy.asarray(value._fill_value)
    lowered = [None if part is None else lower_array(part, lower_item, room) for part in parts]
    return {"nm": ["masked", *lowered, bool(value.hardmask)]}


def build(tag: str, payload: Any, build_item: Item) -> Any:
    """What was lowered. Raises `ValueError`, or what numpy raises."""
    if tag == "np":
        return _build_array(payload)
    if tag == "no":
        return _build_objects(payload, build_item)
    if tag == "ns":
        return _build_scalar(payload)
    if tag == "nd":
        return dtypes.numpy().dtype("O") if payload == "|O" else dtypes.built(payload)
    return _build_other(payload, build_item)


def build_part(node: Any, build_item: Item) -> Any:
    """An array that is part of another value."""
    ((tag, payload),) = node.items()
    if tag not in ("np", "no"):
        raise ValueError("no array where one belongs")
    return build(tag, payload, build_item)


def _build_array(payload: Any) -> Any:
    form, shape, text, *order = payload
    if order not in ([], ["F"]):
        raise ValueError("no order")
    dtype = dtypes.built(form)
    data = a2b_base64(text, strict_mode=True)
    dtypes.check_extent(shape, dtype.itemsize)
    if math.prod(shape) * dtype.itemsize != len(data) or dtype.subdtype is not None:
        raise ValueError("an array of another size than its bytes")
    array = dtypes.numpy().ndarray(shape, dtype, data, 0, None, "F" if order else "C")
    if dtype.char in _CHECKED:
        dtypes.check_bits(dtype, data, array)
    return array.copy("F" if order else "C")


def _build_objects(payload: Any, build_item: Item) -> Any:
    shape, items = payload
    dtypes.check_extent(shape, 8)
    if type(items) is not list or math.prod(shape) != len(items):
        raise ValueError("an array of another size than its items")
    array = dtypes.numpy().empty(shape, "O")
    places = array.reshape(-1)
    for place, item in enumerate(items):  # not in one go: numpy would look into items that are sequences
        places[place] = build_item(item)
    return array


def _build_scalar(payload: Any) -> Any:
    form, text = payload
    numpy = dtypes.numpy()
    data = a2b_base64(text, strict_mode=True)
    if form == "<U":
        return numpy.str_(data.decode("utf-32-le", "surrogatepass"))
    if form == "S":
        return numpy.bytes_(data)
    dtype = dtypes.built(form)
    if dtype.kind in "SU" or dtype.subdtype is not None or dtype.itemsize != len(data):
        raise ValueError("no scalar")
    array = numpy.ndarray((), dtype, data)
    if dtype.char in _CHECKED:
        dtypes.check_bits(dtype, data, array)
    return array.copy()[()]


def _build_other(payload: Any, build_item: Item) -> Any:
    numpy = dtypes.numpy()
    name, *parts = payload
    if name == "masked" and not parts:
        return numpy.ma.masked
    if name == "matrix":
        (node,) = parts
        array = build_part(node, build_item)
        if array.ndim != 2:
            raise ValueError("no matrix")
        return array.view(numpy.matrix)
    if name != "masked":
        raise ValueError("no kind of array")
    *nodes, hard = parts
    data, mask, fill = [numpy.ma.nomask if node is None else build_part(node, build_item) for node in nodes]
    if mask is not numpy.ma.nomask and (mask.shape != data.shape or mask.dtype != numpy.ma.make_mask_descr(data.dtype)):
        raise ValueError("a mask of another array")
    if fill.shape != ():
        raise ValueError("a filling of more than one value")
    array = numpy.ma.MaskedArray(data, mask, hard_mask=hard is True)
    array._fill_value = fill
    return array


def contents(value: Any) -> tuple[Any, ...]:
    """What tells whether an array is still the same: its dtype, shape and bytes, then the very objects in it."""
    dtype = value.dtype
    if dtype.char == "O":
        return (value.shape, *value.ravel().tolist())
    return ((dtypes.described(dtype), value.shape, value.tobytes()),)


def is_same(now: tuple[Any, ...], before: tuple[Any, ...]) -> bool:
    """Whether two contents are equal to the bit, and have the very same objects in them."""
    return len(now) == len(before) and bool(now[0] == before[0]) and all(map(is_, now[1:], before[1:]))


def replace(value: Any, new: Any) -> None:
    """Makes an array equal to another in place, so that its views see it. Raises `UnfaithfulError`."""
    if not value.flags.writeable:
        raise UnfaithfulError("an array that can't be written to was changed")
    if value.shape != new.shape or value.dtype.char != new.dtype.char or value.dtype != new.dtype:
        _reform(value, new)
    dtypes.numpy().copyto(value, new)


def _reform(value: Any, new: Any) -> None:
    """Another shape or dtype over the same bytes. Other memory it can't have: views would look into what was freed."""
    if value.nbytes != new.nbytes or value.dtype.hasobject != new.dtype.hasobject:
        raise UnfaithfulError("an array was given another size in place")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numpy would rather have new arrays
        try:
            value.shape = (value.size,)
            value.dtype = new.dtype
            value.shape = new.shape
        except (AttributeError, ValueError, TypeError):
            raise UnfaithfulError("an array that is a view was given another shape or dtype in place") from None


def replace_matrix(value: Any, new: Any) -> None:
    plain = dtypes.numpy().ndarray
    if value.shape != new.shape or value.dtype != new.dtype:
        raise UnfaithfulError("a matrix was given another shape or dtype in place")
    replace(value.view(plain), new.view(plain))


def replace_masked(value: Any, new: Any) -> None:
    if value.shape != new.shape or value.dtype != new.dtype:
        raise UnfaithfulError("a masked array was given another shape or dtype in place")
    replace(value.data, new.data)
    value.soften_mask()
    if dtypes.numpy().ma.getmask(new) is not dtypes.numpy().ma.getmask(value):
        value.mask = new.mask
    if new.hardmask:
        value.harden_mask()
    value._fill_value = new._fill_value
