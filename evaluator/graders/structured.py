"""The `structured` grader: the completion is JSON that meets a schema, has fields, keeps to ranges.

Each check is a test case: "valid JSON", "schema", "required: PATH" for each required field (null counts as there) and
"range: PATH in LOW to HIGH" for each range. The reward is the share of the checks that hold, with `reward` "all" 1.0
where all do and else 0.0. Checks come from the options and from the task's `answer`, an object with `schema`,
`required` and `ranges`; its schema wins, the others add up. Paths are `user.name`, `items.0`, or `/a.b/c` for keys
that have dots.

Read to the letter: NaN, Infinity, numbers beyond a double, a key that stands twice, deep nesting and long texts are no
valid JSON (see `graders.answers.json_answer` for the limits). A completion without anything like JSON is `no_code`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Literal, NamedTuple

import msgspec

from evaluator.assertions.ungradable import UngradableError
from evaluator.extraction import outside_thinking
from evaluator.graders.answers.grades import begun, conclude
from evaluator.graders.answers.json_answer import Where, json_in, value_at
from evaluator.graders.bench import Bench
from evaluator.graders.cases.loop import SHOWN_WHEN_RIGHT, SHOWN_WHEN_WRONG, excerpt, not_run
from evaluator.graders.grader import Grader, GraderError
from evaluator.model import CaseResult, Difference, Grade, JsonValue, Rollout, Task, TestCase, Verdict
from evaluator.stages import stage

__all__ = ["Config", "make"]


class Wanted(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the JSON must be like. An end of a range that is null is open."""

    schema: dict[str, JsonValue] | bool | None = None
    required: tuple[str, ...] = ()
    ranges: dict[str, tuple[float | None, float | None]] = {}


