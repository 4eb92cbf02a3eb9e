"""NeMo Gym: the rows of its datasets, and the rollouts that its collection writes (0.1 to 0.7).

Tasks: `responses_create_params.input` is the prompt, and `verifier_metadata` holds what grades them: `unit_tests` as
in its code_gen server, an answer, or the fields of a native row. Materialised inputs are such rows, one per rollout.
The fields may also be in `task_input`.

Rollouts: such a row with a `response` of OpenAI's Responses API and a `reward`. It may lack the row's tests and its
id, so a task's id is made from its prompt. Only without a prompt is it the row's own id, or its `_ng_task_index`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from evaluator.formats import fields as field
from evaluator.formats._nemo_gym_tests import (
    NATIVE_FIELDS,
    conversation_of,
    has_tests,
    metadata_field,
    metadata_of,
    native_row,
    output_text,
    prompt_of,
)
from evaluator.formats._recorded import Recorded, record
from evaluator.formats.registry import Claim, Fields, Format, one_per_row
from evaluator.model import JsonValue, Kind, RecordError, Rollout, Task, Verdict
from evaluator.recorded import case_verdicts

__all__ = ["FORMAT", "output_text", "prompt_of", "read_rollout", "read_task"]

ROLLOUT_INDEX = "_ng_rollout_index"
TASK_INDEX = "_ng_task_index"

_OF_ONE_ROLLOUT = {ROLLOUT_INDEX, "response", "reward", "_ng_rollout_id", "_ng_attempt_index"}
_NOT_OF_TASK = {
    "responses_create_params", "verifier_metadata", "task_input", "query", "answer", "expected_answer",
    "reference_answer", "source", *_OF_ONE_ROLLOUT,
}  # fmt: skip
_TESTS = {"unit_tests", "answer", "expected_answer", "reference_answer"}
_NOT_OF_ROLLOUT = {
    "responses_create_params", "verifier_metadata", "task_input", "response", "reward", "kind",
    "extracted_model_output", "extracted_model_code", "ng_trajectory", "ng_model_call_capture",
}  # fmt: skip
_OF_FAILURE = "_ng_failure_class"
_FULL_REWARD = 1.0
_LONGEST = 20_000
"""Characters of JSON that one field of a rollout's metadata may have."""
_SHORT = 1_000
"""Characters that each part of a longer field may have."""


def claim_task(fields: Fields) -> Claim | None:
    if isinstance(fields.get("task_id"), Mapping) and "task_input" in fields:
        return Claim(3, "task_id, task_input")
    if not isinstance(fields.get("responses_create_params"), Mapping) or _OF_FAILURE in fields:
        return None
    if "response" not in fields:
        return Claim(3, "responses_create_params, verifier_metadata")
    return Claim(2, "responses_create_params, verifier_metadata with tests") if has_tests(fields) else None


def claim_rollout(fields: Fields) -> Claim | None:
    if _OF_FAILURE in fields:
        return Claim(3, "_ng_failure_class: a rollout that failed")
    if "responses_create_params" in fields and isinstance(fields.get("response"), Mapping):
        return Claim(3, "responses_create_params, response, reward")
    return Claim(2, "_ng_task_index, reward") if TASK_INDEX in fields and "reward" in fields else None


def read_task(fields: Fields) -> Task:
    """The task of one row of a dataset, of materialised inputs, or of a request to verify.

    Its `checker` is None unless the row names one. Raises `RecordError` with the field that is wrong, or if the row
    has nothing to grade by.
    """
    fields = _flat(fields)
    metadata = metadata_of(fields)
    prompt = _prompt(fields)
    row = native_row(fields, metadata)
    source = fields.get("source")
    row.setdefault("source", source if isinstance(source, str) and source else "NeMo Gym")
    task = Task.from_row(row | {"task_id": task_id_of(fields, prompt), "prompt": prompt})
    taken = {*_NOT_OF_TASK, metadata_field(fields)}
    task.metadata = {**field.without(metadata, NATIVE_FIELDS | _TESTS), **field.without(fields, taken)}
    return task


