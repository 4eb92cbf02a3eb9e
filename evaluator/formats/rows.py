"""Decodes the rows of a container into objects, one at a time, and reports those that can't be decoded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from evaluator.formats.containers import Container, RawRow
from evaluator.formats.json_text import JsonError, decode_json
from evaluator.formats.problems import FormatError, Problem, snippet_of
from evaluator.model import JsonValue

HOPELESS_ROWS = 1000
"""If this many rows at the start of a file are all broken, it is something else and reading stops."""


class Row(NamedTuple):
    """One decoded object and the line on which it begins."""

    line: int
    fields: dict[str, JsonValue]


def read_rows(container: Container) -> Iterator[Row | Problem]:
    """Every object in the container, and a `Problem` for each row that is not an object.

    Raises `FormatError` if none of the first `HOPELESS_ROWS` rows is an object.
    """
    usable = 0
    for count, raw in enumerate(container.raw_rows(), start=1):
        item = raw if isinstance(raw, Problem) else _decode(container.path, raw)
        if isinstance(item, Row):
            usable += 1
        elif not usable and count >= HOPELESS_ROWS:
            container.close()
            raise FormatError(
                f"{container.path}: none of the first {count:,} lines is a JSON object: use JSON lines or a JSON list"
            )
        yield item


def _decode(path: str, raw: RawRow) -> Row | Problem:
    try:
        value = decode_json(raw.data)
    except JsonError as error:
        return Problem(path, raw.line, _cause(raw, str(error)), snippet_of(raw.data))
    if not isinstance(value, dict):
        message = f"the row must be a JSON object, not {_json_name(value)}: it is skipped"
        return Problem(path, raw.line, message, snippet_of(raw.data))
    return Row(raw.line, value)


def _cause(raw: RawRow, error: str) -> str:
    if raw.terminated:
        return error
    return f"the last line is not complete ({error}): is the file still being written?"


def _json_name(value: JsonValue) -> str:
    names = {list: "a list", str: "text", bool: "true or false", int: "a number", float: "a number"}
    return names.get(type(value), "null")
