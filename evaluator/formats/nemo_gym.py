"""NeMo Gym: the rows of its datasets, and the rollouts that its collection writes (0.1 to 0.7).

`verifier_metadata` holds what grades a task: `unit_tests` as in its code_gen server, an answer, or the fields of a
native row. Materialised inputs are such rows, one per rollout. The fields may also be in `task_input`. A rollout may
lack the row's tests and its id, so a task's id is made from its prompt. Only without a prompt is it the row's own id,
or its `_ng_task_index`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from evaluator.formats.reading import chat
from evaluator.formats.reading import fields as field
from evaluator.formats.reading.code import mode_of_test
from evaluator.formats.reading.compression import unpacked_json
from evaluator.formats.reading.fields import Fields
from evaluator.formats.reading.registry import Format
from evaluator.formats.reading.responses import conversation_of, output_text, prompt_of
from evaluator.formats.reading.spec import Rollouts, Tasks, any_of, claims
from evaluator.model import JsonValue, Kind, Mode, RecordError, Rollout, Task, Verdict
from evaluator.recorded import case_verdicts
from evaluator.tasks.import_headers import LIVECODEBENCH
from evaluator.tasks.rows import task_fields

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
NATIVE_FIELDS = frozenset({
    "mode", "entry_point", "in_outs", "test", "answer", "preamble", "reference", "checker", "checker_code", "grader",
    "exit_code", "weights", "limits", "time_limit", "memory_limit", "source", "licence",
})  # fmt: skip
"""The fields of a native row other than its id and its prompt."""

_ANSWERS = ("answer", "expected_answer", "reference_answer")
_UNIT_TESTS = "verifier_metadata.unit_tests"
_EXAMPLE = '{"inputs": [...], "outputs": [...]}, with "fn_name" if the tests call a function'
_FILE = re.compile(r"\.py\s*:")


def _has_tests(fields: Fields) -> bool:
    """Whether the row has something to grade by, even if that turns out to be invalid."""
    metadata = fields.get("verifier_metadata")
    if isinstance(metadata, str):
        return "unit_tests" in metadata
    return isinstance(metadata, Mapping) and any(metadata.get(name) for name in ("unit_tests", "in_outs", "test"))


def read_task(fields: Fields) -> Task:
    """The task of one row of a dataset, of materialised inputs, or of a request to verify.

    Its `checker` is None unless the row names one. Raises `RecordError` with the field that is wrong, or if the row
    has nothing to grade by.
    """
    fields = _flat(fields)
    metadata = _metadata_of(fields)
    prompt = _prompt(fields)
    row = _native_row(fields, metadata)
    source = fields.get("source")
    row.setdefault("source", source if isinstance(source, str) and source else "NeMo Gym")
    try:
        task = Task(**task_fields(row | {"task_id": task_id_of(fields, prompt), "prompt": prompt}))
    except RecordError as error:
        raise RecordError(str(error).replace("in_outs", _UNIT_TESTS) if "unit_tests" in metadata else error) from None
    taken = {*_NOT_OF_TASK, _metadata_field(fields)}
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
    if reward is not None:
        rollout.recorded_verdict, rollout.recorded_word, rollout.recorded_by = _grade(fields) or (None, None, None)
    return rollout


def _grade(fields: Fields) -> tuple[Verdict, str, str] | None:
    """By the code that code_gen gave the first test case that did not pass, if it gave any."""
    codes = fields.get("result")
    verdicts = case_verdicts({"result": codes})
    if not verdicts or not isinstance(codes, list) or "extracted_model_code" not in fields:
        return None
    place = next((place for place, verdict in enumerate(verdicts) if verdict is not Verdict.PASSED), 0)
    return verdicts[place], str(codes[place]).lower(), "NeMo Gym"


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
        return chat.text_of(fields["query"], "query")
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


def _bounded(value: JsonValue, longest: int = _LONGEST) -> JsonValue:
    """The value, or a note of its size if it is too large: a server may add anything to a rollout.

    An object that is too large keeps its short fields, such as an error's message.
    """
    size = len(value) if isinstance(value, str) else len(json.dumps(value)) if isinstance(value, list | dict) else 0
    if size <= longest:
        return value
    if isinstance(value, dict) and longest == _LONGEST:
        short = {name: _bounded(inner, _SHORT) for name, inner in value.items()}
        if len(json.dumps(short)) <= longest:
            return short
    return f"left out: {size:,} characters"


def _metadata_field(fields: Fields) -> str:
    """The field that holds what grades the row: `metadata` in rows of questions (`query`)."""
    return "metadata" if fields.get("verifier_metadata") is None and "query" in fields else "verifier_metadata"


def _metadata_of(fields: Fields) -> Mapping[str, JsonValue]:
    """That field's object, from an object or its JSON text; empty if there is none."""
    return field.optional_object(fields, _metadata_field(fields), '{"unit_tests": {...}}') or {}


