"""What the readers of trainers' rollouts share: the source's grade, its other fields, and the tests in a row."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any

from evaluator.formats import _chat as chat
from evaluator.formats._recorded import verdict_of_truth
from evaluator.formats.fields import unpacked
from evaluator.formats.native import ROLLOUT_FIELDS
from evaluator.formats.registry import Claim, Fields, Role, claims_of
from evaluator.formats.tests_alone import COLUMNS, task_from
from evaluator.model import JsonValue, Mode, RecordError, Rollout, Task, Verdict, brief

_MOST_NUMBERS = 64
"""A longer list of numbers is what a trainer computed (token ids, log probabilities, masks): it is left out."""
_PART = re.compile(r"reward|score", re.IGNORECASE)
_TYPICAL = 2


def rest(fields: Fields, taken: Container[str]) -> dict[str, JsonValue]:
    """The fields that are kept as metadata: without those taken, empty ones, and long lists of numbers.

    `left_out` names the lists. A name that means something else in a native row gets `source_` before it.
    """
    left_out: list[str] = []
    kept = {
        f"source_{name}" if name in ROLLOUT_FIELDS else name: _without_numbers(value, name, left_out)
        for name, value in fields.items()
        if name not in taken and value is not None
    }
    kept = {name: value for name, value in kept.items() if value is not _GONE}
    return {**kept, "left_out": left_out} if left_out else kept


_GONE = object()


def _without_numbers(value: JsonValue, name: str, left_out: list[str]) -> JsonValue:
    if _is_bulk(value):
        left_out.append(name)
        return _GONE
    if not isinstance(value, Mapping):
        return value
    inner = {key: _without_numbers(part, f"{name}.{key}", left_out) for key, part in value.items()}
    return {key: part for key, part in inner.items() if part is not _GONE}


def _is_bulk(value: JsonValue) -> bool:
    while isinstance(value, list) and value and isinstance(value[0], list):
        if len(value) > _MOST_NUMBERS and value[0] and isinstance(value[0][0], int | float):
            return True
        value = value[0]
    return isinstance(value, list) and len(value) > _MOST_NUMBERS and isinstance(value[0], int | float)


def number(value: JsonValue) -> float | None:
    """A number or a truth value as a number; None for anything else, and for NaN (no score)."""
    if not isinstance(value, int | float):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return None if math.isnan(found) else found


def parts(fields: Fields, taken: Container[str]) -> dict[str, float]:
    """The parts of a reward: the numbers whose names have `reward` or `score` in them."""
    found = ((name, number(value)) for name, value in fields.items() if name not in taken and _PART.search(name))
    return {name: value for name, value in found if value is not None}


def grade(
    by: str, reward: float | None, passed: bool | Verdict | None = None, word: str | None = None
) -> dict[str, Any]:
    """The fields of a rollout that are the source's grade. `passed` is None where the source does not say so."""
    verdict = verdict_of_truth(passed) if isinstance(passed, bool) else passed
    graded = isinstance(verdict, Verdict) and verdict.graded
    return {
        "given_reward": reward,
        "recorded_verdict": verdict,
        "recorded_word": word,
        "recorded_by": by if (reward, verdict, word) != (None, None, None) else None,
        "expected_pass": verdict is Verdict.PASSED if graded else None,
    }


def step_in(pattern: str, name: str = "step") -> Callable[[str], Fields]:
    """A `from_name` for the step that the pattern's group finds in the last parts of a path."""
    compiled = re.compile(pattern)

    def from_name(path: str) -> Fields:
        found = compiled.search("/".join(PurePath(path).parts[-4:]))
        return {name: int(found[1])} if found else {}

    return from_name


def tests_in(*places: JsonValue) -> JsonValue:
    """The first tests in these objects, by the names that datasets give them; None if there are none.

    A place may be JSON text.
    """
    return next(filter(is_tests, _tests(places)), None)


def is_tests(given: JsonValue) -> bool:
    """Whether a task with test cases can be made of it."""
    try:
        return bool(given) and task_from(given, "task").mode is not Mode.ANSWER
    except RecordError:
        return False


def task_with(given: JsonValue, task_id: str, prompt: str, source: str) -> Task:
    """The task of tests in a row. Raises `RecordError`."""
    if given is None:
        raise RecordError(f"the row has no tests: add {', '.join(COLUMNS[:-1])} or {COLUMNS[-1]}, or name a dataset")
    task = task_from(given, task_id)
    task.prompt = task.prompt or prompt
    task.source = task.source or source
    return task


def rollout(
    by: str,
    completion: Sequence[chat.Message],
    metadata: dict[str, JsonValue],
    reward: float | None,
    passed: bool | Verdict | None = None,
    word: str | None = None,
    *,
    components: Mapping[str, float] | None = None,
    **own: Any,
) -> Rollout:
    """A rollout of messages with the source's grade; its text is what the model said last. `own`: its other fields."""
    if components:
        metadata = {**metadata, "reward_components": components}
    text = chat.answer_text(completion)
    return Rollout(completion=text, metadata=metadata, **own, **grade(by, reward, passed, word))


def prompt_text(fields: Fields) -> str:
    """The text of a row's `prompt`, which is text or messages."""
    return chat.prompt_text(chat.messages_of(fields.get("prompt"), "prompt", "user"))


def conversation(fields: Fields) -> tuple[list[chat.Message], list[chat.Message]]:
    """A row's `prompt` and `completion`, each text or messages."""
    prompt = chat.messages_of(fields.get("prompt"), "prompt", "user")
    return prompt, chat.after_prompt(prompt, chat.messages_of(fields["completion"], "completion", "assistant"))


def objects(value: JsonValue, name: str) -> Iterator[Fields]:
    """The objects of a list. Raises `RecordError` at the first element that is none."""
    for place, item in enumerate(value):
        if not isinstance(item, Mapping):
            raise RecordError(f"{name}[{place}] must be an object, not {brief(item)}")
        yield item


def tasks_in_rollouts(
    source: str,
    claim_rollout: Callable[[Fields], Claim | None],
    tests: Callable[[Fields], JsonValue],
    task_id: Callable[[Fields], str],
    prompt: Callable[[Fields], str],
    why: str,
) -> dict[str, Any]:
    """What a `Format` says of rows of rollouts that may have their task's tests too, but how the rollouts are read."""

    def claim_task(fields: Fields) -> Claim | None:
        return None if claim_rollout(fields) is None or tests(fields) is None else Claim(2, why)

    def read_task(fields: Fields) -> Task:
        return task_with(tests(fields), task_id(fields), prompt(fields), source)

    readers = {"claim_task": claim_task, "read_task": read_task, "claim_rollout": claim_rollout, "read_prompt": prompt}
    return {**readers, "repeats_tasks": True}


def dataset_task(row: JsonValue) -> Task | None:
    """The task of a dataset's row inside another row, read by the dataset's own format; None if no format knows it."""
    if not isinstance(row, Mapping):
        return None
    claims = claims_of(Role.TASKS, row)
    if not claims or claims[0].claim.strength < _TYPICAL or claims[0].format.read_task is None:
        return None
    try:
        return claims[0].format.read_task(row)
    except RecordError:
        return None


def _tests(places: tuple[JsonValue, ...]) -> Iterator[JsonValue]:
    for place in places:
        value = place
        if isinstance(place, str):
            try:
                value = unpacked({"tests": place}, "tests")
            except RecordError:
                continue
        if isinstance(value, Mapping):
            yield from (value[name] for name in COLUMNS if value.get(name))
        if isinstance(value, Mapping | list):
            yield value
