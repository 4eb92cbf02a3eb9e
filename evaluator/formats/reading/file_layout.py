"""How a file's rows are read: the format, the names of the fields, where the first row is. Found out once per file."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from contextlib import suppress
from typing import TypeVar

import msgspec

from evaluator.formats.reading.containers import Container, open_container, read_rows
from evaluator.formats.reading.fields import Fields, refuse_others
from evaluator.formats.reading.mapping import renamed
from evaluator.formats.reading.problems import FormatError, Problem, read_each, refuse_all
from evaluator.formats.reading.registry import (
    Claimed,
    Format,
    Role,
    Row,
    claims_of,
    format_named,
    known_formats,
    known_refusals,
)
from evaluator.formats.reading.sources import FileLike, Source, source_of
from evaluator.formats.reading.spec import Claim
from evaluator.model import JsonValue, RecordError, Rollout, Task, brief

_LOOKED_AT = 100
"""Rows at the start of a file among which one must be of a known format."""
_SHOWN_FIELDS = 12
_MAP_ROW = "give a task's row, and name its format or map its fields with field_map={'task_id': ..., 'test': ...}"
"""What to do about a row that is in no file."""
_OF_TASKS = {"test", "in_outs", "answer", "reference", "mode", "entry_point"}
_ID_FIELDS = ("task_id", "question_id", "id", "name")

_NONE = Format("", "")
_OTHER = {Role.TASKS: Role.ROLLOUTS, Role.ROLLOUTS: Role.TASKS}

Read = TypeVar("Read")
Unwrap = Callable[[Fields], Iterable[Fields] | None]
"""What makes rows of an object that no format claims: the rows in it, in order, or None where it is something else."""


class FileLayout(msgspec.Struct, frozen=True, kw_only=True):
    """How one file is read. The loader and the index read by the same layout."""

    source: Source
    role: Role
    format: Format = _NONE
    """Without a name where no row is an object: there is nothing to read but what is wrong with each."""
    field_map: Mapping[str, str] | None
    container: str
    """Its description, such as `JSON lines, gzip`."""
    in_place: bool
    """Whether the file is JSON lines that are not compressed: a row's bytes can be read from it at their offset."""
    line: int
    offset: int
    """Of the first line after a byte order mark, blank lines and, if `in_place`, the header; once decompressed."""
    header: tuple[int, int | None] | None = None
    """Line and offset of an object before the rows that describes them; it is skipped."""
    unwrap: Unwrap | None = None
    """Makes rows of an object that holds them."""
    both_roles: bool = False
    """Whether a row has a task and a sample of it, so that tasks are repeated."""


def layout_of(
    file: FileLike,
    role: Role,
    format: str | None = None,  # noqa: A002 - as in `load_rollouts`
    field_map: Mapping[str, str] | None = None,
) -> FileLayout:
    """Opens a file and finds out how its rows are read. Raises `FormatError` if they can't be read in this role."""
    source = source_of(file)
    if format is None and field_map:
        format = "mapped"  # noqa: A001
    chosen = _NONE if format is None else format_named(format, role)
    with open_container(source) as container:
        layout = FileLayout(
            source=source,
            role=role,
            format=chosen,
            field_map=field_map or None,
            container=str(container),
            in_place=container.in_place,
            line=container.start.line,
            offset=container.start.offset,
        )
        if field_map or (chosen is not _NONE and chosen.claims(role) is None):
            return layout
        first = second = None
        for row, unwrap, fields in _candidates(container):
            first = first or row
            second = second or (row if row is not first else None)
            if chosen is _NONE:
                found = _detected(role, fields, f"{source.name}:{row.line}")
            else:
                found = chosen if chosen.claim(role, fields) is not None else None
            if found is not None:
                both_roles = bool(claims_of(_OTHER[role], fields))
                layout = msgspec.structs.replace(layout, format=found, unwrap=unwrap, both_roles=both_roles)
                alike = second is None or second.fields.keys() == first.fields.keys()
                return layout if alike else _after_header(layout, first, row)
    if chosen is _NONE and first is not None:
        raise _unknown_in(source.name, first, role)
    return layout


def readings_of(
    file: FileLike, name: str | None = None, field_map: Mapping[str, str] | None = None
) -> tuple[list[Claimed], str]:
    """All formats that claim the first row that any format claims, likeliest first, and the container's description.

    `name`: the only format, in its roles, also where it claims no row; `field_map` without it means `mapped`. Raises
    `FormatError` if there is none.
    """
    name = name or ("mapped" if field_map else None)
    with open_container(file) as container:
        first: Row | None = None
        for row, _, fields in _candidates(container):
            first = first or row
            found = [claimed for role in Role for claimed in claims_of(role, _first_renamed(fields, field_map))]
            if claims := [claimed for claimed in found if name in (None, claimed.format.name)]:
                return sorted(claims, key=lambda each: -each.claim.strength), str(container)
        if first is None:
            raise no_rows(file)
        if name is None:
            raise _unknown_in(container.path, first)
        return [_named(name, _first_renamed(first.fields, field_map), field_map or {})], str(container)


