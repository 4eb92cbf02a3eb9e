"""Values of numpy and pandas as JSON, bit for bit by exact class, and back from text that may be hostile.

`np`: `[dtype, shape, bytes]`. `no`: an array of objects, `[shape, items]`. `ns`: a scalar, `[dtype, bytes]`. `nd`: a
dtype. `pd`: pandas' frames, series, indexes and scalars. Bytes are base64. What is not known here (masked, structured
or long-double arrays, subclasses, time zones, periods, intervals, nullable numbers) raises `NotDataError`; so does a
value of pandas that would not come out the same: it is rebuilt before it is sent.

Neither library is imported to send a value, and only numpy's and pandas' own code runs, none of other classes.
"""

from __future__ import annotations

import importlib
import math
import re
import sys
from binascii import a2b_base64, b2a_base64
from collections.abc import Callable
from operator import is_
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


def _lower_numpy(numpy: Any, value: Any, kind: type, lower_item: Item, room: int) -> Lowered | None:
    if kind is numpy.ndarray:
        return _lower_array(value, lower_item, room)
    if issubclass(kind, numpy.generic):
        return _lower_scalar(numpy, value, kind, room)
    if issubclass(kind, numpy.dtype):
        return {"nd": _described(value)}
    if issubclass(kind, numpy.ndarray):
        raise _subclass(kind, "ndarray")
    return None


def _subclass(kind: type, base: str) -> NotDataError:
    return NotDataError(f"an object of class {kind.__name__}, a subclass of {base}", kind)


def _described(dtype: Any) -> str:
    text: str = dtype.str
    if dtype.metadata is not None or not (text == "|O" or _DTYPE.fullmatch(text)):
        raise NotDataError(f"an array of dtype {text[:40]}")
    return text


def _lower_array(value: Any, lower_item: Item, room: int) -> Lowered:
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


# pandas

_PANDAS_SCALARS = ("Timestamp", "Timedelta")
_INDEXES = ("Index", "DatetimeIndex", "TimedeltaIndex", "CategoricalIndex")
_BASES = ("DataFrame", "Series", "Index", "Timestamp", "Timedelta", "Period", "Interval", "Categorical")


def _pandas() -> Any:
    return importlib.import_module("pandas")


def _lower_pandas(value: Any, kind: type, lower_item: Item, room: int) -> Lowered | None:
    pandas: Any = sys.modules.get("pandas")
    if not isinstance(getattr(pandas, "DataFrame", None), type):
        return None
    if value is pandas.NaT or value is pandas.NA:
        return {"pd": ["NaT" if value is pandas.NaT else "NA"]}
    if kind.__module__.partition(".")[0] != "pandas":
        if any(issubclass(kind, getattr(pandas, base)) for base in _BASES):
            raise NotDataError(f"an object of class {kind.__name__}, a subclass of one of pandas'", kind)
        return None
    parts, items = _decomposed(value, room)
    rest = iter(items)
    try:
        again = _build_pandas(parts, lambda _: next(rest))
        same, others = _decomposed(again, room)
        survives = type(again) is kind and same == parts and len(others) == len(items) and all(map(is_, others, items))
    except (TooLargeError, RecursionError):
        raise
    except Exception:  # pandas raises many kinds
        survives = False
    if not survives:
        raise NotDataError(f"a pandas {kind.__name__} that would not be the same in another process")
    return {"pd": _parts(value, lower_item, room)}


def _decomposed(value: Any, room: int) -> tuple[list[Any], list[Any]]:
    """Its parts, and the objects in it that are not pandas'."""
    items: list[Any] = []
    return _parts(value, items.append, room), items


def _parts(value: Any, lower_item: Item, room: int) -> list[Any]:
    name = type(value).__name__
    if getattr(value, "attrs", None):
        raise NotDataError(f"a pandas {name} with attrs")
    if name == "DataFrame":
        labels = [_index(axis, lower_item, room) for axis in (value.columns, value.index)]
        return [name, *labels, [_values(column.array, lower_item, room) for _, column in value.items()]]
    if name == "Series":
        index = _index(value.index, lower_item, room)
        return [name, index, _values(value.array, lower_item, room), lower_item(value.name)]
    if name in _PANDAS_SCALARS:
        if getattr(value, "tz", None) is not None:
            raise NotDataError("a pandas Timestamp with a time zone")
        return [name, int(value.asm8.view("i8")), value.unit]
    return ["Index", *_index(value, lower_item, room)]


def _index(index: Any, lower_item: Item, room: int) -> list[Any]:
    name = type(index).__name__
    if name == "RangeIndex":
        return [name, [index.start, index.stop, index.step], lower_item(index.name), None]
    if name == "MultiIndex":
        levels = [_index(level, lower_item, room) for level in index.levels]
        codes = [_lower_array(sys.modules["numpy"].asarray(each), lower_item, room) for each in index.codes]
        return [name, [levels, codes], [lower_item(label) for label in index.names], None]
    if name not in _INDEXES:
        raise NotDataError(f"a pandas {name}")
    frequency = getattr(index, "freqstr", None)
    return [name, _values(index.array, lower_item, room), lower_item(index.name), frequency]


