"""Decodes JSON as the field's files need it: fast, and tolerant of what Python's own writer produces."""

from __future__ import annotations

import json

import msgspec

from evaluator import long_numbers
from evaluator.model import JsonValue


class JsonError(ValueError):
    """Text that is not JSON. The message is the cause, without a position in any file."""


def decode_json(data: bytes | str) -> JsonValue:
    """The value of a JSON text. Raises `JsonError`.

    Accepts `NaN`, `Infinity`, numbers beyond a double and lone surrogates: Python's `json` writes them, so the field's
    files have them.
    """
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return _decode_slowly(data)


def _decode_slowly(data: bytes | str) -> JsonValue:
    try:
        text = data if isinstance(data, str) else data.decode("utf-8", "surrogatepass")
        return long_numbers.loads(text.rstrip())  # a final line feed would shift the position to the next line
    except UnicodeDecodeError as error:
        raise JsonError(f"not UTF-8 at byte {error.start + 1}") from None
    except json.JSONDecodeError as error:
        raise JsonError(f"not JSON: {error.msg.removesuffix(' at')} at column {error.colno}") from None
    except RecursionError:
        raise JsonError("not usable: nested too deeply") from None
    except ValueError as error:
        raise JsonError(f"not usable: {error}") from None