def _first_renamed(fields: Fields, field_map: Mapping[str, str] | None) -> Fields:
    try:
        return next(renamed(fields, field_map)) if field_map else fields
    except RecordError:
        return fields


def _named(name: str, fields: Fields, field_map: Mapping[str, str]) -> Claimed:
    """The reading of a row in a format that was named and does not claim it. Raises `FormatError` if there is none."""
    roles = known_formats()[name].roles if name in known_formats() else ()
    role = roles[0] if len(roles) == 1 else _role_by_fields(field_map.keys(), fields.keys())
    return Claimed(Claim(1, "named"), format_named(name, role), role)


def _role_by_fields(*names: Set[str]) -> Role:
    """The role that our fields show, the first names before the others."""
    for known in names:
        if "completion" in known:
            return Role.ROLLOUTS
        if known & _OF_TASKS:
            return Role.TASKS
    return Role.ROLLOUTS


def _candidates(container: Container) -> Iterator[tuple[Row, Unwrap | None, Fields]]:
    """The first objects of a file, each followed by the first row that each way to unwrap it finds in it."""
    objects = (row for row in read_rows(container) if isinstance(row, Row))
    for row in itertools.islice(objects, _LOOKED_AT):
        yield row, None, row.fields
        for unwrap in (samples_by_id, tasks_by_id, rows_of_table):
            inner = next((each for each in unwrap(row.fields) or () if each.get("completions") != []), None)
            if inner is not None:
                yield row, unwrap, inner


def rows_of(layout: FileLayout, fields: Fields) -> Iterator[Fields]:
    """The rows in one object of the file, under our names. Raises `RecordError`, also after some of them."""
    format_ = layout.format
    inner: Iterable[Fields] | None = None
    if layout.unwrap is not None and format_.claim(layout.role, fields) is None:
        inner = layout.unwrap(fields)
    for row in [fields] if inner is None else inner:
        for named in renamed(row, layout.field_map) if layout.field_map else (row,):
            yield named if format_.from_name is None else {**format_.from_name(layout.source.name), **named}


def _read(layout: FileLayout, fields: Fields, read: Callable[[Fields], Iterable[Read]]) -> Iterable[Read]:
    """What is read of each row in one object of the file. Raises `RecordError` as `read_each`."""
    if layout.field_map is None and layout.unwrap is None and layout.format.from_name is None:  # the usual row, quickly
        refuse_others(fields)
        return read(fields)

    def read_row(row: Fields) -> Iterable[Read]:
        refuse_others(row)
        return read(row)

    def where(place: int, row: Fields) -> str:
        own = next((row[name] for name in _ID_FIELDS if row.get(name)), None) if layout.unwrap else None
        return f"element {place}" if own is None else brief(own)

    return read_each(rows_of(layout, fields), read_row, where, is_list=layout.unwrap is not None)


def rollouts_of(layout: FileLayout, fields: Fields) -> Iterable[Rollout]:
    """The rollouts in one object of the file, in order. Raises `RecordError` at the end; those that are right count."""
    return _read(layout, fields, layout.format.rollouts.read)


def samples_of(layout: FileLayout, fields: Fields, known: set[str] | None = None) -> Iterator[tuple[Rollout, str]]:
    """The same with the prompt of each, as far as its row has it.

    `known`: tasks whose rollouts nobody wants; a row of one of them is not read further, where it has one rollout.
    """
    rollouts = layout.format.rollouts

    def read(row: Fields) -> Iterator[tuple[Rollout, str]]:
        if known is not None and rollouts.is_one_each and rollouts.task_id_of(row) in known:
            return
        prompt = rollouts.prompt_of(row)
        for rollout in rollouts.read(row):
            yield rollout, prompt

    yield from _read(layout, fields, read)


def tasks_of(layout: FileLayout, fields: Fields) -> Iterable[Task]:
    """The same for tasks."""
    return _read(layout, fields, lambda row: (layout.format.tasks.read(row),))


def no_rows(*files: FileLike) -> FormatError:
    """For files without a single usable row: what is wrong with the first row, or how to see it."""
    shown = ", ".join(map(str, files))
    found = 0
    for file in files:
        with suppress(FormatError), open_container(file) as container:
            for row in itertools.islice(read_rows(container), _LOOKED_AT):
                found += 1
                if isinstance(row, Problem):
                    return FormatError(f"{shown}: has no usable row: line {row.line}: {row.message}")
    if not found:
        return FormatError(f"{shown}: has no row: it is an empty list or table")
    return FormatError(f"{shown}: has no usable row: `rollscope formats FILE --check` says what is wrong with each")


def _after_header(layout: FileLayout, first: Row, row: Row) -> FileLayout:
    """The layout where the first object is not a row, but describes the rows."""
    if not _is_header(layout, first.fields, row.fields):
        return layout
    layout = msgspec.structs.replace(layout, header=(first.line, first.offset))
    if not layout.in_place or first.offset is None:
        return layout
    with layout.source.path.open("rb") as file:
        file.seek(first.offset)
        file.readline()
        return msgspec.structs.replace(layout, line=first.line + 1, offset=file.tell())


