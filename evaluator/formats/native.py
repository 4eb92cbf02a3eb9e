"""Rollscope's own rows, any other JSON rows by a map of their field names, and rows with several samples of one task.

A task row needs `task_id`. It may have `prompt`, `mode`, `entry_point`, `in_outs`, `test`, `answer`, `preamble`,
`reference`, `checker`, `grader`, `exit_code`, `weights`, `limits`, `source`, `licence`. A rollout row needs `task_id`
and `completion` (text, or messages whose last one counts). It may have `sample_id`, `sample_index`, `kind`, `model`,
`group`, `step`, `expected_pass`, `reward` or `given_reward`, `recorded_verdict`, `recorded_word` and `recorded_by`.
Other fields become metadata. In tables (Parquet, CSV) these are in one column `metadata_json`, as JSON text; a task's
`in_outs`, `limits` and `answer` are JSON text then.

A map is `ours=theirs,...`, such as `task_id=uid,completion=response.text`. Ours are the fields of the native format.
Theirs may be a path through objects and lists (`choices.0.text`, `choices[0].text`), `$` for the whole row, and
`samples[*].text` for a row that is to become several: one per element. A field whose own name has dots comes first. A
row with a prompt but without `task_id` gets an id made from its prompt, so the samples of one prompt are one task.
Fields that are not in the map keep their names.

Several samples are in a list `completions`, `samples`, `generations`, `responses`, `predictions` or `output` beside
`task_id` or `prompt`. A sample is a text, messages, or an object with its text (`completion`, `text`, `content`,
`code`, `solution`, `response`, `generation`) and other fields of a native rollout. For texts, lists of as many
`rewards`, `scores`, `passed` or `sample_ids` go with them. A row may have the task's tests too, and is then also a
task.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from evaluator.formats import fields as field
from evaluator.formats._chat import is_conversation
from evaluator.formats.problems import FormatError
from evaluator.formats.registry import Claim, Fields, Format, one_per_row
from evaluator.model import JsonValue, Kind, Mode, RecordError, Rollout, Task, Verdict, brief
from evaluator.task_rows import TASK_FIELDS

METADATA_JSON = "metadata_json"
"""Metadata of any shape and name, as an object or its JSON text; beside it, null means that there is no value."""
ROLLOUT_FIELDS = {
    "task_id", "completion", "sample_id", "sample_index", "kind", "model", "group", "step", "expected_pass",
    "given_reward", "recorded_reward", "reward", "recorded_verdict", "recorded_word", "recorded_by",
}  # fmt: skip
_OTHERS = '{"seed": 7}'
_TAKEN = {name: ROLLOUT_FIELDS | {METADATA_JSON, name} for name in ("completion", "code")}
_REWARDS = ("given_reward", "recorded_reward", "reward")
SAMPLE_LISTS = ("completions", "samples", "generations", "responses", "predictions")
"""Fields that may hold all samples of a row's task."""
_MODES = [mode.value for mode in Mode]
_TASK_MARKS = ("mode", "in_outs", "test", "answer", "entry_point")
_ROLLOUT_MARKS = ("sample_id", "sample_index", "kind", "model", "group", "expected_pass", "step", "verdict")


def claim_task(fields: Fields) -> Claim | None:
    if "task_id" not in fields:
        return None
    if fields.keys() & {"completion", *SAMPLE_LISTS}:
        marks = [mark for mark in ("in_outs", "test", "mode") if mark in fields]
        return Claim(2, ", ".join(["task_id", *marks])) if marks else None
    if "mode" in fields:
        return Claim(4 if fields["mode"] in _MODES else 3, "task_id, mode")
    if "in_outs" in fields:
        return Claim(2, "task_id, in_outs")
    marks = [mark for mark in _TASK_MARKS if mark in fields]
    if marks:
        return Claim(1, ", ".join(["task_id", *marks]))
    return Claim(1, "task_id, prompt; no test cases") if "prompt" in fields else None


def claim_rollout(fields: Fields) -> Claim | None:
    marks = [mark for mark in _ROLLOUT_MARKS if mark in fields]
    if "task_id" in fields and "completion" in fields:
        return Claim(3 if marks else 1, ", ".join(["task_id", "completion", *marks]))
    if {"task_id", "sample_id", "verdict", "code"} <= fields.keys():
        return Claim(3, "task_id, sample_id, verdict, code: exported grades, whose code is read")
    return None


