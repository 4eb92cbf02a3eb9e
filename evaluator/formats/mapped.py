"""Any other JSON rows, whose fields a map names: `ours=theirs,...`, as
`task_id=uid,completion=response.text`.

Ours are the fields of the native format. Theirs may be a path through objects and lists
(`choices.0.text`); a field whose whole name has dots is found first. A row without `task_id` but with a
prompt gets an id made from it, so the samples of one prompt are one task. Fields that the map does not
name keep their names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from evaluator.formats import fields as field
from evaluator.formats import native
from evaluator.formats.problems import FormatError
from evaluator.formats.registry import Fields, Format
from evaluator.model import JsonValue, Rollout, Task

FieldMap = Mapping[str, str]
"""Our field's name to theirs."""

_ABSENT = object()


def parse_field_map(text: str) -> dict[str, str]:
    """The map in `ours=theirs,ours=theirs`. Raises `FormatError` for anything else."""
    field_map: dict[str, str] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        ours, equals, theirs = (word.strip() for word in part.partition("="))
        if not (ours and equals and theirs):
            raise FormatError(f"--map: {part!r} is no pair: write ours=theirs, for instance task_id=uid")
        if ours in field_map:
            raise FormatError(f"--map: {ours} is given twice")
        field_map[ours] = theirs
    if not field_map:
        raise FormatError("--map: is empty: write ours=theirs, for instance task_id=uid,completion=response")
    return field_map


def renamed(fields: Fields, field_map: FieldMap) -> dict[str, JsonValue]:
    """The row with our names. A field that the row lacks stays absent."""
    taken = set(field_map.values())
    row = {name: value for name, value in fields.items() if name not in taken}
    for ours, theirs in field_map.items():
        value = _at(fields, theirs)
        if value is not _ABSENT:
            row[ours] = value
    return row


def _at(fields: Fields, path: str) -> JsonValue:
    if path in fields:
        return fields[path]
    value: JsonValue = fields
    for step in path.split("."):
        if isinstance(value, Mapping) and step in value:
            value = value[step]
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            return _ABSENT
    return value


def _with_task_id(fields: Fields) -> Fields:
    prompt = fields.get("prompt")
    if fields.get("task_id") is not None or not prompt:
        return fields
    return {**fields, "task_id": field.id_from_prompt(field.conversation_text(prompt, "prompt", whole=True))}


def _read_task(fields: Fields) -> Task:
    row = dict(_with_task_id(fields))
    if isinstance(row.get("prompt"), list | dict):
        row["prompt"] = field.conversation_text(row["prompt"], "prompt", whole=True)
    return Task.from_row(row)


def _read_rollouts(fields: Fields) -> Iterator[Rollout]:
    yield native.read_rollout(_with_task_id(fields))


FORMAT = Format(
    name="mapped",
    title="any other JSON rows, with --map ours=theirs,...",
    read_task=_read_task,
    read_rollouts=_read_rollouts,
)