def _is_header(layout: FileLayout, first: Fields, row: Fields) -> bool:
    """Whether an object that no format claims describes the rows: few of its fields are theirs."""
    if 2 * len(first.keys() & row.keys()) > len(first):
        return False
    read = rollouts_of if layout.role is Role.ROLLOUTS else tasks_of
    try:
        return not list(read(layout, first))
    except RecordError:
        return True


def format_of_task(fields: Fields, name: str | None) -> Format:
    """The format named, or that of one row of a task that is in no file. Raises `FormatError`."""
    found = format_named(name, Role.TASKS) if name else _detected(Role.TASKS, fields, "the row", _MAP_ROW)
    if found is None:
        raise _unknown("the row", fields, _MAP_ROW)
    return found


def _detected(role: Role, fields: Fields, where: str, fix: str = "") -> Format | None:
    """The format that claims this row most strongly. Raises `FormatError` if it is a row of the other role."""
    claims, other = claims_of(role, fields), _OTHER[role]
    others = claims_of(other, fields)
    if others and (not claims or (claims[0].claim.strength == 1 and others[0].claim.strength >= 3)):
        fix = fix or f"pass a file of {role} here, or name its format with --format"
        raise FormatError(f"{where}: holds {other} ({others[0].format.name}), not {role}: {fix}")
    return claims[0].format if claims else None


def _unknown_in(path: str, row: Row, role: Role | None = None) -> FormatError:
    fix = {
        Role.TASKS: "--map task_id=...,test=... (--dataset-map of a dataset beside rollouts)",
        Role.ROLLOUTS: "--map task_id=...,completion=...",
        None: "--map task_id=...,completion=... (or test=..., of tasks)",
    }[role]
    return _unknown(f"{path}:{row.line}", row.fields, f"map them with {fix} or name a format with --format")


def _unknown(where: str, fields: Fields, fix: str) -> FormatError:
    known = next((each for each in known_refusals() if each.claim(fields) is not None), None)
    if known is not None:
        return FormatError(f"{where}: {known.message}")
    names = ", ".join(list(fields)[:_SHOWN_FIELDS])
    return FormatError(f"{where}: no known format has these fields ({names}): {fix}")


def samples_by_id(fields: Fields) -> Iterator[dict[str, JsonValue]] | None:
    """A row with the samples of each task of `{id: [text, ...]}`, in its order; None if it is something else.

    Every key must have a digit, as ids have: an object such as `{"results": [...]}` does not say what its texts are.
    """
    if not fields or not all(any(map(str.isdigit, key)) and _are_texts(value) for key, value in fields.items()):
        return None
    return ({"task_id": key, "completions": value} for key, value in fields.items())


def _are_texts(value: JsonValue) -> bool:
    """Whether it is a list of texts, of which some may be wrong."""
    return isinstance(value, list) and (not value or any(isinstance(item, str) for item in value))


def rows_of_table(fields: Fields) -> Iterator[dict[str, JsonValue]] | None:
    """The rows of a table, `{columns: [name, ...], data: [[value, ...], ...]}` as W&B and pandas write it."""
    names, rows = fields.get("columns"), fields.get("data")
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names) or not isinstance(rows, list):
        return None
    return _of_table(names, rows) if any(isinstance(row, list) for row in rows) else None


def _of_table(names: list[str], rows: list[JsonValue]) -> Iterator[dict[str, JsonValue]]:
    yield from (dict(zip(names, row, strict=False)) for row in rows if isinstance(row, list))
    wrong = (place for place, row in enumerate(rows) if not isinstance(row, list))
    refuse_all(RecordError(f"data[{place}] must be a list of values, not {brief(rows[place])}") for place in wrong)


def tasks_by_id(fields: Fields) -> Iterator[dict[str, JsonValue]] | None:
    """The tasks of `{id: task}`, of a known format, in its order; None if it is something else.

    A task without an id gets its key, in the field from which its format reads the id. Raises `RecordError` at the end
    for values that are not tasks.
    """
    first = next(iter(fields.items()), None)
    if first is None or not isinstance(first[1], dict) or not first[1]:
        return None
    rows = ({name: first[0], **first[1]} for name in _ID_FIELDS)
    chosen = next((name for name, row in zip(_ID_FIELDS, rows, strict=True) if _is_read(row, first[0])), None)
    return None if chosen is None else _tasks(fields, chosen)


def _tasks(fields: Fields, name: str) -> Iterator[dict[str, JsonValue]]:
    wrong: list[str] = []
    for key, value in fields.items():
        if isinstance(value, dict):
            yield value if value.get(name) not in (None, "") else {**value, name: key}
        else:
            wrong.append(key)
    refuse_all(RecordError(f"{key!r} is not a task: give an object, as the first id has") for key in wrong)


def _is_read(row: Fields, key: str) -> bool:
    """Whether the format that claims the row most strongly reads a task, of this id if the row has no other."""
    claims = claims_of(Role.TASKS, row)
    if not claims:
        return False
    try:
        return claims[0].format.tasks.read(row).task_id in (key, *(str(row.get(name)) for name in _ID_FIELDS))
    except RecordError:
        return False
