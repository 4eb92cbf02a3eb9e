"""Limits as datasets state them: a number, a text such as `2 seconds` or `256 megabytes`, or `{seconds, nanos}`."""

from __future__ import annotations

import re
from collections.abc import Mapping

from evaluator.tasks.parts import JsonValue, RecordError, brief

_MOST = 10**9
_AMOUNT = re.compile(r"(\d{1,15}(?:\.\d{1,15})?)\s*([a-z]*)\W*", re.IGNORECASE)
_LONGEST = 100
_RANGE = re.compile(r"\d[\d.]*\s*[a-z]*\s*[-–]\s*(?=\d)", re.IGNORECASE)
"""What is left out of `1 - 2 seconds`: the greater one counts."""
_SECONDS = {"": 1, "s": 1, "sec": 1, "second": 1, "ms": 1e-3, "msec": 1e-3, "millisecond": 1e-3, "minute": 60}
_MEBIBYTES = {"": 1, "mb": 1, "mib": 1, "megabyte": 1, "mebibyte": 1, "b": 2**-20, "byte": 2**-20}
_MEBIBYTES |= {"kb": 2**-10, "kib": 2**-10, "kilobyte": 2**-10, "gb": 2**10, "gib": 2**10, "gigabyte": 2**10}


def seconds(value: JsonValue) -> float | None:
    """Of `time_limit`; None where none is stated: null, 0, or a text without a number. Raises `RecordError`."""
    number = value
    if isinstance(value, Mapping) and value.keys() <= {"seconds", "nanos"}:
        parts = value.get("seconds") or 0, value.get("nanos") or 0
        if all(isinstance(part, int) and abs(part) <= _MOST for part in parts):
            number = parts[0] + parts[1] / 1e9
    return _amount(number, _SECONDS, "time_limit", 'seconds, such as 2 or "2 seconds"')


def mebibytes(value: JsonValue) -> float | None:
    """Of `memory_limit`; None as in `seconds`. Raises `RecordError`."""
    return _amount(value, _MEBIBYTES, "memory_limit", 'mebibytes, such as 256 or "256 megabytes"')


def _amount(value: JsonValue, units: Mapping[str, float], name: str, example: str) -> float | None:
    number = _number_in(value, units) if isinstance(value, str) else value
    if not number and not isinstance(number, str | list | dict):
        return None
    if isinstance(number, bool) or not isinstance(number, int | float) or not 0 < number <= _MOST:
        raise RecordError(f"{name} is {brief(value)}: give {example}, or null")
    return float(number)


def _number_in(text: str, units: Mapping[str, float]) -> float | str | None:
    """None without a digit; the text itself if it can't be read."""
    if not re.search(r"\d", text):
        return None
    found = _AMOUNT.fullmatch(_RANGE.sub("", text.strip(), count=1)) if len(text) <= _LONGEST else None
    unit = found[2].lower() if found else "-"
    size = units.get(unit) or units.get(unit.removesuffix("s"))
    return float(found[1]) * size if found and size else text
