"""Any other JSON rows, with a map of their field names: `ours=theirs,...`, such as
`task_id=uid,completion=response.text`.

Ours are the fields of the native format. Theirs may be a path through objects and lists (`choices.0.text`); a field
whose own name has dots comes first. A row with a prompt but without `task_id` gets an id made from its prompt, so the
samples of one prompt are one task. Fields that are not in the map keep their names.
"""

from __future__ import annotations

from collections.abc import Mapping

from evaluator.formats import fields as field
from evaluator.formats import native
from evaluator.formats.problems import FormatError
from evaluator.formats.registry import Fields, Format, one_per_row
from evaluator.model import JsonValue, Task

FieldMap = Mapping[str, str]
"""Our field's name to theirs."""

_ABSENT = object()


def parse_field_map(text: str) -> dict[str, str]:
    """The map in `ours=theirs,ours=theirs`. Raises `FormatError` for anything else."""
    field_map: dict[str, str] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        ours, equals, theirs = (word.strip() for word in part.partition("="))
        if not (ours and equals and theirs):
            raise FormatError(f"--map: {part!r} is not a pair: write ours=theirs, for example task_id=uid")
        if ours in field_map:
            raise FormatError(f"--map: {ours} is given twice")
        field_map[ours] = theirs
    if not field_map:
        raise FormatError("--map: is empty: write ours=theirs, for example task_id=uid,completion=response")
    return field_map


def renamed(fields: Fields, field_map: FieldMap) -> dict[str, JsonValue]:
    """The row with our names. A field that the row lacks stays absent."""
    row = field.without(fields, set(field_map.values()))
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


FORMAT = Format(
    name="mapped",
    title="any other JSON rows, with --map ours=theirs,...",
    read_task=_read_task,
    read_rollouts=one_per_row(lambda fields: native.read_rollout(_with_task_id(fields))),
)