def _native_row(fields: Fields, metadata: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """The fields of a native row, without id and prompt. Raises `RecordError` if there is nothing to grade by."""
    row = {name: metadata[name] for name in NATIVE_FIELDS if metadata.get(name) is not None}
    if metadata.get("unit_tests") is not None:
        row["in_outs"] = _unit_tests(metadata)
        row.setdefault("preamble", LIVECODEBENCH)  # as NeMo Gym's code_gen server does
    _require_no_file(row.get("grader"))
    if "in_outs" not in row and "test" not in row:
        answers = (place.get(name) for place in (metadata, fields) for name in _ANSWERS)
        row["answer"] = next((answer for answer in answers if answer is not None), None)
        if row["answer"] is None:
            raise RecordError(
                f"{_UNIT_TESTS} is missing: add it to verifier_metadata as {_EXAMPLE}, "
                "or add an answer, or in_outs or test as in a native row"
            )
    if "in_outs" in row:
        named = row.get("entry_point") or field.inner(row, "in_outs").get("fn_name")
        row.setdefault("mode", Mode.CALL if named else Mode.STDIN)
    elif isinstance(row.get("test"), str):
        row.setdefault("mode", mode_of_test(row["test"]))
    return row


def _unit_tests(metadata: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    tests = field.unpacked(metadata, "unit_tests")
    if isinstance(tests, Mapping) and isinstance(tests.get("packed"), str):
        fix = "pack the JSON of inputs and outputs"
        packed = unpacked_json(tests["packed"], f"{_UNIT_TESTS}.packed", fix)
        if not isinstance(packed, Mapping):
            raise RecordError(f"{_UNIT_TESTS}.packed must unpack to an object, not {type(packed).__name__}: {fix}")
        tests = {**packed, "fn_name": tests.get("fn_name")}
    if not isinstance(tests, Mapping) or not {"inputs", "outputs"} <= tests.keys():
        raise RecordError(f"{_UNIT_TESTS} must have inputs and outputs, for example {_EXAMPLE}")
    if not isinstance(tests.get("fn_name"), str | None):
        raise RecordError(f"{_UNIT_TESTS}.fn_name must be text, not {type(tests['fn_name']).__name__}")
    return {"inputs": tests["inputs"], "outputs": tests["outputs"], "fn_name": tests.get("fn_name") or None}


def _require_no_file(grader: JsonValue) -> None:
    """A dataset from elsewhere must not choose which code is loaded."""
    if grader is not None and _FILE.search(json.dumps(grader)):
        raise RecordError("grader must not be a file in a row: name a grader, or pass the file with --grader")


FORMAT = Format(
    name="nemo_gym",
    title="NeMo Gym: responses_create_params, verifier_metadata; response, reward",
    tasks=Tasks(
        claim=any_of(
            claims("3: task_id:object, task_input"),
            claims(f"3: responses_create_params:object, (verifier_metadata), !response, !{_OF_FAILURE}"),
            claims(f"2: responses_create_params:object, verifier_metadata, (tests), !{_OF_FAILURE}", _has_tests),
        ),
        code=read_task,
    ),
    rollouts=Rollouts(
        claim=claims(
            f"3: {_OF_FAILURE}, (a rollout that failed); 3: responses_create_params, response:object; "
            f"2: {TASK_INDEX}, reward"
        ),
        code=lambda fields: (read_rollout(fields),),
        prompt=lambda fields: _prompt(_flat(fields)),
    ),
    repeats_tasks=True,
)
