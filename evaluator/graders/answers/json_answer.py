"""The JSON in a completion, read strictly, and paths into it."""

from __future__ import annotations

import json
import math
import re
from typing import Final, Literal, NamedTuple

from evaluator.extraction.fences import fenced_blocks
from evaluator.model import JsonValue

LONGEST: Final = 1_000_000
"""Characters of a text."""
DEEPEST: Final = 64
"""Levels of lists and objects."""
MOST: Final = 20_000
"""Values, nested ones included."""

Where = Literal["any", "whole", "fenced"]

_JSON_TAGS: Final = ("json", "jsonc", "json5", "")
_BEGINNINGS: Final = frozenset('{["-0123456789tfn')
_LIKE_JSON: Final = re.compile(r'\{\s*["}]|\[\s*(?:["{\[\]0-9-]|true|false|null|NaN|Infinity)')
_IN_PROSE: Final = re.compile(r'\{\s*["}]|\[\s*["{\[]')
_LONGEST_INTEGER: Final = 300


class NotReadError(ValueError):
    """The text is not JSON, or JSON beyond a limit. The message says why."""


class JsonAnswer(NamedTuple):
    """`value` is valid if `problem` is None."""

    text: str
    value: JsonValue
    problem: str | None


def json_in(text: str, where: Where) -> JsonAnswer | None:
    """The JSON of an answer; None if nothing looks like JSON.

    any: the whole text if it is JSON or starts like JSON, else the first fenced block marked json or not marked, else
    the first text that starts like an object, or like a list of texts, objects or lists.
    """
    whole = text.strip()
    if where == "whole":
        return _answer(whole) if whole else None
    block = next((b.text for b in fenced_blocks(text) if b.tag in _JSON_TAGS), None)
    if where == "fenced":
        return None if block is None else _answer(block.strip())
    answer = _as_a_whole(whole)
    if answer is None and block is not None:
        return _answer(block.strip())
    return answer or _first_in(whole)


def _as_a_whole(text: str) -> JsonAnswer | None:
    """None for prose, or if prose follows. A text that starts as JSON and breaks off is invalid JSON."""
    if text[:1] not in _BEGINNINGS:
        return None
    try:
        value, end = _read(text, 0)
    except NotReadError as error:
        return JsonAnswer(text, None, str(error)) if _LIKE_JSON.match(text) else None
    return None if text[end:].strip() else JsonAnswer(text, value, None)


def _answer(text: str) -> JsonAnswer:
    try:
        value, end = _read(text, 0)
        if text[end:].strip():
            raise NotReadError(f"not JSON: more text after it, from character {end + 1}")
    except NotReadError as error:
        return JsonAnswer(text, None, str(error))
    return JsonAnswer(text, value, None)


def _first_in(text: str) -> JsonAnswer | None:
    """The first text in prose that starts like JSON. If it is invalid, objects inside it are not tried."""
    begin = _IN_PROSE.search(text)
    if begin is None:
        return None
    try:
        value, end = _read(text, begin.start())
    except NotReadError as error:
        return JsonAnswer(text[begin.start() :], None, str(error))
    return JsonAnswer(text[begin.start() : end], value, None)


def _read(text: str, start: int) -> tuple[JsonValue, int]:
    """The value that starts there, and its end. Raises `NotReadError`."""
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
    _refuse_large(value)
    return value, end


def _refuse_large(value: JsonValue) -> None:
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
    value = dict(pairs)
    if len(value) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise NotReadError(f"an object has the key {twice[:100]!r} twice")
    return value


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
    raise NotReadError(f"{name} is not JSON")


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=_integer, parse_float=_float, parse_constant=_constant
)


def steps_of(path: str) -> tuple[str, ...]:
    """The keys of a path such as `user.name` or `items.0`, or `/a.b/c` for keys that contain dots."""
    if path.startswith("/"):
        return tuple(step.replace("~1", "/").replace("~0", "~") for step in path[1:].split("/"))
    return tuple(path.split("."))


def value_at(value: JsonValue, path: str) -> JsonValue:
    """The value there, possibly null. Raises `LookupError` if there is none."""
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