def read_rollout(fields: Fields) -> Rollout:
    """The rollout of one row, of either shape. Raises `RecordError` if it has no response."""
    if _OF_FAILURE in fields:
        why = f"{fields[_OF_FAILURE]}: {field.text(fields, '_ng_failure_message') or 'no message'}"
        raise RecordError(f"the rollout failed ({why}) and has no completion: collect it again")
    fields = _flat(fields)
    response = fields.get("response")
    if not isinstance(response, Mapping):
        raise RecordError("response is missing: add the model's response, in the format of OpenAI's Responses API")
    if fields.get("responses_create_params") is None:
        raise RecordError("responses_create_params is missing: the prompt is needed to find the task")
    rewarded = isinstance(fields.get("reward"), int | float) and fields.get("mask_sample") is not True
    reward = field.optional_number(fields, "reward") if rewarded else None
    rollout = Rollout(
        task_id=task_id_of(fields, _prompt(fields)),
        completion=output_text(response),
        sample_index=None if index_of(fields, ROLLOUT_INDEX) is None else field.optional_whole(fields, ROLLOUT_INDEX),
        kind=_kind(fields.get("kind")),
        model=response.get("model") if isinstance(response.get("model"), str) else None,
        expected_pass=reward >= _FULL_REWARD if reward is not None and _is_of_tests(fields) else None,
        given_reward=reward,
        metadata=_metadata(fields, response),
    )
    return rollout if reward is None else record(rollout, _grade(fields))


def _grade(fields: Fields) -> Recorded | None:
    """By the code that code_gen gave the first test case that did not pass, if it gave any."""
    codes = fields.get("result")
    verdicts = case_verdicts({"result": codes})
    if not verdicts or not isinstance(codes, list) or "extracted_model_code" not in fields:
        return None
    place = next((place for place, verdict in enumerate(verdicts) if verdict is not Verdict.PASSED), 0)
    return Recorded(verdicts[place], str(codes[place]).lower(), "NeMo Gym")


def task_id_of(fields: Fields, prompt: str) -> str:
    """A task's id: made from the prompt, which all files of a collection have; if that is empty, the row's own."""
    if prompt.strip():
        return field.id_from_prompt(prompt)
    if isinstance(fields.get("task_id"), str | int):
        return field.identifier(fields, "task_id")
    index = index_of(fields, TASK_INDEX)
    if index is not None:
        return f"task-{index}"
    raise RecordError("responses_create_params.input has no text: add the prompt")


def _flat(fields: Fields) -> Fields:
    """The row with the fields that a typed environment keeps in `task_input` (and in `task_data` there)."""
    inner = fields.get("task_input")
    if not isinstance(inner, Mapping):
        return fields
    own = field.without(fields, ("task_input", "task_id"))
    outer = fields.get("task_id")
    name = outer.get("task_id") if isinstance(outer, Mapping) else outer
    id_field = {} if name is None else {"task_id": name}
    return id_field | own | dict(field.inner(inner, "task_data")) | dict(inner)


def _prompt(fields: Fields) -> str:
    if "responses_create_params" not in fields and fields.get("query"):
        return field.conversation_text(fields["query"], "query", whole=True)
    return prompt_of(fields.get("responses_create_params"))


def _is_of_tests(fields: Fields) -> bool:
    """Whether the reward came from test cases, in NeMo Gym's code_gen server or in ours."""
    theirs, ours = {"result", "extracted_model_code"}, {"verdict", "pass_rate"}
    return theirs <= fields.keys() or ours <= fields.keys()


def index_of(fields: Fields, name: str) -> int | None:
    """A field that is a whole number; None for anything else."""
    value = fields.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _kind(value: JsonValue) -> Kind | None:
    """As `rollscope convert` writes it; other servers may use this name for something else."""
    return Kind(value) if isinstance(value, str) and value in set(Kind) else None


def _metadata(fields: Fields, response: Fields) -> dict[str, JsonValue]:
    kept = field.without(fields, _NOT_OF_ROLLOUT)
    kept |= {name: response.get(name) for name in ("usage", "incomplete_details", "error")}
    metadata = {name: _bounded(value) for name, value in kept.items() if value is not None}
    conversation = conversation_of(response)
    return {**metadata, "conversation": conversation} if conversation else metadata


def _bounded(value: JsonValue) -> JsonValue:
    """The value, or a note of its size if it is too large: a server may add anything to a rollout.

    An object that is too large keeps its short fields, such as an error's message.
    """
    size = _size(value)
    if size <= _LONGEST:
        return value
    if isinstance(value, dict):
        sizes = {name: _size(inner) for name, inner in value.items()}
        short = {name: inner if sizes[name] <= _SHORT else _left_out(sizes[name]) for name, inner in value.items()}
        if _size(short) <= _LONGEST:
            return short
    return _left_out(size)


def _size(value: JsonValue) -> int:
    """The approximate number of characters of its JSON."""
    if isinstance(value, str):
        return len(value)
    return len(json.dumps(value)) if isinstance(value, list | dict) else 0


def _left_out(size: int) -> str:
    return f"left out: {size:,} characters"


FORMAT = Format(
    name="nemo_gym",
    title="NeMo Gym: responses_create_params, verifier_metadata; response, reward",
    claim_task=claim_task,
    read_task=read_task,
    claim_rollout=claim_rollout,
    read_rollouts=one_per_row(read_rollout),
    repeats_tasks=True,
    read_prompt=lambda fields: _prompt(_flat(fields)),
)
