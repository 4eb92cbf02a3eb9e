"""Rollscope's own rows, any other JSON rows by a map of their field names, and rows with several samples of one task.

docs/reference/formats.md says what they may have. In tables (Parquet, CSV) metadata is in one column `metadata_json`,
as JSON text; a task's `in_outs`, `limits` and `answer` are JSON text then.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import TypeVar

from evaluator.formats.reading import chat
from evaluator.formats.reading import fields as field
from evaluator.formats.reading.code import mode_of_test
from evaluator.formats.reading.fields import METADATA_JSON, ROLLOUT_FIELDS, Fields
from evaluator.formats.reading.problems import read_each
from evaluator.formats.reading.registry import Format
from evaluator.formats.reading.spec import Claim, Rollouts, Tasks, claims
from evaluator.formats.tests_alone import MAY_BE_ANSWER, column_with_tests, in_outs_from, task_from
from evaluator.model import JsonValue, Kind, Mode, RecordError, Rollout, Task, Verdict, brief
from evaluator.tasks.rows import TASK_FIELDS, task_fields

_OTHERS = '{"seed": 7}'
_TAKEN = {name: ROLLOUT_FIELDS | {METADATA_JSON, name} for name in ("completion", "code")}
_REWARDS = ("given_reward", "recorded_reward", "reward")
_SAMPLE_LISTS = ("completions", "samples", "generations", "responses", "predictions")
"""Fields that may hold all samples of a row's task."""
_BESIDE_NO_TASK = {"response", "llm_response", "output", "results"}
"""Fields of rollouts that may have their task's tests too."""
_MODES = [mode.value for mode in Mode]
_Word = TypeVar("_Word", bound=StrEnum)

_claim_task_alone = claims(
    "3: task_id, mode; 2: task_id, in_outs; 1: task_id, test+answer+entry_point; "
    "1: task_id, prompt, (without test cases)"
)
_claim_task_of_samples = claims("2: task_id, in_outs+test+mode")
_claim_rollout = claims(
    "3: task_id, completion, sample_id+sample_index+kind+model+group+expected_pass+step+verdict; "
    "1: task_id, completion; 3: task_id, sample_id, verdict, code, (of exported grades)"
)


def _claim_task(fields: Fields) -> Claim | None:
    if fields.keys() & {"completion", "generation", *_SAMPLE_LISTS}:
        return _claim_task_of_samples(fields) or _claim_tests_beside(fields)
    claim = _claim_task_alone(fields)
    if (column := _trainers_column(fields)) and fields.get("prompt") and not fields.keys() & _BESIDE_NO_TASK:
        claim = claim if claim and claim.strength > 1 else Claim(1, f"prompt, {column}")
    return claim._replace(strength=4) if claim and fields.get("mode") in _MODES else claim


def _claim_tests_beside(fields: Fields) -> Claim | None:
    """Of samples whose row has the tests of their task too, as a trainer's dataset has them."""
    owner = next((name for name in ("task_id", "prompt") if fields.get(name) not in (None, "")), None)
    column = _trainers_column(fields)
    if owner is None or column in (None, MAY_BE_ANSWER) or fields.keys() & _BESIDE_NO_TASK:
        return None
    return Claim(1, f"{owner}, {column}")


def _claim_native_rollout(fields: Fields) -> Claim | None:
    claim = _claim_rollout(fields)
    return claim or (_claim_tests_beside(fields) if isinstance(fields.get("completion"), str) else None)


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
        kind=Kind.FULL if exported else _word(fields, "kind", Kind),
        model=field.optional_identifier(fields, "model"),
        group=field.optional_identifier(fields, "group"),
        step=field.optional_whole(fields, "step"),
        expected_pass=field.optional_truth(fields, "expected_pass"),
        given_reward=field.optional_number(fields, reward),
        recorded_verdict=_word(fields, "recorded_verdict", Verdict),
        recorded_word=field.text(fields, "recorded_word") or None,
        recorded_by=field.text(fields, "recorded_by") or None,
        metadata={**field.without(fields, _TAKEN[name]), **(_others(fields) or {}), **said},
    )


def read_task(fields: Fields) -> Task:
    """One task from a native row, or from a row of a table."""
    others = _others(fields)
    if others is None:
        return _task(fields)
    empty = {name for name, value in fields.items() if value is None and name in TASK_FIELDS}
    row = field.without(fields, empty | {METADATA_JSON})
    if isinstance(fields[METADATA_JSON], str):
        row |= {name: field.unpacked(row, name) for name in ("answer", "limits") if name in row}
    task = _task(row)
    task.metadata |= others
    return task


def _trainers_column(fields: Fields) -> str | None:
    """The column of tests that a trainer's reward function reads, of a row without tests of our own kind."""
    if fields.get("test") or fields.get("mode") == Mode.ANSWER.value:
        return None
    name = column_with_tests(fields)
    return None if name == "in_outs" and isinstance(fields[name], str | dict) else name


def _task(fields: Fields) -> Task:
    """The task of a row, as a trainer may have it: with a prompt of messages, without an id, its tests in the column
    that its reward function reads."""
    row = _with_task_id(fields)
    if isinstance(row.get("prompt"), list | dict):
        row["prompt"] = chat.text_of(row["prompt"], "prompt")
    name = _trainers_column(row)
    if name is None:
        return Task(**task_fields(row))
    about = Task(**task_fields(field.without(row, {name, "in_outs", "mode"})))
    try:
        task = task_from(row[name], about.task_id)
    except RecordError as error:
        if name == MAY_BE_ANSWER or row.keys() & {"answer", "grader"}:
            return Task(**task_fields(row))
        raise RecordError(f"{name}: {error}") from None
    for given in TASK_FIELDS - {"mode", "entry_point", "in_outs", "test"}:
        if row.get(given) is not None:
            setattr(task, given, getattr(about, given))
    task.source, task.metadata = about.source, about.metadata
    return task