def _values(array: Any, lower_item: Item, room: int) -> Any:
    """A column: its numpy array if it has one; else texts, or categories and their codes."""
    kind, numpy = type(array.dtype).__name__, sys.modules["numpy"]
    if isinstance(array.dtype, numpy.dtype) or kind == "NumpyEADtype":
        return _lower_array(numpy.asarray(array), lower_item, room)
    if kind == "StringDtype":
        return [str(array.dtype), [None if each is array.dtype.na_value else str.__str__(each) for each in array]]
    if kind == "CategoricalDtype":
        codes = _lower_array(numpy.asarray(array.codes), lower_item, room)
        return ["category", _index(array.categories, lower_item, room), codes, bool(array.ordered)]
    raise NotDataError(f"pandas values of dtype {kind}")


def _build_pandas(payload: Any, build_item: Item) -> Any:
    pandas = _pandas()
    name, *parts = payload
    if name == "DataFrame":
        columns, index, values = parts
        labels, rows = _build_index(columns, build_item), _build_index(index, build_item)
        if len(values) != len(labels):
            raise ValueError("a frame whose width differs from its columns")
        frame = pandas.DataFrame(
            {place: _series(_build_values(one, build_item), rows, None) for place, one in enumerate(values)}, index=rows
        )
        frame.columns = labels
        return frame
    if name == "Series":
        index, values, label = parts
        rows = _build_index(index, build_item)
        return _series(_build_values(values, build_item), rows, build_item(label))
    if name in _PANDAS_SCALARS:
        number, unit = parts
        plain = "datetime64" if name == "Timestamp" else "timedelta64"
        return getattr(pandas, name)(getattr(sys.modules["numpy"], plain)(int(number), str(unit)))
    return _build_index(parts, build_item) if name == "Index" else {"NaT": pandas.NaT, "NA": pandas.NA}[name]


def _series(values: Any, index: Any, name: Any) -> Any:
    if len(values) != len(index):
        raise ValueError("a column whose length differs from the index")
    return _pandas().Series(values, index=index, dtype=values.dtype, name=name, copy=False)


def _build_index(parts: Any, build_item: Item) -> Any:
    pandas = _pandas()
    name, values, label, frequency = parts
    if name == "RangeIndex":
        start, stop, step = map(int, values)
        return pandas.RangeIndex(start, stop, step, name=build_item(label))
    if name == "MultiIndex":
        levels = [_build_index(level, build_item) for level in values[0]]
        codes = [_build_values(each, build_item) for each in values[1]]
        if any(each.max(initial=-1) >= len(level) for level, each in zip(levels, codes, strict=True)):
            raise ValueError("a code outside its level")
        return pandas.MultiIndex(levels, codes, names=[build_item(each) for each in label])
    array = _build_values(values, build_item)
    index = pandas.Index(array, dtype=array.dtype, name=build_item(label), tupleize_cols=False)
    if frequency is not None:
        index.freq = str(frequency)  # raises if the values don't fit
    return index


def _build_values(form: Any, build_item: Item) -> Any:
    if type(form) is dict:
        ((tag, payload),) = form.items()
        array = _BUILDERS[tag](payload, build_item)
        if tag not in ("np", "no") or array.ndim != 1:
            raise ValueError("a column that is not one-dimensional")
        return array
    if form[0] == "category":
        _, categories, codes, ordered = form
        listed = _build_index(categories, build_item)
        return _pandas().Categorical.from_codes(_build_values(codes, build_item), listed, ordered=ordered is True)
    dtype, texts = form
    if dtype not in ("str", "string") or not {type(text) for text in texts} <= {str, type(None)}:
        raise ValueError("texts were expected")
    return _pandas().array(texts, dtype=dtype)


# Both

_BUILDERS["pd"] = _build_pandas
TAGS = frozenset(_BUILDERS)


def lower(value: Any, kind: type, lower_item: Item, room: int = sys.maxsize) -> dict[str, object] | None:
    """The value as an object with one tag, or None if it is neither numpy's nor pandas'. `kind` is its type.

    Raises `NotDataError`, or `TooLargeError` if it would surely take over `room` characters.
    """
    numpy: Any = sys.modules.get("numpy")
    if not isinstance(getattr(numpy, "dtype", None), type):
        return None
    lowered = _lower_numpy(numpy, value, kind, lower_item, room)
    return _lower_pandas(value, kind, lower_item, room) if lowered is None else lowered


def build(tag: str, payload: Any, build_item: Item) -> Any:
    """The value that was lowered to this. Raises `ValueError` for any malformed payload."""
    try:
        return _BUILDERS[tag](payload, build_item)
    except ValueError:
        raise
    except Exception as error:  # numpy and pandas raise many kinds
        raise ValueError(f"{tag}: {type(error).__name__}") from None


def is_mutable(kind: type) -> bool:
    """Whether values of this type can be changed in place."""
    return kind.__name__ in ("ndarray", "DataFrame", "Series") and kind.__module__ in ("numpy", "pandas")


def snapshot(value: Any) -> tuple[Any, ...]:
    """What shows later whether a mutable value has changed: its numbers and texts, then the objects in it."""
    items: list[Any] = []
    try:
        return (lower(value, type(value), items.append), *items)
    except NotDataError:  # it can no longer cross
        return (None,)


def replace(value: Any, new: Any) -> None:
    """Makes a mutable value equal to another of its class in place. Raises `NotDataError` if that is impossible."""
    if type(value) is not type(new):
        raise NotDataError(f"an object of class {type(value).__name__} became one of class {type(new).__name__}")
    if type(value).__name__ != "ndarray":
        value._update_inplace(new)
    elif value.shape == new.shape and value.dtype == new.dtype and value.flags.writeable:
        value[...] = new
    else:
        raise NotDataError("an array whose shape or dtype was changed in place")
