"""Rows with several samples of one task: `task_id` or `prompt`, and a list `completions`, `samples`, `generations`,
`responses`, `predictions` or `output`.

A sample is a text, messages, or an object with its text (`completion`, `text`, `content`, `code`, `solution`,
`response`, `generation`) and other fields of a native rollout. For texts, lists of as many `rewards`, `scores`,
`passed` or `sample_ids` go with them. A row may have the task's tests too, and is then also a task.
"""

from __future__ import annotations

from collections.abc import Iterator

from evaluator.formats import fields as field
from evaluator.formats import native
from evaluator.formats._chat import is_conversation
from evaluator.formats.registry import Claim, Fields, Format
from evaluator.model import JsonValue, RecordError, Rollout

_LISTS = (*native.SAMPLE_LISTS, "output")
_TEXTS = ("completion", "text", "content", "code", "solution", "response", "generation")
_BESIDE = {"rewards": "reward", "scores": "reward", "passed": "expected_pass", "sample_ids": "sample_id"}
_OF_TASK = {
    "in_outs", "test", "entry_point", "mode", "canonical_solution", "reference", "test_list", "preamble", "checker",
    "grader", "exit_code", "weights", "limits",
}  # fmt: skip


def claim_rollout(fields: Fields) -> Claim | None:
    name = _list_field(fields)
    if name is None or "completion" in fields:
        return None
    owner = next((owner for owner in ("task_id", "prompt") if fields.get(owner) not in (None, "")), None)
    return Claim(2 if owner == "task_id" else 1, f"{owner}, {name}") if owner else None


def read_rollouts(fields: Fields) -> Iterator[Rollout]:
    """The samples of one row, in order."""
    name = _list_field(fields)
    if name is None:
        raise RecordError(f"completions is missing: add a list of samples, named {', '.join(_LISTS)}")
    samples = fields[name]
    beside = {ours: fields[theirs] for theirs, ours in _BESIDE.items() if _goes_with(fields.get(theirs), samples)}
    taken = {name, *_OF_TASK, *(theirs for theirs in _BESIDE if _goes_with(fields.get(theirs), samples))}
    base = field.without(fields, taken)
    if base.get("task_id") is None:
        base["task_id"] = field.id_from_prompt(field.conversation_text(base.get("prompt"), "prompt", whole=True))
    for place, sample in enumerate(samples):
        row = {**base, **{ours: values[place] for ours, values in beside.items()}, **_of_sample(sample, name, place)}
        if len(samples) > 1 and row.get("sample_id") is not None and row["sample_id"] == base.get("sample_id"):
            row["sample_id"] = f"{row['sample_id']}/{place}"
        yield native.read_rollout(row)


def _list_field(fields: Fields) -> str | None:
    """The field that holds the samples: a list whose first element is one. Beside inputs, `output` has test cases."""
    lists = native.SAMPLE_LISTS if fields.keys() & {"input", "inputs"} else _LISTS
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
    text = next((each for each in _TEXTS if sample.get(each) is not None), None)
    if text is None:
        raise RecordError(f"{name}[{place}] has no completion: add the text that the model wrote")
    return {**field.without(sample, {text}), "completion": sample[text]}


FORMAT = Format(
    name="many_samples",
    title="several samples per row: task_id or prompt, and completions, samples, generations or responses",
    claim_rollout=claim_rollout,
    read_rollouts=read_rollouts,
)
