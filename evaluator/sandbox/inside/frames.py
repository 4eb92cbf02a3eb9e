"""pandas' frames, series, indexes and scalars as JSON, under the tag `pd`, and back from text that may be hostile.

A frame is `["DataFrame", columns, index, [values, ...], attrs, duplicates]`: each part is exact by itself, and whatever
is of a class or dtype that is not known here raises `UnfaithfulError`.
"""

from __future__ import annotations

import functools
import sys
import warnings
from collections.abc import Callable
from typing import Any

from evaluator.sandbox.inside import columns, dtypes
from evaluator.sandbox.inside.columns import pandas
from evaluator.sandbox.inside.dtypes import TooLargeError, UnfaithfulError
from evaluator.sandbox.inside.ndarrays import Item, Lower, Lowered, is_same

_Parts = list[Any]
_Parted = Callable[[Any, Item, int], _Parts]
_ARRAYS = (
    "BooleanArray", "IntegerArray", "FloatingArray", "DatetimeArray", "TimedeltaArray", "PeriodArray", "IntervalArray",
    "StringArray", "ArrowStringArray",
)  # fmt: skip


def lowerers(known: Any) -> dict[type, Lower]:
    """What lowers each of pandas' classes."""
    listed: dict[type, _Parted] = {
        known.DataFrame: _lower_frame,
        known.Series: _lower_series,
        known.Timestamp: lambda value, *_: ["Timestamp", *_moment(value), _zone_of(value)],
        known.Timedelta: lambda value, *_: ["Timedelta", *_moment(value)],
        known.Period: _lower_period,
        known.Interval: lambda value, item, _: ["Interval", item(value.left), item(value.right), value.closed],
        type(known.NaT): lambda *_: ["NaT"],
        type(known.NA): lambda *_: ["NA"],
    }
    listed |= dict.fromkeys(columns.index_classes(known), columns.lower_index)
    listed |= dict.fromkeys(array_classes(known), lambda value, *rest: ["array", columns.lower(value, *rest)])
    return {kind: functools.partial(_lower_proved, lowerer) for kind, lowerer in listed.items()}


def _lower_proved(lowerer: _Parted, value: Any, lower_item: Item, room: int) -> Lowered:
    """The value lowered, when what is built of that has been found to be the same."""
    parts, *items = held = _contents(lowerer, value, room)
    rest = iter(items)
    try:
        again = build(parts, lambda _: next(rest))
        survives = type(again) is type(value) and is_same(_contents(lowerer, again, room), held)
    except (TooLargeError, RecursionError):
        raise
    except Exception:  # pandas has many
        survives = False
    if not survives:
        raise UnfaithfulError(f"a pandas {type(value).__name__} that would not be the same in another process")
    return {"pd": lowerer(value, lower_item, room) if items else parts}


def _contents(lowerer: _Parted, value: Any, room: int) -> tuple[Any, ...]:
    items: list[Any] = []
    return (lowerer(value, items.append, room), *items)


def contents(lowerer: Any, value: Any) -> tuple[Any, ...]:
    """What tells whether a value of pandas is still the same: its parts, then the very objects in it."""
    return _contents(lowerer.args[0], value, sys.maxsize)


def array_classes(known: Any) -> list[type]:
    return [
        known.Categorical,
        columns.plain_class(),
        *{getattr(known.arrays, name) for name in _ARRAYS if hasattr(known.arrays, name)},
    ]


def lower_other(value: Any, kind: type, lower_item: Item, room: int) -> Lowered | None:
    """A dtype or frequency of pandas, of which each has a class of its own; None for what is neither."""
    known = pandas()
    if issubclass(kind, known.offsets.BaseOffset):
        return _lower_proved(_lower_frequency, value, lower_item, room)
    if issubclass(kind, known.api.extensions.ExtensionDtype):
        return _lower_proved(_lower_dtype, value, lower_item, room)
    return None


def _lower_frequency(value: Any, *_: Any) -> _Parts:
    return ["frequency", columns.frequency_form(value.freqstr, value)]


def _lower_dtype(value: Any, lower_item: Item, room: int) -> _Parts:
    if getattr(value, "categories", value) is None:
        raise UnfaithfulError("a CategoricalDtype without categories")
    empty = value.construct_array_type()._from_sequence([], dtype=value)
    return ["dtype", columns.lower(empty, lower_item, room)]


def _moment(value: Any) -> _Parts:
    plain = value.asm8
    return [int(plain.view("i8")), dtypes.numpy().datetime_data(plain.dtype)[0]]


def _zone_of(value: Any) -> Any:
    return None if value.tz is None else columns.zone_form(value.tz)


def _lower_period(value: Any, *_: Any) -> _Parts:
    text = columns.frequency_form(value.freqstr, value.freq, known=lambda text: columns.period_dtype(text).freq)
    return ["Period", value.ordinal, text]


def _lower_series(series: Any, lower_item: Item, room: int) -> _Parts:
    index = columns.lower_index(series.index, lower_item, room)
    values = columns.lower(series.array, lower_item, room)
    return ["Series", index, values, lower_item(series.name), *_lower_notes(series, lower_item)]


