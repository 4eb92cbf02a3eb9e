"""Values of the standard library that can't be changed, as their parts, for a letter between two processes."""

from __future__ import annotations

import datetime
import decimal
import fractions
import pathlib
import re
from collections.abc import Callable
from typing import Any

Parts = list[Any]

WRITERS: dict[type, tuple[str, Callable[[Any], Parts]]] = {
    decimal.Decimal: ("Decimal", lambda value: [str(value)]),
    fractions.Fraction: ("Fraction", lambda value: [value.numerator, value.denominator]),
    range: ("range", lambda value: [value.start, value.stop, value.step]),
    slice: ("slice", lambda value: [value.start, value.stop, value.step]),
    datetime.date: ("date", lambda value: [value.year, value.month, value.day]),
    datetime.time: ("time", lambda value: [*_clock(value), value.tzinfo, value.fold]),
    datetime.datetime: (
        "datetime",
        lambda value: [value.year, value.month, value.day, *_clock(value), value.tzinfo, value.fold],
    ),
    datetime.timedelta: ("timedelta", lambda value: [value.days, value.seconds, value.microseconds]),
    datetime.timezone: ("timezone", lambda value: list(value.__getinitargs__())),
    type(...): ("Ellipsis", lambda _: []),
    type(NotImplemented): ("NotImplemented", lambda _: []),
    pathlib.PosixPath: ("Path", lambda value: [str(value)]),
    pathlib.PurePosixPath: ("PurePath", lambda value: [str(value)]),
    re.Pattern: ("Pattern", lambda value: [value.pattern, value.flags]),
}


def _clock(value: Any) -> Parts:
    return [value.hour, value.minute, value.second, value.microsecond]


def _time(*parts: Any) -> datetime.time:
    hour, minute, second, micro, zone, fold = parts
    return datetime.time(hour, minute, second, micro, tzinfo=zone, fold=fold)


def _datetime(*parts: Any) -> datetime.datetime:
    year, month, day, hour, minute, second, micro, zone, fold = parts
    return datetime.datetime(year, month, day, hour, minute, second, micro, tzinfo=zone, fold=fold)


READERS: dict[str, Callable[..., object]] = {
    "Decimal": decimal.Decimal,
    "Fraction": fractions.Fraction,
    "range": range,
    "slice": slice,
    "date": datetime.date,
    "time": _time,
    "datetime": _datetime,
    "timedelta": datetime.timedelta,
    "timezone": datetime.timezone,
    "Ellipsis": lambda: ...,
    "NotImplemented": lambda: NotImplemented,
    "Path": pathlib.PosixPath,
    "PurePath": pathlib.PurePosixPath,
    "Pattern": re.compile,
}