def read_rollout(fields: Fields) -> Rollout:
    """One rollout from a native row; exported grades have `code` in place of `completion`."""
    exported = "completion" not in fields and isinstance(fields.get("code"), str)
    name = "code" if exported else "completion"
    if fields.get(name) is None:
        raise RecordError(f"{name} is missing: add the text that the model wrote")
    text, said = field.completion(fields, name)
    reward = field.first(fields, _REWARDS) or "reward"
    return Rollout(
        task_id=field.identifier(fields, "task_id"),
        completion=text,
        sample_id=field.optional_identifier(fields, "sample_id") or "",
        sample_index=field.optional_whole(fields, "sample_index"),
        kind=Kind.FULL if exported else kind_of(fields.get("kind")),
        model=field.optional_identifier(fields, "model"),
        group=field.optional_identifier(fields, "group"),
        step=field.optional_whole(fields, "step"),
        expected_pass=field.optional_truth(fields, "expected_pass"),
        given_reward=field.optional_number(fields, reward),
        recorded_verdict=_recorded_verdict(fields.get("recorded_verdict")),
        recorded_word=field.text(fields, "recorded_word") or None,
        recorded_by=field.text(fields, "recorded_by") or None,
        metadata={**_metadata(fields, name), **said},
    )


def read_task(fields: Fields) -> Task:
    """One task from a native row, or from a row of a table."""
    others = field.optional_object(fields, METADATA_JSON, _OTHERS)
    if others is None:
        return Task.from_row(fields)
    empty = {name for name, value in fields.items() if value is None and name in TASK_FIELDS}
    row = field.without(fields, empty | {METADATA_JSON})
    if isinstance(fields[METADATA_JSON], str):
        row |= {name: field.unpacked(row, name) for name in ("answer", "limits") if name in row}
    task = Task.from_row(row)
    task.metadata |= others
    return task


def _metadata(fields: Fields, completion: str) -> dict[str, JsonValue]:
    metadata = field.without(fields, _TAKEN[completion])
    others = field.optional_object(fields, METADATA_JSON, _OTHERS)
    return metadata if others is None else metadata | dict(others)


def _recorded_verdict(value: JsonValue) -> Verdict | None:
    if value in (None, ""):
        return None
    try:
        return Verdict(value)
    except ValueError:
        raise RecordError(f"recorded_verdict must be one of {', '.join(Verdict)} or null, not {brief(value)}") from None


def kind_of(value: JsonValue) -> Kind | None:
    """A completion's kind; None if the row does not say. Raises `RecordError`."""
    if value in (None, ""):
        return None
    try:
        return Kind(value)
    except ValueError:
        raise RecordError(f"kind must be one of {', '.join(Kind)} or left out, not {brief(value)}") from None


FORMAT = Format(
    name="native",
    title="Rollscope: tasks with in_outs, test or answer, rollouts with completion",
    claim_task=claim_task,
    read_task=read_task,
    claim_rollout=claim_rollout,
    read_rollouts=one_per_row(read_rollout),
)


FieldMap = Mapping[str, str]
"""Our field's name to theirs."""

_ABSENT = object()
_EVERY = "*"
_WHOLE_ROW = "$"
_STEP = re.compile(r"\[(\d+|\*)\]")


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


def renamed(fields: Fields, field_map: FieldMap) -> Iterator[dict[str, JsonValue]]:
    """The row with our names; several rows where a path has `[*]`, one per element. An absent field stays absent.

    Paths with `[*]` advance together. A row's own `sample_id` is numbered then. Raises `RecordError` if they have
    different numbers of elements.
    """
    spread = {ours: path for ours, path in field_map.items() if _is_spread(fields, path)}
    kept = field.without(fields, {*field_map.values(), *(_steps(path)[0] for path in spread.values())})
    for ours, path in field_map.items():
        if ours not in spread and (value := _at(fields, path)) is not _ABSENT:
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
        row = kept | {ours: values[place] for ours, values in columns.items() if values[place] is not _ABSENT}
        if count > 1 and "sample_id" not in columns and row.get("sample_id") is not None:
            row["sample_id"] = f"{row['sample_id']}/{place}"
        yield row


@lru_cache(maxsize=256)
def _steps(path: str) -> tuple[str, ...]:
    """`a[0].b` and `a.0.b` are a, 0, b."""
    return tuple(step for step in _STEP.sub(r".\1", path).split(".") if step)


