"""The `structured` grader: the completion is JSON that meets a schema, has required fields, keeps to ranges.

Each requirement is a test case: "valid JSON", "schema", "required: PATH" for each field (a null exists) and "range:
PATH in LOW to HIGH" for each range. The reward is the share of the requirements that are met; with `reward` "all", 1.0
if all are, else 0.0. They come from the options and from the task's `answer`, an object with `schema`, `required` and
`ranges`; its schema replaces the options', the others add up. Paths are `user.name`, `items.0`, or `/a.b/c` for keys
that contain dots.

JSON is read strictly: NaN, Infinity, numbers beyond a double, duplicate keys, deep nesting and long texts are not valid
(`_LONGEST`, `_DEEPEST` and `_MOST` are the limits). A completion without anything like JSON is `no_code`.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Final, Literal, NamedTuple

import msgspec

from evaluator.cases import Bench, not_run
from evaluator.extraction import outside_thinking
from evaluator.extraction.fences import fenced_blocks
from evaluator.graders.answers import answer_grader, case_result, conclude
from evaluator.graders.grader import Grader, GraderError
from evaluator.model import CaseResult, Grade, JsonValue, Rollout, Task, TestCase
from evaluator.stages import stage
from evaluator.suites.reading import UngradableError
from evaluator.tasks import long_numbers

_LONGEST: Final = 1_000_000
"""Characters of a text."""
_DEEPEST: Final = 64
"""Levels of lists and objects."""
_MOST: Final = 20_000
"""Values, nested ones included."""
_JSON_TAGS: Final = ("json", "jsonc", "json5", "")
_BEGINNINGS: Final = frozenset('{["-0123456789tfn')
_LIKE_JSON: Final = re.compile(r'\{\s*["}]|\[\s*(?:["{\[\]0-9-]|true|false|null|NaN|Infinity)')
_IN_PROSE: Final = re.compile(r'\{\s*["}]|\[\s*["{\[]')
_LONGEST_INTEGER: Final = 300
_PLACE: Final = re.compile("[0-9]{1,5}")

Where = Literal["any", "whole", "fenced"]


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


def _complete(config: Config, task: Task, rollout: Rollout, _: Bench, grade: Grade) -> None:
    requirements = _requirements(config, task)
    with stage("extraction"):
        answer = _json_in(outside_thinking(rollout.completion), config.extract)
    cases = _test_cases(config, task)
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


def _test_cases(config: Config, task: Task) -> tuple[TestCase, ...]:
    texts = [("valid JSON", ""), *((each.name, each.expected) for each in _requirements(config, task))]
    return tuple(TestCase(index, name, expected) for index, (name, expected) in enumerate(texts))


def _requirements(config: Config, task: Task) -> list[Requirement]:
    return list(_listed(_joined(config, task.answer)))


def _joined(config: Config, answer: JsonValue) -> Requirements:
    """The requirements of the options and the task. Raises `UngradableError`.

    If the options have requirements, an answer that is not an object is ignored: it belongs to another grader.
    """
    value = answer
    if isinstance(answer, str):
        with suppress(ValueError):
            value = long_numbers.loads(answer)
    for_another = not isinstance(value, dict) and (config.schema is not None or config.required or config.ranges)
    if value is None or for_another:
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
        return _value_at(value, path), None
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


class _NotReadError(ValueError):
    """The text is not JSON, or JSON beyond a limit. The message says why."""


class JsonAnswer(NamedTuple):
    """`value` is valid if `problem` is None."""

    text: str
    value: JsonValue
    problem: str | None


def _json_in(text: str, where: Where) -> JsonAnswer | None:
    """The JSON of an answer; None if nothing looks like JSON.

    any: the whole text if it is JSON or starts like JSON, else the first fenced block marked json or not marked, else
    the first text that starts like an object, or like a list of texts, objects or lists.
    """
    whole = text.strip()
    if where == "whole":
        return _whole(whole) if whole else None
    if where == "any" and whole[:1] in _BEGINNINGS:
        answer, end = _answer(whole, 0)
        if _LIKE_JSON.match(whole) if answer.problem else not whole[end:].strip():
            return answer  # it is JSON, or JSON that breaks off; else it is prose, or prose follows
    block = next((b.text for b in fenced_blocks(text) if b.tag in _JSON_TAGS), None)
    if block is not None:
        return _whole(block.strip())
    begin = _IN_PROSE.search(whole) if where == "any" else None
    return _answer(whole, begin.start())[0] if begin else None  # objects inside an invalid one are not tried


def _whole(text: str) -> JsonAnswer:
    answer, end = _answer(text, 0)
    more = answer.problem is None and text[end:].strip()
    return JsonAnswer(text, None, f"not JSON: more text after it, from character {end + 1}") if more else answer


def _answer(text: str, start: int) -> tuple[JsonAnswer, int]:
    """What starts there, and its end."""
    try:
        if len(text) - start > _LONGEST:
            raise _NotReadError(f"longer than {_LONGEST:,} characters")
        value, end = _DECODER.raw_decode(text, start)
        _refuse_large(value)
    except json.JSONDecodeError as error:
        problem = f"not JSON: {error.msg} at line {error.lineno}, column {error.colno}"
    except RecursionError:
        problem = f"nested deeper than {_DEEPEST} levels"
    except _NotReadError as error:
        problem = str(error)
    else:
        return JsonAnswer(text[start:end], value, None), end
    return JsonAnswer(text[start:], None, problem), len(text)


def _refuse_large(value: JsonValue) -> None:
    level, left = [value], _MOST
    for _ in range(_DEEPEST + 1):
        left -= len(level)
        if left < 0:
            raise _NotReadError(f"more than {_MOST:,} values")
        inner = [each for each in level if isinstance(each, dict | list)]
        if not inner:
            return
        level = [value for each in inner for value in (each.values() if isinstance(each, dict) else each)]
    raise _NotReadError(f"nested deeper than {_DEEPEST} levels")


def _object(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    value = dict(pairs)
    if len(value) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise _NotReadError(f"an object has the key {twice[:100]!r} twice")
    return value


def _integer(digits: str) -> int:
    if len(digits) > _LONGEST_INTEGER:
        raise _NotReadError(f"a number of {len(digits):,} digits")
    return int(digits)


def _float(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise _NotReadError(f"the number {digits[:40]} is beyond a double")
    return number


def _constant(name: str) -> JsonValue:
    raise _NotReadError(f"{name} is not JSON")


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=_integer, parse_float=_float, parse_constant=_constant
)


def _value_at(value: JsonValue, path: str) -> JsonValue:
    """The value there, possibly null. Raises `LookupError` if there is none."""
    steps = path.split(".")
    if path.startswith("/"):
        steps = [step.replace("~1", "/").replace("~0", "~") for step in path[1:].split("/")]
    for step in steps:
        if isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(value, list) and _PLACE.fullmatch(step) and int(step) < len(value):
            value = value[int(step)]
        else:
            raise LookupError(path)
    return value
