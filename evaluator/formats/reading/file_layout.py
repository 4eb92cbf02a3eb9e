"""How a file's rows are read: the format, the names of the fields, where the first row is. Found out once per file."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping

import msgspec

from evaluator.formats.reading.containers import Container, open_container, read_rows
from evaluator.formats.reading.fields import Fields, refuse_others
from evaluator.formats.reading.mapping import renamed
from evaluator.formats.reading.problems import FormatError
from evaluator.formats.reading.registry import Claimed, Format, Role, Row, claims_of, format_named
from evaluator.formats.reading.sources import FileLike, Source, source_of
from evaluator.model import JsonValue, RecordError, Rollout, Task

_LOOKED_AT = 100
"""Rows at the start of a file among which one must be of a known format."""
_SHOWN_FIELDS = 12
_ID_FIELDS = ("task_id", "question_id", "id", "name")

_NONE = Format("", "")
_OTHER = {Role.TASKS: Role.ROLLOUTS, Role.ROLLOUTS: Role.TASKS}

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
        first: Row | None = None
        for row, unwrap, fields in _candidates(container):
            first = first or row
            if chosen is _NONE:
                found = _detected(role, fields, f"{source.name}:{row.line}")
            else:
                found = chosen if chosen.claim(role, fields) is not None else None
            if found is not None:
                both_roles = bool(claims_of(_OTHER[role], fields))
                layout = msgspec.structs.replace(layout, format=found, unwrap=unwrap, both_roles=both_roles)
                return layout if first is row else _after_header(layout, first, row)
    if chosen is _NONE and first is not None:
        raise _unknown(source.name, first)
    return layout


def readings_of(file: FileLike) -> tuple[list[Claimed], str]:
    """All formats that claim the first row that any format claims, likeliest first, and the container's description.

    Raises `FormatError` if there is none.
    """
    with open_container(file) as container:
        first: Row | None = None
        for row, _, fields in _candidates(container):
            first = first or row
            claims = [claimed for role in Role for claimed in claims_of(role, fields)]
            if claims:
                return sorted(claims, key=lambda each: -each.claim.strength), str(container)
        raise no_rows(container.path) if first is None else _unknown(container.path, first)


def _candidates(container: Container) -> Iterator[tuple[Row, Unwrap | None, Fields]]:
    """The first objects of a file, each followed by the first row that each way to unwrap it finds in it."""
    objects = (row for row in read_rows(container) if isinstance(row, Row))
    for row in itertools.islice(objects, _LOOKED_AT):
        yield row, None, row.fields
        for unwrap in (samples_by_id, tasks_by_id):
            inner = next(iter(unwrap(row.fields) or ()), None)
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
            known = named if format_.from_name is None else {**format_.from_name(layout.source.name), **named}
            refuse_others(known)
            yield known


def rollouts_of(layout: FileLayout, fields: Fields) -> Iterable[Rollout]:
    """The rollouts in one object of the file, in order. Raises `RecordError`; those before the wrong one count."""
    format_ = layout.format
    if layout.field_map is None and layout.unwrap is None and format_.from_name is None:  # the usual row, quickly
        refuse_others(fields)
        return format_.rollouts.read(fields)
    return itertools.chain.from_iterable(map(format_.rollouts.read, rows_of(layout, fields)))


def samples_of(layout: FileLayout, fields: Fields, known: set[str] | None = None) -> Iterator[tuple[Rollout, str]]:
    """The same with the prompt of each, as far as its row has it.

    `known`: tasks whose rollouts nobody wants; a row of one of them is not read further, where it has one rollout.
    """
    spec = layout.format.rollouts
    for row in rows_of(layout, fields):
        if known is not None and spec.is_one_each and spec.task_id_of(row) in known:
            continue
        prompt = spec.prompt_of(row)
        for rollout in spec.read(row):
            yield rollout, prompt


def tasks_of(layout: FileLayout, fields: Fields) -> Iterator[Task]:
    """The same for tasks."""
    return map(layout.format.tasks.read, rows_of(layout, fields))


def no_rows(path: str) -> FormatError:
    """For a file without a single usable row."""
    return FormatError(f"{path}: has no usable row: write one JSON object per line (`rollscope formats FILE --check`)")


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


def _detected(role: Role, fields: Fields, where: str) -> Format | None:
    """The format that claims this row most strongly. Raises `FormatError` if it is a row of the other role."""
    claims, other = claims_of(role, fields), _OTHER[role]
    others = claims_of(other, fields)
    if others and (not claims or (claims[0].claim.strength == 1 and others[0].claim.strength >= 3)):
        raise FormatError(
            f"{where}: holds {other} ({others[0].format.name}), not {role}: "
            f"pass a file of {role} here, or name its format with --format"
        )
    return claims[0].format if claims else None


def _unknown(path: str, row: Row) -> FormatError:
    names = ", ".join(list(row.fields)[:_SHOWN_FIELDS])
    return FormatError(
        f"{path}:{row.line}: no known format has these fields ({names}): map them with "
        "--map task_id=...,completion=... or name a format with --format"
    )


def samples_by_id(fields: Fields) -> Iterator[dict[str, JsonValue]] | None:
    """A row with the samples of each task of `{id: [text, ...]}`, in its order; None if it is something else.

    Every key must have a digit, as ids have: an object such as `{"results": [...]}` does not say what its texts are.
    """
    if not fields or not all(any(map(str.isdigit, key)) and _are_texts(value) for key, value in fields.items()):
        return None
    return ({"task_id": key, "completions": value} for key, value in fields.items() if value)


def _are_texts(value: JsonValue) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


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
    if wrong:
        raise RecordError(f"{wrong[0]!r} is not a task: give an object, as the first id has")


def _is_read(row: Fields, key: str) -> bool:
    """Whether the format that claims the row most strongly reads a task, of this id if the row has no other."""
    claims = claims_of(Role.TASKS, row)
    if not claims:
        return False
    try:
        return claims[0].format.tasks.read(row).task_id in (key, *(str(row.get(name)) for name in _ID_FIELDS))
    except RecordError:
        return False