def _is_spread(fields: Fields, path: str) -> bool:
    return _EVERY in path and path not in fields and _EVERY in _steps(path)[1:]


def _at(fields: Fields, path: str) -> JsonValue:
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
            return _ABSENT
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


def _with_task_id(fields: Fields) -> Fields:
    prompt = fields.get("prompt")
    if fields.get("task_id") is not None or not prompt:
        return fields
    return {**fields, "task_id": field.id_from_prompt(field.conversation_text(prompt, "prompt", whole=True))}


def _read_mapped_task(fields: Fields) -> Task:
    row = dict(_with_task_id(fields))
    if isinstance(row.get("prompt"), list | dict):
        row["prompt"] = field.conversation_text(row["prompt"], "prompt", whole=True)
    return Task.from_row(row)


MAPPED = Format(
    name="mapped",
    title="any other JSON rows, with --map ours=theirs,...",
    read_task=_read_mapped_task,
    read_rollouts=one_per_row(lambda fields: read_rollout(_with_task_id(fields))),
)


_LISTS = (*SAMPLE_LISTS, "output")
_TEXTS = ("completion", "text", "content", "code", "solution", "response", "generation")
_BESIDE_TEXTS = {"rewards": "reward", "scores": "reward", "passed": "expected_pass", "sample_ids": "sample_id"}
_OF_TASK = {
    "in_outs", "test", "entry_point", "mode", "canonical_solution", "reference", "test_list", "preamble", "checker",
    "grader", "exit_code", "weights", "limits",
}  # fmt: skip


def _claim_samples(fields: Fields) -> Claim | None:
    name = _list_field(fields)
    if name is None or "completion" in fields:
        return None
    owner = next((owner for owner in ("task_id", "prompt") if fields.get(owner) not in (None, "")), None)
    return Claim(2 if owner == "task_id" else 1, f"{owner}, {name}") if owner else None


def _read_samples(fields: Fields) -> Iterator[Rollout]:
    """The samples of one row, in order."""
    name = _list_field(fields)
    if name is None:
        raise RecordError(f"completions is missing: add a list of samples, named {', '.join(_LISTS)}")
    samples = fields[name]
    beside = {ours: fields[theirs] for theirs, ours in _BESIDE_TEXTS.items() if _goes_with(fields.get(theirs), samples)}
    taken = {name, *_OF_TASK, *(theirs for theirs in _BESIDE_TEXTS if _goes_with(fields.get(theirs), samples))}
    base = field.without(fields, taken)
    if base.get("task_id") is None:
        base["task_id"] = field.id_from_prompt(field.conversation_text(base.get("prompt"), "prompt", whole=True))
    for place, sample in enumerate(samples):
        row = {**base, **{ours: values[place] for ours, values in beside.items()}, **_of_sample(sample, name, place)}
        if len(samples) > 1 and row.get("sample_id") is not None and row["sample_id"] == base.get("sample_id"):
            row["sample_id"] = f"{row['sample_id']}/{place}"
        yield read_rollout(row)


def _list_field(fields: Fields) -> str | None:
    """The field that holds the samples: a list whose first element is one. Beside inputs, `output` has test cases."""
    lists = SAMPLE_LISTS if fields.keys() & {"input", "inputs"} else _LISTS
    return next((name for name in lists if _holds_samples(fields.get(name))), None)


def _holds_samples(value: JsonValue) -> bool:
    if not isinstance(value, list) or not value:
        return False
    first = value[0]
    if isinstance(first, dict):
        return any(name in first for name in _TEXTS) and "role" not in first
    return isinstance(first, str) or (bool(first) and is_conversation(first))


def _goes_with(value: JsonValue, samples: list[JsonValue]) -> bool:
    return isinstance(value, list) and len(value) == len(samples) and not isinstance(samples[0], dict)


def _of_sample(sample: JsonValue, name: str, place: int) -> dict[str, JsonValue]:
    if not isinstance(sample, dict):
        return {"completion": sample}
    text = field.first(sample, _TEXTS)
    if text is None:
        raise RecordError(f"{name}[{place}] has no completion: add the text that the model wrote")
    return {**field.without(sample, {text}), "completion": sample[text]}


MANY_SAMPLES = Format(
    name="many_samples",
    title="several samples per row: task_id or prompt, and completions, samples, generations or responses",
    claim_rollout=_claim_samples,
    read_rollouts=_read_samples,
)
