"""Decodes the rows of a container into objects, one at a time, and reports any that can't be decoded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from evaluator.formats.container_kinds import Row
from evaluator.formats.containers import AnyContainer, RawRow
from evaluator.formats.json_text import JsonError, decode_json
from evaluator.formats.problems import FormatError, Problem, snippet_of
from evaluator.model import JsonValue

__all__ = ["HOPELESS_ROWS", "Row", "decoded", "is_incomplete", "read_rows"]

HOPELESS_ROWS = 1000
"""If this many rows at the start of a file are all broken, it is something else and reading stops."""


def read_rows(container: AnyContainer) -> Iterator[Row | Problem]:
    """Every object in the container, and a `Problem` for each row that is not an object.

    A row that is a list of objects is as many rows. One that is a list of texts holds the samples of a task that is
    named by the row's place, from 0. Raises `FormatError` if none of the first `HOPELESS_ROWS` rows is an object.
    """
    usable = 0
    for place, raw in enumerate(container.raw_rows()):
        if not isinstance(raw, RawRow):
            usable += isinstance(raw, Row)
            yield raw
        else:
            for item in decoded(container.path, raw, place):
                usable += isinstance(item, Row)
                yield item
        if not usable and place + 1 >= HOPELESS_ROWS:
            container.close()
            raise FormatError(
                f"{container.path}: none of the first {place + 1:,} lines is a JSON object: "
                "use JSON lines or a JSON list"
            )


def is_incomplete(line: bytes) -> bool:
    """Whether the last line of a file of JSON lines is half written: it has no newline yet and is not JSON so far."""
    if line.endswith(b"\n"):
        return False
    try:
        decode_json(line)
    except JsonError:
        return True
    return False


def decoded(path: str, raw: RawRow, place: int) -> Sequence[Row | Problem]:
    """The objects of one row, or what is wrong with it. `place` is the row's number in its file, from 0."""
    try:
        value = decode_json(raw.data)
    except JsonError as error:
        return (Problem(path, raw.line, _cause(raw, str(error)), snippet_of(raw.data), offset=raw.offset),)
    if isinstance(value, dict):
        return (Row(raw.line, value, raw.offset),)
    if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        return [Row(raw.line, item, raw.offset) for item in value]
    if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        return (Row(raw.line, {"task_id": place, "completions": value}, raw.offset),)
    message = f"the row must be a JSON object, not {_json_name(value)}: it is skipped"
    return (Problem(path, raw.line, message, snippet_of(raw.data), offset=raw.offset),)


def _cause(raw: RawRow, error: str) -> str:
    if raw.terminated:
        return error
    return f"the last line is not complete ({error}): is the file still being written?"


def _json_name(value: JsonValue) -> str:
    names = {list: "a list", str: "text", bool: "true or false", int: "a number", float: "a number"}
    return names.get(type(value), "null")
