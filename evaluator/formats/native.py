"""Rollscope's own rows: tasks with `in_outs`, `test` or `answer`, rollouts with `completion`.

A task row needs `task_id`. It may have `prompt`, `mode`, `entry_point`, `in_outs`, `test`, `answer`, `preamble`,
`reference`, `checker`, `grader`, `exit_code`, `weights`, `limits`, `source`, `licence`. A rollout row needs `task_id`
and `completion` (text, or messages whose last one counts). It may have `sample_id`, `sample_index`, `kind`, `model`,
`group`, `step`, `expected_pass`, `reward` or `given_reward`, `recorded_verdict`, `recorded_word` and `recorded_by`.
Other fields become metadata. In tables (Parquet, CSV) these are in one column `metadata_json`, as JSON text; a task's
`in_outs`, `limits` and `answer` are JSON text then.
"""

from __future__ import annotations

from evaluator.formats import fields as field
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
    reward = next((name for name in _REWARDS if fields.get(name) is not None), "reward")
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
