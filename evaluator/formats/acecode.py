"""AceCode: `id`, `question`, `test_cases` (asserts, one a text), and `inferences`: samples with their `pass_rate`.

The asserts are the task's test; they call the function by its name. The reference is the first sample that passed all
of them. The same rows are also rollouts: every sample, with its `pass_rate` as the reward.
"""

from __future__ import annotations

import builtins
from collections import Counter
from collections.abc import Iterator, Mapping

from evaluator import syntax
from evaluator.formats import fields as field
from evaluator.formats.registry import Claim, Fields, Format
from evaluator.given_tests import entry_point_of, names_called
from evaluator.model import JsonValue, Mode, RecordError, Rollout, Task

_TAKEN = {"id", "task_id", "question", "test_cases", "inferences", "context_messages", "source"}


def claim_task(fields: Fields) -> Claim | None:
    cases = fields.get("test_cases")
    if not {"id", "question"} <= fields.keys() or not isinstance(cases, list) or not cases:
        return None
    return Claim(3, "id, question, test_cases of asserts") if all(isinstance(case, str) for case in cases) else None


def claim_rollout(fields: Fields) -> Claim | None:
    samples = fields.get("inferences")
    if claim_task(fields) is None or not isinstance(samples, list) or not samples:
        return None
    return Claim(2, "id, question, inferences")


def read_task(fields: Fields) -> Task:
    """One task of mode assert."""
    test = "".join(f"{source}\n" for source in _asserts(fields))
    return Task(
        task_id=_task_id(fields),
        mode=Mode.ASSERT,
        prompt=field.text(fields, "question"),
        entry_point=_entry_point(test),
        test=test,
        reference=_reference(fields),
        source=f"AceCode {field.text(fields, 'source')}".strip(),
        metadata=field.without(fields, _TAKEN),
    )


def read_rollouts(fields: Fields) -> Iterator[Rollout]:
    """Every sample of the row, in its order."""
    task_id = _task_id(fields)
    for number, sample in enumerate(_samples(fields)):
        reward = field.optional_number(sample, "pass_rate")
        index = field.optional_whole(sample, "completion_id")
        yield Rollout(
            task_id=task_id,
            completion=field.text(sample, "completion"),
            sample_id=f"{task_id}#{number}",
            sample_index=number if index is None else index,
            model=field.optional_identifier(sample, "model_name"),
            given_reward=reward,
            expected_pass=None if reward is None else reward >= 1,
            recorded_by="AceCode",
        )


def _task_id(fields: Fields) -> str:
    return field.optional_identifier(fields, "task_id") or field.identifier(fields, "id")


def _samples(fields: Fields) -> Iterator[Mapping[str, JsonValue]]:
    samples = fields.get("inferences") or []
    if not isinstance(samples, list) or not all(isinstance(sample, dict) for sample in samples):
        raise RecordError("inferences must be a list of objects with completion and pass_rate")
    yield from samples


def _asserts(fields: Fields) -> Iterator[str]:
    for number, text in enumerate(field.strings(fields, "test_cases")):
        if syntax.tree_of(text.strip()) is None:
            raise RecordError(f"test_cases[{number}] is not valid Python: give an assert")
        yield text.strip()


def _entry_point(test: str) -> str:
    """The function that the asserts call; of several, the one they call most often."""
    try:
        name = entry_point_of(test, "")
    except RecordError:
        tree = syntax.tree_of(test)
        called = Counter(names_called(tree.body if tree else ()))
        name = next((each for each, _ in called.most_common() if each not in dir(builtins)), None)
    if name is None:
        raise RecordError("test_cases call no function, so the entry point is unknown")
    return name


def _reference(fields: Fields) -> str | None:
    passed = (sample for sample in _samples(fields) if field.optional_number(sample, "pass_rate") == 1)
    return next((field.text(sample, "completion") for sample in passed), None)


FORMAT = Format(
    name="acecode",
    title="AceCode: id, question, test_cases of asserts; samples in inferences with pass_rate",
    claim_task=claim_task,
    read_task=read_task,
    claim_rollout=claim_rollout,
    read_rollouts=read_rollouts,
    read_prompt=lambda fields: field.text(fields, "question"),
)
