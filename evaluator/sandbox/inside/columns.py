"""pandas' one-dimensional arrays and indexes as JSON, by their dtype, and back from text that may be hostile.

What numpy holds is a numpy array; else `["categories", ...]`, `["zoned", ...]`, `["period", ...]`, `["interval", ...]`,
`["nullable", ...]` or `["text", ...]`. No Arrow: its pandas metadata is evaluated where it is read, it has no place for
objects of mixed types, and an interpreter may have pandas without it.
"""

from __future__ import annotations

import datetime
import functools
import importlib
import re
from collections.abc import Callable
from typing import Any

from evaluator.sandbox.inside import dtypes, ndarrays
from evaluator.sandbox.inside.dtypes import TooLargeError, UnfaithfulError
from evaluator.sandbox.inside.ndarrays import Item

Form = Any
_INT64 = 2**63
_FLAT = ("Index", "DatetimeIndex", "TimedeltaIndex", "CategoricalIndex", "PeriodIndex", "IntervalIndex")
_FREQUENCY = re.compile(r"-?[0-9]{0,9}[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8}){0,4}")
_ZONE = re.compile(r"[A-Za-z0-9_+-]{1,40}(?:/[A-Za-z0-9_+-]{1,40}){0,2}")
_NULLABLE = ("Boolean", "Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64", "Float32", "Float64")


@functools.cache
def pandas() -> Any:
    """The module, imported where nobody has yet."""
    return importlib.import_module("pandas")


def lower(array: Any, lower_item: Item, room: int) -> Form:
    """An array of pandas as JSON. Raises `UnfaithfulError` where its dtype is none of those that are known."""
    dtype = array.dtype
    if isinstance(dtype, dtypes.numpy().dtype) or type(array) is plain_class():
        return ndarrays.lower_array(dtypes.numpy().asarray(array), lower_item, room)
    lowerer = _lowerers().get(type(dtype))
    if lowerer is None:
        raise UnfaithfulError(f"pandas values of dtype {type(dtype).__name__}")
    return lowerer(array, lower_item, room)


@functools.cache
def plain_class() -> Any:
    """pandas' array around one of numpy's."""
    arrays = pandas().arrays
    return getattr(arrays, "NumpyExtensionArray", None) or arrays.PandasArray


@functools.cache
def _lowerers() -> dict[type, Callable[[Any, Item, int], Form]]:
    known = pandas()
    nullable = {getattr(known, f"{name}Dtype"): _lower_nullable for name in _NULLABLE}
    return nullable | {
        known.CategoricalDtype: _lower_categorical,
        known.DatetimeTZDtype: _lower_zoned,
        known.PeriodDtype: _lower_periods,
        known.IntervalDtype: _lower_intervals,
        known.StringDtype: _lower_text,
    }


def _lower_categorical(array: Any, lower_item: Item, room: int) -> Form:
    categories = lower_index(array.categories, lower_item, room)
    return ["categories", categories, ndarrays.lower_array(array.codes, lower_item, room), bool(array.ordered)]


def _lower_zoned(array: Any, lower_item: Item, room: int) -> Form:
    stamps = dtypes.numpy().asarray(array.tz_convert(None))
    return ["zoned", ndarrays.lower_array(stamps, lower_item, room), zone_form(array.dtype.tz)]


def _lower_periods(array: Any, lower_item: Item, room: int) -> Form:
    frequency = frequency_form(array.freqstr, array.dtype, known=period_dtype)
    return ["period", ndarrays.lower_array(array.asi8, lower_item, room), frequency]


def _lower_intervals(array: Any, lower_item: Item, room: int) -> Form:
    sides = [lower(side.array, lower_item, room) for side in (array.left, array.right)]
    return ["interval", *sides, array.closed]


def _lower_nullable(array: Any, lower_item: Item, room: int) -> Form:
    kind = array.dtype.numpy_dtype
    values = array.to_numpy(dtype=kind, na_value=kind.type(0))
    return ["nullable", *(ndarrays.lower_array(part, lower_item, room) for part in (values, array.isna()))]


