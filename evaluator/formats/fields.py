"""Reads single fields of a row, whatever its format: typed, or `RecordError` with the field and the mend."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from evaluator.formats.json_text import JsonError, decode_json
from evaluator.model import JsonValue, RecordError, brief

Fields = Mapping[str, JsonValue]

_WHOLE = range(-(2**63), 2**63)
"""What a column of a run can hold."""


def identifier(fields: Fields, name: str) -> str:
    """A field that names something: text or a whole number, as text."""
    value = fields.get(name)
    if value is None or value == "":
        raise RecordError(f"{name} is missing: give text that is unique to the task")
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise RecordError(f"{name} is {brief(value)}: give text or a whole number")
    return str(value)


def optional_identifier(fields: Fields, name: str) -> str | None:
    return None if fields.get(name) in (None, "") else identifier(fields, name)


def text(fields: Fields, name: str) -> str:
    """A text field; "" when it is null or not there."""
    value = fields.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise RecordError(f"{name} is {type(value).__name__}, not text")
    return value


def preamble(fields: Fields, header: str) -> str:
    """The row's own `preamble` ("" for none), else the header that the format's graders put there."""
    return header if fields.get("preamble") is None else text(fields, "preamble")


def optional_whole(fields: Fields, name: str) -> int | None:
    value = fields.get(name)
    if value is None:
        return None
    whole = int(value) if isinstance(value, float) and value.is_integer() else value
    if isinstance(whole, bool) or not isinstance(whole, int):
        raise RecordError(f"{name} is {brief(value)}: give a whole number, or null")
    if whole not in _WHOLE:
        raise RecordError(f"{name} is {brief(value)}: give a whole number from -2^63 to 2^63 - 1, or null")
    return whole


def optional_number(fields: Fields, name: str) -> float | None:
    value = fields.get(name)
    if value is None:
        return None
    if not isinstance(value, int | float):
        raise RecordError(f"{name} is {brief(value)}: give a number, or null")
    try:
        return float(value)
    except OverflowError:
        raise RecordError(f"{name} is {brief(value)}: give a number of at most 1.8e308, or null") from None


def optional_truth(fields: Fields, name: str) -> bool | None:
    value = fields.get(name)
    if value is None or isinstance(value, bool):
        return value
    raise RecordError(f"{name} is {brief(value)}: give true, false or null")


def unpacked(fields: Fields, name: str) -> JsonValue:
    """A field that holds JSON, or JSON as text (both are usual); None when it is null, "" or not there."""
    value = fields.get(name)
    if not isinstance(value, str):
        return value
    if not value.strip():
        return None
    try:
        return decode_json(value)
    except JsonError as error:
        raise RecordError(f"{name} is text that is {error}") from None


def conversation_text(value: JsonValue, name: str, *, whole: bool) -> str:
    """Text from a field that is text, one message or a list of messages `{role, content}`.

    Of a list: all its contents joined by blank lines when `whole` (a prompt), else that of the last message
    (a completion).
    """
    if isinstance(value, str):
        return value
    messages = value if isinstance(value, list) else [value]
    contents = [_content(message) for message in messages]
    if not contents or any(content is None for content in contents):
        raise RecordError(f"{name} is neither text nor a list of messages with a text content")
    texts = [content for content in contents if content is not None]
    return "\n\n".join(texts) if whole else texts[-1]


def _content(message: JsonValue) -> str | None:
    if not isinstance(message, dict):
        return None
    content = message.get("content")
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        content = "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else None


def id_from_prompt(prompt: str) -> str:
    """A task id for rows that have none: rows with the same prompt are the same task."""
    return "prompt-" + hashlib.sha256(prompt.encode("utf-8", "surrogatepass")).hexdigest()[:16]
