"""`{id: [text, ...]}`: one object with the samples of each task, as the generations of CRUXEval and others are kept."""

from __future__ import annotations

from collections.abc import Iterator

from evaluator.formats.registry import Fields
from evaluator.model import JsonValue


def samples_by_id(fields: Fields) -> Iterator[dict[str, JsonValue]] | None:
    """A row with the samples of each task, in its order; None if it is something else.

    Every key must have a digit, as ids have: an object such as `{"results": [...]}` does not say what its texts are.
    """
    if not fields or not all(_is_id(key) and _are_texts(value) for key, value in fields.items()):
        return None
    return ({"task_id": key, "completions": value} for key, value in fields.items() if value)


def _is_id(key: str) -> bool:
    return any(character.isdigit() for character in key)


def _are_texts(value: JsonValue) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


UNWRAP = samples_by_id