def _lower_frame(frame: Any, lower_item: Item, room: int) -> _Parts:
    labels = columns.lower_index(frame.columns, lower_item, room)
    index = columns.lower_index(frame.index, lower_item, room)
    values = [columns.lower(column.array, lower_item, room) for _, column in frame.items()]
    return ["DataFrame", labels, index, values, *_lower_notes(frame, lower_item)]


def _lower_notes(value: Any, lower_item: Item) -> _Parts:
    attrs = [lower_item(part) for pair in value.attrs.items() for part in pair]
    return [attrs, bool(value.flags.allows_duplicate_labels)]


def build(payload: Any, build_item: Item) -> Any:
    """What was lowered. Raises `ValueError`, or what pandas raises."""
    name, *parts = payload
    return _BUILDERS[name](build_item, *parts)


def _build_frame(build_item: Item, labels: Any, index: Any, values: Any, attrs: Any, duplicates: Any) -> Any:
    known = pandas()
    named, rows = columns.build_index(build_item, labels), columns.build_index(build_item, index)
    if type(values) is not list or len(values) != len(named):
        raise ValueError("a frame of another width than its columns")
    made = {place: _column(columns.build(one, build_item), rows, None) for place, one in enumerate(values)}
    frame = known.DataFrame(made, index=rows)
    frame.columns = named
    return _with_notes(frame, build_item, attrs, duplicates)


def _build_series(build_item: Item, index: Any, values: Any, name: Any, attrs: Any, duplicates: Any) -> Any:
    rows = columns.build_index(build_item, index)
    series = _column(columns.build(values, build_item), rows, build_item(name))
    return _with_notes(series, build_item, attrs, duplicates)


def _column(values: Any, index: Any, name: Any) -> Any:
    if len(values) != len(index):
        raise ValueError("a column of another length than the index")
    series = pandas().Series(values, index=index, dtype=values.dtype, name=name, copy=False)
    if series.dtype != values.dtype:
        raise ValueError("values that a column can't hold")
    return series


def _with_notes(value: Any, build_item: Item, attrs: Any, duplicates: Any) -> Any:
    if type(attrs) is not list:
        raise ValueError("no attrs")
    if attrs:
        built = [build_item(part) for part in attrs]
        value.attrs = dict(zip(built[::2], built[1::2], strict=True))
    if duplicates is not True:
        value.flags.allows_duplicate_labels = False
    return value


def _build_timestamp(_build_item: Item, number: Any, unit: Any, zone: Any) -> Any:
    value = pandas().Timestamp(dtypes.numpy().datetime64(columns.int64(number), _unit(unit)))
    return value if zone is None else value.tz_localize("UTC").tz_convert(columns.build_zone(zone))


def _build_timedelta(_build_item: Item, number: Any, unit: Any) -> Any:
    return pandas().Timedelta(dtypes.numpy().timedelta64(columns.int64(number), _unit(unit)))


def _unit(unit: Any) -> Any:
    if unit not in ("s", "ms", "us", "ns"):
        raise ValueError("no unit of time")
    return unit


def _build_period(_build_item: Item, ordinal: Any, frequency: Any) -> Any:
    return pandas().Period(ordinal=columns.int64(ordinal), freq=columns.period_dtype(frequency).freq)


def _build_array(build_item: Item, form: Any) -> Any:
    array = columns.build(form, build_item)
    if type(array) is not dtypes.numpy().ndarray:
        return array
    return pandas().array(array) if array.dtype.kind in "mM" else columns.plain_class()(array)


def _build_interval(build_item: Item, left: Any, right: Any, closed: Any) -> Any:
    return pandas().Interval(build_item(left), build_item(right), closed=closed)


_BUILDERS: dict[str, Callable[..., Any]] = columns.INDEX_BUILDERS | {
    "DataFrame": _build_frame,
    "Series": _build_series,
    "Timestamp": _build_timestamp,
    "Timedelta": _build_timedelta,
    "Period": _build_period,
    "Interval": _build_interval,
    "NaT": lambda _: pandas().NaT,
    "NA": lambda _: pandas().NA,
    "array": _build_array,
    "dtype": lambda build_item, form: columns.build(form, build_item).dtype,
    "frequency": lambda _, text: columns.build_frequency(text),
}


def replace(value: Any, new: Any) -> None:
    """Makes a frame, series, index or array equal to another in place. Raises `UnfaithfulError`."""
    known = pandas()
    if isinstance(value, known.Index):
        if not value.equals(new):
            raise UnfaithfulError("an index was changed in place")
        value.names = new.names
    elif isinstance(value, known.DataFrame | known.Series):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value._update_inplace(new)
        if isinstance(value, known.Series):
            value.name = new.name
        value.attrs = new.attrs
        value.flags.allows_duplicate_labels = new.flags.allows_duplicate_labels
    elif value.dtype != new.dtype or len(value) != len(new):
        raise UnfaithfulError("a pandas array was given another dtype or length in place")
    else:
        try:
            value[:] = new
        except ValueError:
            raise UnfaithfulError("a pandas array that can't be written to was changed") from None