class Config(Wanted, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The options: also where the JSON stands, and what the reward follows from."""

    extract: Where = "any"
    reward: Literal["fraction", "all"] = "fraction"


class Check(NamedTuple):
    """One thing that the JSON is held against. `look` gives what it found there and what is wrong with that."""

    name: str
    expected: str
    look: Callable[[JsonValue], tuple[JsonValue, str | None]]


def make(config: Config) -> Grader:
    """Raises `GraderError`."""
    try:
        list(_checks(config))
    except UngradableError as error:
        raise GraderError(f"grader structured: {error}") from None
    return Grader(
        name="structured",
        grade=partial(_grade, config),
        test_cases=partial(_test_cases, config),
        refusal=partial(_refusal, config),
        runs_code=False,
    )


def _grade(config: Config, task: Task, rollout: Rollout, bench: Bench) -> Grade:
    del bench
    grade = begun(rollout, "structured")
    try:
        checks = list(_checks(_wanted(config, task.answer)))
        with stage("extraction"):
            found = json_in(outside_thinking(rollout.completion), config.extract)
        cases = _cases(checks)
        if found is None:
            grade.cases = tuple(map(not_run, cases))
        else:
            with stage("compare"):
                valid = _valid(cases[0], found.text, found.problem)
                grade.cases = (valid, *_held(cases, checks, found.value, found.problem))
    except UngradableError as error:
        grade.error_message = str(error)
        return grade
    conclude(grade, "no JSON was found in the completion" if found is None else None)
    grade.reward = float(grade.passed) if config.reward == "all" else grade.pass_rate
    return grade


def _valid(case: TestCase, text: str, problem: str | None) -> CaseResult:
    room = SHOWN_WHEN_RIGHT if problem is None else SHOWN_WHEN_WRONG
    return CaseResult(
        index=case.index,
        verdict=Verdict.PASSED if problem is None else Verdict.WRONG_ANSWER,
        actual=excerpt(text, room),
        difference=None if problem is None else Difference(problem),
    )


def _held(cases: list[TestCase], checks: list[Check], value: JsonValue, problem: str | None) -> Iterator[CaseResult]:
    for case, check in zip(cases[1:], checks, strict=True):
        if problem is not None:
            yield not_run(case)
            continue
        seen, wrong = check.look(value)
        room = SHOWN_WHEN_RIGHT if wrong is None else SHOWN_WHEN_WRONG
        yield CaseResult(
            index=case.index,
            verdict=Verdict.PASSED if wrong is None else Verdict.WRONG_ANSWER,
            expected=excerpt(case.expected, room),
            actual=None if seen is msgspec.UNSET else excerpt(_json(seen), room),
            difference=None if wrong is None else Difference(f"{check.name}: {wrong}"),
        )


def _cases(checks: list[Check]) -> list[TestCase]:
    named = [("valid JSON", ""), *((check.name, check.expected) for check in checks)]
    return [TestCase(index, name, expected) for index, (name, expected) in enumerate(named)]


def _test_cases(config: Config, task: Task) -> tuple[TestCase, ...]:
    try:
        return tuple(_cases(list(_checks(_wanted(config, task.answer)))))
    except UngradableError:
        return ()


def _refusal(config: Config, task: Task) -> str | None:
    try:
        list(_checks(_wanted(config, task.answer)))
    except UngradableError as error:
        return str(error)
    return None


def _wanted(config: Config, answer: JsonValue) -> Wanted:
    """What options and task want together. Raises `UngradableError`.

    An answer that is no object is another grader's, where the options have checks of their own.
    """
    value = _decoded(answer)
    if value is None or (
        not isinstance(value, dict) and (config.schema is not None or config.required or config.ranges)
    ):
        return config
    try:
        own = msgspec.convert(value, Wanted)
    except msgspec.ValidationError as error:
        hint = 'structured wants {"schema": ..., "required": [...], "ranges": {"path": [low, high]}}'
        raise UngradableError(f"the task's answer can't be used ({error}): {hint}") from None
    return Wanted(
        schema=config.schema if own.schema is None else own.schema,
        required=tuple(dict.fromkeys((*config.required, *own.required))),
        ranges={**config.ranges, **own.ranges},
    )


def _decoded(answer: JsonValue) -> JsonValue:
    """The JSON that a text is; the text where it is none."""
    if not isinstance(answer, str):
        return answer
    try:
        return json.loads(answer)
    except (ValueError, RecursionError):
        return answer


def _checks(wanted: Wanted) -> Iterator[Check]:
    """Raises `UngradableError`."""
    if wanted.schema is not None:
        from evaluator.graders.answers.json_schema import schema_check

        check = schema_check(wanted.schema)
        yield Check("schema", _json(wanted.schema), lambda value: (value, check(value)))
    for path in wanted.required:
        yield Check(f"required: {path}", "", partial(_required, path))
    for path, (low, high) in wanted.ranges.items():
        ends = [end for end in (low, high) if end is not None]
        if not ends or not all(map(math.isfinite, ends)) or ends != sorted(ends):
            hint = "give the lower number first, null for an open end"
            raise UngradableError(f"ranges: {path} has [{low}, {high}]: {hint}")
        told = _span(low, high)
        yield Check(f"range: {path} in {told}", told, partial(_ranged, path, low, high, told))


def _required(path: str, value: JsonValue) -> tuple[JsonValue, str | None]:
    try:
        return value_at(value, path), None
    except LookupError:
        return msgspec.UNSET, "it is not there"


def _ranged(
    path: str, low: float | None, high: float | None, told: str, value: JsonValue
) -> tuple[JsonValue, str | None]:
    try:
        found = value_at(value, path)
    except LookupError:
        return msgspec.UNSET, "it is not there"
    if isinstance(found, bool) or not isinstance(found, int | float):
        return found, "it is no number"
    inside = (low is None or low <= found) and (high is None or found <= high)
    return found, None if inside else f"{found!r} is not in {told}"


def _span(low: float | None, high: float | None) -> str:
    if low is None:
        return f"up to {high:.15g}"
    return f"{low:.15g} or more" if high is None else f"{low:.15g} to {high:.15g}"


def _json(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2 if isinstance(value, dict | list) else None)
