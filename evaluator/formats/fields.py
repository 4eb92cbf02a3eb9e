"""Reads single fields of a row of any format: typed, or `RecordError` with the field and the fix."""

from __future__ import annotations

import hashlib
from collections.abc import Container, Mapping

from evaluator.formats.json_text import JsonError, decode_json
from evaluator.model import JsonValue, RecordError, brief

Fields = Mapping[str, JsonValue]

IN_OUTS = '{"inputs": [...], "outputs": [...]}'
"""What test cases look like, for messages."""
_WHOLE = range(-(2**63), 2**63)
"""What a column of a run can hold."""


def without(fields: Fields, names: Container[str]) -> dict[str, JsonValue]:
    """The row without these fields."""
    return {name: value for name, value in fields.items() if name not in names}


def identifier(fields: Fields, name: str) -> str:
    """A field that identifies something: text or a whole number, as text."""
    value = fields.get(name)
    if value is None or value == "":
        raise RecordError(f"{name} is missing: add text that is unique to the task")
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise RecordError(f"{name} must be text or a whole number, not {brief(value)}")
    return str(value)


def optional_identifier(fields: Fields, name: str) -> str | None:
    return None if fields.get(name) in (None, "") else identifier(fields, name)


def text(fields: Fields, name: str) -> str:
    """A text field; "" if it is null or missing."""
    value = fields.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise RecordError(f"{name} must be text, not {type(value).__name__}")
    return value


def strings(fields: Fields, name: str) -> list[str]:
    """A list of strings; empty if it is null or missing."""
    value = fields.get(name) or []
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise RecordError(f"{name} must be a list of strings")
    return value


def preamble(fields: Fields, header: str) -> str:
    """The row's own `preamble` ("" for none), else the header that the format's graders use."""
    return header if fields.get("preamble") is None else text(fields, "preamble")


def optional_whole(fields: Fields, name: str) -> int | None:
    value = fields.get(name)
    if value is None:
        return None
    whole = int(value) if isinstance(value, float) and value.is_integer() else value
    if isinstance(whole, bool) or not isinstance(whole, int):
        raise RecordError(f"{name} must be a whole number or null, not {brief(value)}")
    if whole not in _WHOLE:
        raise RecordError(f"{name} must be a whole number from -2^63 to 2^63 - 1 or null, not {brief(value)}")
    return whole


def optional_number(fields: Fields, name: str) -> float | None:
    value = fields.get(name)
    if value is None:
        return None
    if not isinstance(value, int | float):
        raise RecordError(f"{name} must be a number or null, not {brief(value)}")
    try:
        return float(value)
    except OverflowError:
        raise RecordError(f"{name} must be at most 1.8e308 or null, not {brief(value)}") from None


def optional_truth(fields: Fields, name: str) -> bool | None:
    value = fields.get(name)
    if value is None or isinstance(value, bool):
        return value
    raise RecordError(f"{name} must be true, false or null, not {brief(value)}")


def unpacked(fields: Fields, name: str) -> JsonValue:
    """A field that holds JSON, or JSON as text (both are common); None if it is null, "" or missing."""
    value = fields.get(name)
    if not isinstance(value, str):
        return value
    if not value.strip():
        return None
    try:
        return decode_json(value)
    except JsonError as error:
        raise RecordError(f"{name} is text that is {error}") from None


def optional_object(fields: Fields, name: str, example: str) -> Mapping[str, JsonValue] | None:
    """A field that holds an object, or its JSON text; None as in `unpacked`. A message shows the `example`."""
    value = unpacked(fields, name)
    if value is not None and not isinstance(value, Mapping):
        raise RecordError(f"{name} must be an object, for example {example}")
    return value


def conversation_text(value: JsonValue, name: str, *, whole: bool) -> str:
    """Text from a field that is text, one message or a list of messages `{role, content}`.

    Of a list, it is all contents joined by blank lines if `whole` (a prompt), else the last message's (a completion).
    """
    if isinstance(value, str):
        return value
    messages = value if isinstance(value, list) else [value]
    contents = [_content(message) for message in messages]
    if not contents or any(content is None for content in contents):
        raise RecordError(f"{name} must be text or a list of messages whose content is text")
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
    """A task id for rows without one: rows with the same prompt are the same task."""
    return "prompt-" + hashlib.sha256(prompt.encode("utf-8", "surrogatepass")).hexdigest()[:16]
