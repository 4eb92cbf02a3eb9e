"""pandas' frames, series, indexes and scalars as JSON, under the tag `pd`, and back from text that may be hostile.

Before a value is sent, it is rebuilt, and must come out the same. So a class or dtype that is not known here (time
zones, periods, intervals, nullable numbers) raises `NotDataError`.
"""

from __future__ import annotations

import importlib
import sys
from operator import is_
from typing import Any

from evaluator.suites.guest import ndarrays
from evaluator.suites.guest.errors import NotDataError, TooLargeError
from evaluator.suites.guest.ndarrays import Item

_SCALARS = ("Timestamp", "Timedelta")
_INDEXES = ("Index", "DatetimeIndex", "TimedeltaIndex", "CategoricalIndex")
_BASES = ("DataFrame", "Series", "Index", "Timestamp", "Timedelta", "Period", "Interval", "Categorical")


def _pandas() -> Any:
    return importlib.import_module("pandas")


def lower(value: Any, kind: type, lower_item: Item, room: int) -> dict[str, object] | None:
    """As `ndarrays.lower`: None if it is not pandas'."""
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
        again = build(parts, lambda _: next(rest))
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
    if name in _SCALARS:
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
        codes = [ndarrays.lower_array(sys.modules["numpy"].asarray(each), lower_item, room) for each in index.codes]
        return [name, [levels, codes], [lower_item(label) for label in index.names], None]
    if name not in _INDEXES:
        raise NotDataError(f"a pandas {name}")
    frequency = getattr(index, "freqstr", None)
    return [name, _values(index.array, lower_item, room), lower_item(index.name), frequency]


def _values(array: Any, lower_item: Item, room: int) -> Any:
    """A column: its numpy array if it has one; else texts, or categories and their codes."""
    kind, numpy = type(array.dtype).__name__, sys.modules["numpy"]
    if isinstance(array.dtype, numpy.dtype) or kind == "NumpyEADtype":
        return ndarrays.lower_array(numpy.asarray(array), lower_item, room)
    if kind == "StringDtype":
        return [str(array.dtype), [None if each is array.dtype.na_value else str.__str__(each) for each in array]]
    if kind == "CategoricalDtype":
        codes = ndarrays.lower_array(numpy.asarray(array.codes), lower_item, room)
        return ["category", _index(array.categories, lower_item, room), codes, bool(array.ordered)]
    raise NotDataError(f"pandas values of dtype {kind}")


def build(payload: Any, build_item: Item) -> Any:
    """The value that was lowered. Raises `ValueError`, or what pandas raises."""
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
    if name in _SCALARS:
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
        array = ndarrays.build(tag, payload, build_item)
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
