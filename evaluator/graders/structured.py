"""The `structured` grader: the completion is JSON that meets a schema, has required fields, keeps to ranges.

Each requirement is a test case: "valid JSON", "schema", "required: PATH" for each field (a null exists) and "range:
PATH in LOW to HIGH" for each range. The reward is the share of the requirements that are met; with `reward` "all", 1.0
if all are, else 0.0. They come from the options and from the task's `answer`, an object with `schema`, `required` and
`ranges`; its schema replaces the options', the others add up. Paths are `user.name`, `items.0`, or `/a.b/c` for keys
that contain dots.

JSON is read strictly: NaN, Infinity, numbers beyond a double, duplicate keys, deep nesting and long texts are not valid
(see `graders.answers.json_answer` for the limits). A completion without anything like JSON is `no_code`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Literal, NamedTuple

import msgspec

from evaluator.assertions import UngradableError
from evaluator.extraction import outside_thinking
from evaluator.graders.answers.grades import answer_grader, case_result, conclude
from evaluator.graders.answers.json_answer import JsonAnswer, Where, json_in, value_at
from evaluator.graders.bench import Bench
from evaluator.graders.cases.loop import not_run
from evaluator.graders.grader import Grader, GraderError
from evaluator.model import CaseResult, Grade, JsonValue, Rollout, Task, TestCase
from evaluator.stages import stage

__all__ = ["Config", "make"]


class Requirements(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the JSON must be like. A null leaves an end of a range open."""

    schema: dict[str, JsonValue] | bool | None = None
    required: tuple[str, ...] = ()
    ranges: dict[str, tuple[float | None, float | None]] = {}


class Config(Requirements, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The options: also where to find the JSON, and how to compute the reward."""

    extract: Where = "any"
    reward: Literal["fraction", "all"] = "fraction"


class Requirement(NamedTuple):
    """One requirement. `examine` returns the value that it is about, and what is wrong with that."""

    name: str
    expected: str
    examine: Callable[[JsonValue], tuple[JsonValue, str | None]]


def make(config: Config) -> Grader:
    """Raises `GraderError`."""
    try:
        list(_listed(config))
    except UngradableError as error:
        raise GraderError(f"grader structured: {error}") from None
    return answer_grader("structured", partial(_test_cases, config), partial(_complete, config))


def _complete(config: Config, task: Task, rollout: Rollout, bench: Bench, grade: Grade) -> None:
    del bench
    requirements = list(_listed(_joined(config, task.answer)))
    with stage("extraction"):
        answer = json_in(outside_thinking(rollout.completion), config.extract)
    cases = _cases(requirements)
    if answer is None:
        grade.cases = tuple(map(not_run, cases))
    else:
        with stage("compare"):
            grade.cases = tuple(_results(cases, requirements, answer))
    conclude(grade, "no JSON was found in the completion" if answer is None else None)
    grade.reward = float(grade.passed) if config.reward == "all" else grade.pass_rate


def _results(cases: Sequence[TestCase], requirements: list[Requirement], answer: JsonAnswer) -> Iterator[CaseResult]:
    valid = case_result(cases[0], answer.text, answer.problem)
    valid.expected = None
    yield valid
    for case, requirement in zip(cases[1:], requirements, strict=True):
        if answer.problem is not None:
            yield not_run(case)
            continue
        value, problem = requirement.examine(answer.value)
        actual = None if value is msgspec.UNSET else _json(value)
        yield case_result(case, actual, problem and f"{requirement.name}: {problem}")


def _cases(requirements: list[Requirement]) -> tuple[TestCase, ...]:
    texts = [("valid JSON", ""), *((each.name, each.expected) for each in requirements)]
    return tuple(TestCase(index, name, expected) for index, (name, expected) in enumerate(texts))


def _test_cases(config: Config, task: Task) -> tuple[TestCase, ...]:
    return _cases(list(_listed(_joined(config, task.answer))))


def _joined(config: Config, answer: JsonValue) -> Requirements:
    """The requirements of the options and the task. Raises `UngradableError`.

    If the options have requirements, an answer that is not an object is ignored: it belongs to another grader.
    """
    value = _decoded(answer)
    if value is None or (
        not isinstance(value, dict) and (config.schema is not None or config.required or config.ranges)
    ):
        return config
    try:
        own = msgspec.convert(value, Requirements)
    except msgspec.ValidationError as error:
        hint = 'give {"schema": ..., "required": [...], "ranges": {"path": [low, high]}}'
        raise UngradableError(f"the task's answer can't be used ({error}): {hint}") from None
    return Requirements(
        schema=config.schema if own.schema is None else own.schema,
        required=tuple(dict.fromkeys((*config.required, *own.required))),
        ranges={**config.ranges, **own.ranges},
    )


def _decoded(answer: JsonValue) -> JsonValue:
    """A text as JSON; unchanged if it is not JSON."""
    if not isinstance(answer, str):
        return answer
    try:
        return json.loads(answer)
    except (ValueError, RecursionError):
        return answer


def _listed(requirements: Requirements) -> Iterator[Requirement]:
    """Raises `UngradableError`."""
    if requirements.schema is not None:
        from evaluator.graders.answers.json_schema import schema_check

        problem_in = schema_check(requirements.schema)
        yield Requirement("schema", _json(requirements.schema), lambda value: (value, problem_in(value)))
    for path in requirements.required:
        yield Requirement(f"required: {path}", "", partial(_required, path))
    for path, (low, high) in requirements.ranges.items():
        ends = [end for end in (low, high) if end is not None]
        if not ends or not all(map(math.isfinite, ends)) or ends != sorted(ends):
            hint = "give the lower number first, null for an open end"
            raise UngradableError(f"ranges: {path} has [{low}, {high}]: {hint}")
        span = _span(low, high)
        yield Requirement(f"range: {path} in {span}", span, partial(_ranged, path, low, high))


def _required(path: str, value: JsonValue) -> tuple[JsonValue, str | None]:
    try:
        return value_at(value, path), None
    except LookupError:
        return msgspec.UNSET, "it is missing"


def _ranged(path: str, low: float | None, high: float | None, value: JsonValue) -> tuple[JsonValue, str | None]:
    number, problem = _required(path, value)
    if problem is not None:
        return number, problem
    if isinstance(number, bool) or not isinstance(number, int | float):
        return number, "it is not a number"
    inside = (low is None or low <= number) and (high is None or number <= high)
    return number, None if inside else f"{number!r} is not in {_span(low, high)}"


def _span(low: float | None, high: float | None) -> str:
    if low is None:
        return f"up to {high:.15g}"
    return f"{low:.15g} or more" if high is None else f"{low:.15g} to {high:.15g}"


def _json(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2 if isinstance(value, dict | list) else None)