def _others(fields: Fields) -> Fields | None:
    return field.optional_object(fields, METADATA_JSON, _OTHERS) if METADATA_JSON in fields else None


def _word(fields: Fields, name: str, words: type[_Word]) -> _Word | None:
    """One of our words; None if the row does not say. Raises `RecordError`."""
    value = fields.get(name)
    if value in (None, ""):
        return None
    try:
        return words(value)
    except ValueError:
        raise RecordError(f"{name} must be one of {', '.join(words)} or left out, not {brief(value)}") from None


def _prompt_text(fields: Fields) -> str:
    prompt = fields.get("prompt")
    return prompt if isinstance(prompt, str) else ""


FORMAT = Format(
    name="native",
    title="Rollscope: tasks with in_outs, test or answer, rollouts with completion",
    tasks=Tasks(claim=_claim_task, code=read_task),
    rollouts=Rollouts(
        claim=_claim_native_rollout,
        code=lambda fields: (read_rollout(_with_task_id(fields)),),
        prompt=_prompt_text,
    ),
)


def _with_task_id(fields: Fields) -> dict[str, JsonValue]:
    prompt = fields.get("prompt")
    if fields.get("task_id") is not None or not prompt:
        return dict(fields)
    return {**fields, "task_id": field.id_from_prompt(chat.text_of(prompt, "prompt"))}


def _read_mapped_task(fields: Fields) -> Task:
    row = dict(fields)
    if isinstance(in_outs := field.unpacked(row, "in_outs"), list):
        row["in_outs"] = in_outs_from(in_outs)
    if isinstance(row.get("test"), list):
        row["test"] = "\n".join(field.strings(row, "test"))
    if row.get("mode") is None and isinstance(row.get("test"), str) and mode_of_test(row["test"]) is Mode.UNITTEST:
        row["mode"] = Mode.UNITTEST.value
    return _task(row)


MAPPED = Format(
    name="mapped",
    title="any other JSON rows, with --map ours=theirs,...",
    tasks=Tasks(code=_read_mapped_task),
    rollouts=Rollouts(code=lambda fields: (read_rollout(_with_task_id(fields)),), prompt=_prompt_text),
)


_LISTS = (*_SAMPLE_LISTS, "output")
_TEXTS = ("completion", "text", "content", "code", "solution", "response", "generation")
_BESIDE_TEXTS = {"rewards": "reward", "scores": "reward", "passed": "expected_pass", "sample_ids": "sample_id"}
_OF_TASK = (TASK_FIELDS | {"canonical_solution", "test_list"}) - {
    "task_id", "prompt", "suffix", "answer", "source", "licence",
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
        found = field.first(fields, _LISTS)
        if found is None:
            raise RecordError(f"completions is missing: add a list of samples, named {', '.join(_LISTS)}")
        if not isinstance(fields[found], list):
            raise RecordError(f"{found} must be a list of samples, not {brief(fields[found])}")
        if not fields[found]:
            raise RecordError(f"{found} is empty: the row has no sample")
        raise RecordError(f"{found}[0] must be a text, messages or an object with a text: {brief(fields[found][0])}")
    samples = fields[name]
    beside = {theirs: ours for theirs, ours in _BESIDE_TEXTS.items() if _goes_with(fields.get(theirs), samples)}
    base = _with_task_id(field.without(fields, {name, *_OF_TASK, *beside}))

    def read(numbered: tuple[int, JsonValue]) -> tuple[Rollout]:
        place, sample = numbered
        row = {**base, **{ours: fields[theirs][place] for theirs, ours in beside.items()}}
        row |= _of_sample(sample)
        if len(samples) > 1 and row.get("sample_id") is not None and row["sample_id"] == base.get("sample_id"):
            row["sample_id"] = f"{row['sample_id']}/{place}"
        return (read_rollout(row),)

    yield from read_each(enumerate(samples), read, lambda place, _: f"{name}[{place}]")


def _list_field(fields: Fields) -> str | None:
    """The field that holds the samples: a list whose first element (but null) is one. Beside inputs, `output` has
    test cases."""
    lists = _SAMPLE_LISTS if fields.keys() & {"input", "inputs"} else _LISTS
    return next((name for name in lists if _holds_samples(fields.get(name))), None)


def _holds_samples(value: JsonValue) -> bool:
    first = next((item for item in value if item is not None), None) if isinstance(value, list) else None
    if isinstance(first, dict):
        return any(name in first for name in _TEXTS) and "role" not in first
    return isinstance(first, str) or (bool(first) and chat.is_conversation(first))


def _goes_with(value: JsonValue, samples: list[JsonValue]) -> bool:
    return isinstance(value, list) and len(value) == len(samples) and not isinstance(samples[0], dict)


def _of_sample(sample: JsonValue) -> dict[str, JsonValue]:
    if not isinstance(sample, dict):
        return {"completion": sample}
    text = field.first(sample, _TEXTS)
    if text is None:
        raise RecordError("the sample has no completion: add the text that the model wrote")
    return {**field.without(sample, {text}), "completion": sample[text]}


MANY_SAMPLES = Format(
    name="many_samples",
    title="several samples per row: task_id or prompt, and completions, samples, generations or responses",
    rollouts=Rollouts(claim=_claim_samples, code=_read_samples, prompt=_prompt_text),
)