def _lower_text(array: Any, _lower_item: Item, room: int) -> Form:
    texts = array.to_numpy(dtype=object, na_value=None).tolist()
    if len(texts) > room:
        raise TooLargeError
    try:
        if sum(len(text.encode()) for text in texts if text is not None) > room:
            raise TooLargeError
    except UnicodeEncodeError:
        raise UnfaithfulError("a text of pandas with half a character in it") from None
    if not {type(text) for text in texts} <= {str, type(None)}:
        raise UnfaithfulError("a text of pandas that is of a class of its own")
    missing = getattr(array.dtype, "na_value", pandas().NA)
    return ["text", array.dtype.storage, "NA" if missing is pandas().NA else "nan", texts]


def zone_form(zone: Any) -> Form:
    """A time zone as JSON: the text of a known one, or the seconds of a fixed offset."""
    kind = type(zone)
    if kind is datetime.timezone:
        offset, *name = zone.__getinitargs__()
        if not name and not offset.microseconds:
            return round(offset.total_seconds())
    name = getattr(zone, "key", None) if kind.__module__ == "zoneinfo" else getattr(zone, "zone", None)
    library = kind.__module__.partition(".")[0]
    if library in ("zoneinfo", "pytz") and type(name) is str and _ZONE.fullmatch(name):
        return [library, name]
    raise UnfaithfulError("times in a time zone that is no known one")


def build_zone(form: Form) -> Any:
    if type(form) is int:
        return datetime.timezone(datetime.timedelta(seconds=form)) if form else datetime.UTC
    library, name = form
    if library not in ("zoneinfo", "pytz") or type(name) is not str or not _ZONE.fullmatch(name):
        raise ValueError("no time zone")
    module = importlib.import_module(library)
    return module.ZoneInfo(name) if library == "zoneinfo" else module.timezone(name)


def frequency_form(text: str, value: Any, *, known: Callable[[str], Any] | None = None) -> str:
    """A frequency's text, where pandas reads the same value out of it."""
    try:
        again = (known or build_frequency)(text)
        if type(again) is type(value) and again == value:
            return text
    except ValueError:
        pass
    raise UnfaithfulError(f"a pandas frequency with parameters of its own: {text[:80]}")


def build_frequency(text: Form) -> Any:
    return importlib.import_module("pandas.tseries.frequencies").to_offset(_frequency(text))


def period_dtype(text: Form) -> Any:
    return pandas().PeriodDtype(_frequency(text))


def _frequency(text: Form) -> str:
    if type(text) is not str or not _FREQUENCY.fullmatch(text):
        raise ValueError("no frequency")
    return text


def build(form: Form, build_item: Item) -> Any:
    """A numpy array of one dimension, or an array of pandas. Raises `ValueError`, or what pandas raises."""
    if type(form) is dict:
        array = ndarrays.build_part(form, build_item)
        if array.ndim != 1:
            raise ValueError("a column of another dimension than one")
        return array
    name, *parts = form
    return _BUILDERS[name](build_item, *parts)


def _build_categorical(build_item: Item, categories: Form, codes: Form, ordered: Form) -> Any:
    listed = build_index(build_item, categories)
    return pandas().Categorical.from_codes(_numbers(codes, "i"), listed, ordered=ordered is True)


def _build_zoned(_build_item: Item, stamps: Form, zone: Form) -> Any:
    return pandas().array(_numbers(stamps, "M")).tz_localize("UTC").tz_convert(build_zone(zone))


def _build_periods(_build_item: Item, ordinals: Form, frequency: Form) -> Any:
    return pandas().arrays.PeriodArray(_numbers(ordinals, "i"), dtype=period_dtype(frequency))


def _build_intervals(build_item: Item, left: Form, right: Form, closed: Form) -> Any:
    sides = [_index_of(build(side, build_item), None) for side in (left, right)]
    return pandas().arrays.IntervalArray.from_arrays(*sides, closed=closed)


def _build_nullable(_build_item: Item, values: Form, missing: Form) -> Any:
    arrays = pandas().arrays
    data, mask = _numbers(values, "biuf"), _numbers(missing, "b")
    if data.shape != mask.shape:
        raise ValueError("a mask of another array")
    kinds = {"b": arrays.BooleanArray, "f": arrays.FloatingArray}
    return kinds.get(data.dtype.kind, arrays.IntegerArray)(data, mask)


