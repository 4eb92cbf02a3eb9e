"""The JSON in a completion, read to the letter, and paths into it."""

from __future__ import annotations

import json
import math
import re
from typing import Final, Literal, NamedTuple

from evaluator.extraction.fences import fenced_blocks
from evaluator.model import JsonValue

LONGEST: Final = 1_000_000
"""Characters of a text that is read."""
DEEPEST: Final = 64
"""Levels of lists and objects."""
MOST: Final = 20_000
"""Values, those inside of others included."""

Where = Literal["any", "whole", "fenced"]

_JSON_TAGS: Final = ("json", "jsonc", "json5", "")
_BEGINNINGS: Final = frozenset('{["-0123456789tfn')
_LIKE_JSON: Final = re.compile(r'\{\s*["}]|\[\s*(?:["{\[\]0-9-]|true|false|null|NaN|Infinity)')
_IN_PROSE: Final = re.compile(r'\{\s*["}]|\[\s*["{\[]')
_LONGEST_INTEGER: Final = 300
_ABSENT: Final = object()


class NotReadError(ValueError):
    """The text is no JSON, or JSON that is not taken. The message says why."""


class Found(NamedTuple):
    """`value` holds where `problem` is None."""

    text: str
    value: JsonValue
    problem: str | None


def json_in(text: str, where: Where) -> Found | None:
    """The JSON of an answer; None where there is nothing that could be any.

    any: the whole text where that is JSON or begins like it, else the first fenced block that says json or nothing,
    else what begins like an object or a list of texts, objects or lists first.
    """
    whole = text.strip()
    if where == "whole":
        return _found(whole) if whole else None
    block = next((b.text for b in fenced_blocks(text) if b.tag in _JSON_TAGS), None)
    if where == "fenced":
        return None if block is None else _found(block.strip())
    found = _as_a_whole(whole)
    if found is None and block is not None:
        return _found(block.strip())
    return found or _first_in(whole)


def _as_a_whole(text: str) -> Found | None:
    """None where it is prose, or has prose after it. What begins as JSON and breaks off is JSON that is wrong."""
    if text[:1] not in _BEGINNINGS:
        return None
    try:
        value, end = _read(text, 0)
    except NotReadError as error:
        return Found(text, None, str(error)) if _LIKE_JSON.match(text) else None
    return None if text[end:].strip() else Found(text, value, None)


def _found(text: str) -> Found:
    try:
        value, end = _read(text, 0)
        if text[end:].strip():
            raise NotReadError(f"not JSON: more text after it, from character {end + 1}")
    except NotReadError as error:
        return Found(text, None, str(error))
    return Found(text, value, None)


def _first_in(text: str) -> Found | None:
    """What begins like an object first, or like a list of texts, objects or lists, with anything round it.

    Only that: an object inside of a broken one is not what was meant.
    """
    begin = _IN_PROSE.search(text)
    if begin is None:
        return None
    try:
        value, end = _read(text, begin.start())
    except NotReadError as error:
        return Found(text[begin.start() :], None, str(error))
    return Found(text[begin.start() : end], value, None)


def _read(text: str, start: int) -> tuple[JsonValue, int]:
    """The value that begins there, and where it ends. Raises `NotReadError`."""
    if len(text) - start > LONGEST:
        raise NotReadError(f"longer than {LONGEST:,} characters")
    try:
        value, end = _DECODER.raw_decode(text, start)
    except NotReadError:
        raise
    except json.JSONDecodeError as error:
        raise NotReadError(f"not JSON: {error.msg} at line {error.lineno}, column {error.colno}") from None
    except RecursionError:
        raise NotReadError(f"nested deeper than {DEEPEST} levels") from None
    _require_modest(value)
    return value, end


def _require_modest(value: JsonValue) -> None:
    level, left = [value], MOST
    for _ in range(DEEPEST + 1):
        left -= len(level)
        if left < 0:
            raise NotReadError(f"more than {MOST:,} values")
        inner = [each for each in level if isinstance(each, dict | list)]
        if not inner:
            return
        level = [value for each in inner for value in (each.values() if isinstance(each, dict) else each)]
    raise NotReadError(f"nested deeper than {DEEPEST} levels")


def _object(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    made = dict(pairs)
    if len(made) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise NotReadError(f"the key {twice[:100]!r} stands twice in an object")
    return made


def _integer(digits: str) -> int:
    if len(digits) > _LONGEST_INTEGER:
        raise NotReadError(f"a number of {len(digits):,} digits")
    return int(digits)


def _float(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise NotReadError(f"the number {digits[:40]} is beyond a double")
    return number


def _constant(name: str) -> JsonValue:
    raise NotReadError(f"{name} is no JSON")


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=_integer, parse_float=_float, parse_constant=_constant
)


def steps_of(path: str) -> tuple[str, ...]:
    """The keys of a path such as `user.name` or `items.0`; of `/a.b/c`, which is for keys that have dots."""
    if path.startswith("/"):
        return tuple(step.replace("~1", "/").replace("~0", "~") for step in path[1:].split("/"))
    return tuple(path.split("."))


def value_at(value: JsonValue, path: str) -> JsonValue:
    """Raises `LookupError` where there is none; what is there may be null."""
    for step in steps_of(path):
        if isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(value, list) and step.isdecimal() and step.isascii() and _in_list(step, value):
            value = value[int(step)]
        else:
            raise LookupError(path)
    return value


def _in_list(step: str, items: list[JsonValue]) -> bool:
    return len(step) < len(str(MOST)) + 1 and int(step) < len(items)
