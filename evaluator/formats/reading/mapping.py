"""Paths into a row, and the map of a user's field names (`--map ours=theirs,...`): see docs/reference/formats.md."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from evaluator.formats.reading import fields as field
from evaluator.formats.reading.fields import Fields
from evaluator.formats.reading.problems import FormatError
from evaluator.model import JsonValue, RecordError

FieldMap = Mapping[str, str]
"""Our field's name to theirs."""

ABSENT = object()
_EVERY = "*"
_WHOLE_ROW = "$"
_STEP = re.compile(r"\[(\d+|\*)\]")


def parse_field_map(text: str, option: str = "--map") -> dict[str, str]:
    """The map in `ours=theirs,ours=theirs`. Raises `FormatError` for anything else, which names the option."""
    field_map: dict[str, str] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        ours, equals, theirs = (word.strip() for word in part.partition("="))
        if not (ours and equals and theirs):
            raise FormatError(f"{option}: {part!r} is not a pair: write ours=theirs, for example task_id=uid")
        if ours in field_map:
            raise FormatError(f"{option}: {ours} is given twice")
        field_map[ours] = theirs
    if not field_map:
        raise FormatError(f"{option}: is empty: write ours=theirs, for example task_id=uid,completion=response")
    return field_map


def renamed(fields: Fields, field_map: FieldMap) -> Iterator[dict[str, JsonValue]]:
    """The row with our names; several rows where a path has `[*]`, one per element. An absent field stays absent.

    Paths with `[*]` advance together. A row's own `sample_id` is numbered then. Raises `RecordError` if they have
    different numbers of elements.
    """
    spread = {ours: path for ours, path in field_map.items() if _is_spread(fields, path)}
    kept = field.without(fields, {*field_map.values(), *(_steps(path)[0] for path in spread.values())})
    for ours, path in field_map.items():
        if ours not in spread and (value := at(fields, path)) is not ABSENT:
            kept[ours] = value
    if not spread:
        yield kept
        return
    columns = {ours: list(_every(fields, _steps(path))) for ours, path in spread.items()}
    lengths = {ours: len(values) for ours, values in columns.items()}
    if len(set(lengths.values())) > 1:
        counts = ", ".join(f"{field_map[ours]} has {count}" for ours, count in lengths.items())
        raise RecordError(f"the lists of --map must be equally long: {counts}")
    count = next(iter(lengths.values()))
    if not count:
        raise RecordError(f"{field_map[next(iter(lengths))]} is missing: it has no element in this row")
    for place in range(count):
        row = kept | {ours: values[place] for ours, values in columns.items() if values[place] is not ABSENT}
        if count > 1 and "sample_id" not in columns and row.get("sample_id") is not None:
            row["sample_id"] = f"{row['sample_id']}/{place}"
        yield row


@lru_cache(maxsize=256)
def _steps(path: str) -> tuple[str, ...]:
    """`a[0].b` and `a.0.b` are a, 0, b."""
    return tuple(step for step in _STEP.sub(r".\1", path).split(".") if step)


def _is_spread(fields: Fields, path: str) -> bool:
    return _EVERY in path and path not in fields and _EVERY in _steps(path)[1:]


def at(fields: Fields, path: str) -> JsonValue:
    """The value at a path; `ABSENT` where the row has none."""
    if path in fields:
        return fields[path]
    if path == _WHOLE_ROW:
        return dict(fields)
    return _down(fields, _steps(path))


def _down(value: JsonValue, steps: tuple[str, ...]) -> JsonValue:
    for step in steps:
        if isinstance(value, Mapping) and step in value:
            value = value[step]
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            return ABSENT
    return value


def _every(value: JsonValue, steps: tuple[str, ...]) -> Iterator[JsonValue]:
    """The values at a path with `*` in it, in order; a step that an element lacks gives one that is absent."""
    if _EVERY not in steps:
        yield _down(value, steps)
        return
    place = steps.index(_EVERY)
    found = _down(value, steps[:place])
    if isinstance(found, Mapping):
        found = list(found.values())
    for item in found if isinstance(found, list) else ():
        yield from _every(item, steps[place + 1 :])