def _build_text(_build_item: Item, storage: Form, missing: Form, texts: Form) -> Any:
    if storage not in ("python", "pyarrow", "pyarrow_numpy") or missing not in ("NA", "nan") or type(texts) is not list:
        raise ValueError("no texts")
    if not {type(text) for text in texts} <= {str, type(None)}:
        raise ValueError("a text that is none")
    known = pandas()
    dtype = known.StringDtype(storage)
    if (dtype.na_value is known.NA) != (missing == "NA"):
        dtype = known.StringDtype(storage, na_value=known.NA if missing == "NA" else dtypes.numpy().nan)
    return known.array(texts, dtype=dtype)


def _numbers(form: Form, kinds: str) -> Any:
    """A numpy array of one of these kinds of dtype, in which there can be no objects."""
    array = build(form, _no_item) if type(form) is dict else None
    if array is None or array.dtype.kind not in kinds:
        raise ValueError("no numbers")
    return array


def _no_item(_node: Any) -> Any:
    raise ValueError("an object where numbers belong")


_BUILDERS: dict[str, Callable[..., Any]] = {
    "categories": _build_categorical,
    "zoned": _build_zoned,
    "period": _build_periods,
    "interval": _build_intervals,
    "nullable": _build_nullable,
    "text": _build_text,
}


def index_classes(known: Any) -> list[type]:
    return [known.RangeIndex, known.MultiIndex, *(getattr(known, name) for name in _FLAT)]


def lower_index(index: Any, lower_item: Item, room: int) -> Form:
    known, kind = pandas(), type(index)
    if kind is known.RangeIndex:
        return ["range", index.start, index.stop, index.step, lower_item(index.name)]
    if kind is known.MultiIndex:
        levels = [lower_index(level, lower_item, room) for level in index.levels]
        codes = [ndarrays.lower_array(dtypes.numpy().asarray(one), lower_item, room) for one in index.codes]
        return ["multi", levels, codes, [lower_item(name) for name in index.names]]
    if kind not in index_classes(known):
        raise UnfaithfulError(f"an index of class {kind.__name__}")
    values = lower(index.array, lower_item, room)
    frequency = getattr(index, "freq", None) if kind in (known.DatetimeIndex, known.TimedeltaIndex) else None
    text = None if frequency is None else frequency_form(frequency.freqstr, frequency)
    return ["flat", values, text, lower_item(index.name)]


def build_index(build_item: Item, form: Any) -> Any:
    name, *parts = form
    return INDEX_BUILDERS[name](build_item, *parts)


def _build_range(build_item: Item, start: Any, stop: Any, step: Any, name: Any) -> Any:
    return pandas().RangeIndex(*map(int64, (start, stop, step)), name=build_item(name))


def _build_multi(build_item: Item, levels: Any, codes: Any, names: Any) -> Any:
    listed = [build_index(build_item, level) for level in levels]
    numbers = [_numbers(one, "i") for one in codes]
    for level, places in zip(listed, numbers, strict=True):
        if places.max(initial=-1) >= len(level):  # pandas would look at the lower bits alone
            raise ValueError("a place in no level")
    return pandas().MultiIndex(listed, numbers, names=[build_item(name) for name in names])


def _build_flat(build_item: Item, values: Any, frequency: Any, name: Any) -> Any:
    array = build(values, build_item)
    index = _index_of(array, build_item(name))
    if frequency is not None:
        index.freq = build_frequency(frequency)  # refused where the values are others
    return index


def _index_of(values: Any, name: Any) -> Any:
    """An index of exactly these values: nothing is guessed from what they look like."""
    index = pandas().Index(values, dtype=values.dtype, name=name, tupleize_cols=False)
    if index.dtype != values.dtype:
        raise ValueError("values that an index can't hold")
    return index


def int64(number: Any) -> int:
    if type(number) is not int or not -_INT64 <= number < _INT64:
        raise ValueError("no int of 64 bits")
    return number


INDEX_BUILDERS: dict[str, Callable[..., Any]] = {"range": _build_range, "multi": _build_multi, "flat": _build_flat}
