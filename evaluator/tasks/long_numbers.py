"""JSON that others wrote, nested within bounds. Its whole numbers may have more than the 4,300 digits that Python
converts by itself: answers of contests have.

The limit is there since the conversion takes quadratic time; here it takes far less, and has a limit of its own.
"""

from __future__ import annotations

import json
import sys

from evaluator.tasks import nesting
from evaluator.tasks.parts import JsonValue

MOST_DIGITS = 100_000
"""Contest graders allow 50,000."""
_AT_ONCE = 4_000


def allow() -> None:
    """Let this process write what `loads` reads: for processes of our own, since the limit is the whole process's."""
    sys.set_int_max_str_digits(MOST_DIGITS)


def loads(text: str, most_levels: int = nesting.MOST) -> JsonValue:
    """`json.loads`. Raises `ValueError` for what is not JSON, is nested in more levels than `most_levels`, or has a
    longer number than `MOST_DIGITS`.
    """
    nesting.require_shallow(text, most_levels)
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        raise
    except ValueError:
        return json.loads(text, parse_int=whole_number)


def dumps(value: JsonValue) -> str:
    """`json.dumps(value, ensure_ascii=False)`."""
    try:
        return json.dumps(value, ensure_ascii=False)
    except ValueError:
        return _written(value)


def whole_number(text: str) -> int:
    """The number that decimal digits with an optional sign write. Raises `ValueError`."""
    if len(text) <= _AT_ONCE:
        return int(text)
    if len(text) > MOST_DIGITS:
        raise ValueError(f"a whole number has {len(text):,} digits: at most {MOST_DIGITS:,} can be read")
    sign = -1 if text[0] == "-" else 1
    return sign * _of_digits(text.lstrip("-"))


def _of_digits(digits: str) -> int:
    if len(digits) <= _AT_ONCE:
        return int(digits)
    half = len(digits) // 2
    high: int = 10**half
    return _of_digits(digits[:-half]) * high + _of_digits(digits[-half:])


def digits_of(number: int) -> str:
    """`str(number)`, of any length."""
    if abs(number) < 10**_AT_ONCE:
        return str(number)
    if number < 0:
        return f"-{digits_of(-number)}"
    half = number.bit_length() * 3 // 20  # about half of the digits
    high, low = divmod(number, 10**half)
    return digits_of(high) + digits_of(low).rjust(half, "0")


def _written(value: JsonValue) -> str:
    match value:
        case list() | tuple():
            return f"[{', '.join(map(_written, value))}]"
        case dict():
            return f"{{{', '.join(f'{json.dumps(str(key))}: {_written(item)}' for key, item in value.items())}}}"
        case int() if not isinstance(value, bool):
            return digits_of(value)
    return json.dumps(value, ensure_ascii=False)
