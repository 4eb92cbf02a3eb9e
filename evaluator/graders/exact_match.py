r"""The `exact_match` grader: the completion's answer is one of those that the task accepts.

The task's `answer` is a text, a number, true or false, or a list of these, any of which is right. The reward is 1.0 or
0.0. Where the answer stands: `extract` ("whole", "last_line", "boxed"), or the line after `marker`, or the last match
of `pattern`. A thinking section is never part of it. How it is compared: `graders.answers.normal_text.Rules`; with
`numbers`, and for an accepted answer that is a number in any case, `7`, `7.0` and `7,000.00 == 7e3` are compared as
numbers. A completion in which no answer is found is `no_code`, with the reward 0.0.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import Decimal
from functools import partial
from typing import NamedTuple

from evaluator.assertions.ungradable import UngradableError
from evaluator.checkers import shortened
from evaluator.extraction import outside_thinking
from evaluator.graders.answers.grades import begun, conclude
from evaluator.graders.answers.normal_text import Rules, as_number, normal
from evaluator.graders.answers.text import Extract, answer_in, name_of
from evaluator.graders.bench import Bench
from evaluator.graders.cases.loop import SHOWN_WHEN_WRONG, excerpt, not_run
from evaluator.graders.grader import Grader, GraderError
from evaluator.model import CaseResult, Difference, Grade, JsonValue, Rollout, Task, TestCase, Verdict
from evaluator.stages import stage

__all__ = ["Config", "make"]

_QUOTED = 120
_NAMED = 5


class Config(Rules, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where the answer stands, and what it may differ in."""

    extract: Extract = "whole"
    marker: str | None = None
    pattern: str | None = None


class Accepted(NamedTuple):
    """One answer that is right. `number` is set where it is compared as a number too."""

    text: str
    number: Decimal | None


def make(config: Config) -> Grader:
    """Raises `GraderError`."""
    if (config.marker is not None) + (config.pattern is not None) + (config.extract != "whole") > 1:
        raise GraderError("grader exact_match: extract, marker and pattern exclude one another: give one of them")
    if config.marker is not None and not config.marker.strip():
        raise GraderError("grader exact_match: marker is empty")
    if config.pattern is not None:
        _require_usable(config.pattern)
    return Grader(
        name="exact_match",
        grade=partial(_grade, config),
        test_cases=partial(_test_cases, config),
        refusal=partial(_refusal, config),
        runs_code=False,
    )


def _require_usable(pattern: str) -> None:
    from evaluator.graders.answers.patterns import PatternError, has_group

    try:
        has_group(pattern)
    except PatternError as error:
        raise GraderError(f"grader exact_match: {error}") from None


def _grade(config: Config, task: Task, rollout: Rollout, bench: Bench) -> Grade:
    del bench
    grade = begun(rollout, "exact_match")
    try:
        accepted = list(_accepted(task.answer, config))
    except UngradableError as error:
        grade.error_message = str(error)
        return grade
    [case] = _test_cases(config, task)
    with stage("extraction"):
        found = answer_in(outside_thinking(rollout.completion), config.extract, config.marker, config.pattern)
    if found is None or not found.strip():
        grade.cases = (not_run(case),)
        conclude(grade, f"no answer was found: {name_of(config.extract, config.marker, config.pattern)} was looked for")
    else:
        with stage("compare"):
            grade.cases = (_compared(case, found, accepted, config),)
        conclude(grade)
    grade.reward = float(grade.passed)
    return grade


def _compared(case: TestCase, found: str, accepted: list[Accepted], config: Config) -> CaseResult:
    text, number = normal(found, config), as_number(found)
    right = any(text == each.text or (number is not None and number == each.number) for each in accepted)
    difference = None if right else Difference(f"expected {_named(accepted)}, got {_quoted(text)}")
    return CaseResult(
        index=case.index,
        verdict=Verdict.PASSED if right else Verdict.WRONG_ANSWER,
        expected=excerpt(case.expected, SHOWN_WHEN_WRONG),
        actual=excerpt(found.strip() if config.strip else found, SHOWN_WHEN_WRONG),
        difference=difference,
    )


def _test_cases(config: Config, task: Task) -> tuple[TestCase, ...]:
    """One: `input` says what is looked at, `expected` has one accepted answer a line."""
    try:
        list(_accepted(task.answer, config))
    except UngradableError:
        return ()
    answers = task.answer if isinstance(task.answer, list) else [task.answer]
    return (TestCase(0, f"exact match: {_looked_at(config)}", "\n".join(map(_text, answers))),)


def _refusal(config: Config, task: Task) -> str | None:
    try:
        list(_accepted(task.answer, config))
    except UngradableError as error:
        return str(error)
    return None


def _accepted(answer: JsonValue, config: Config) -> Iterator[Accepted]:
    """Raises `UngradableError` where there is none, or one that no text can be."""
    if answer is None or answer == []:
        raise UngradableError("the task has no answer: give a text, a number, or a list of them")
    for each in answer if isinstance(answer, list) else [answer]:
        if not isinstance(each, str | int | float) or (isinstance(each, float) and not math.isfinite(each)):
            raise UngradableError(f"an answer is {type(each).__name__}: exact_match wants texts and finite numbers")
        text = _text(each)
        if not normal(text, config).strip():
            raise UngradableError(f"the answer {text!r} is empty, or all of it is left out of account")
        by_value = config.numbers or not isinstance(each, str | bool)
        yield Accepted(normal(text, config), as_number(text) if by_value else None)
        if isinstance(each, bool):  # as JSON writes it, and as Python does
            yield Accepted(normal(str(each), config), None)


def _text(answer: str | float) -> str:
    if isinstance(answer, bool):
        return "true" if answer else "false"
    return answer if isinstance(answer, str) else repr(answer)


def _looked_at(config: Config) -> str:
    """The options that are not the usual ones."""
    if config.marker is not None:
        where = f"the line after {config.marker!r}"
    elif config.pattern is not None:
        where = f"the last match of {config.pattern!r}"
    else:
        where = {"whole": "the whole text", "last_line": "the last line", "boxed": "the last \\boxed{}"}[config.extract]
    usual = Rules()
    changed = [name for name in Rules.__struct_fields__ if getattr(config, name) != getattr(usual, name)]
    return ", ".join([where, *(f"{name} {_text(getattr(config, name))}" for name in changed)])


def _named(accepted: list[Accepted]) -> str:
    if len(accepted) == 1:
        return _quoted(accepted[0].text)
    more = ", ..." if len(accepted) > _NAMED else ""
    return f"one of {', '.join(_quoted(each.text) for each in accepted[:_NAMED])}{more}"


def _quoted(text: str) -> str:
    return repr(shortened(text, _QUOTED, separator=" ", parts=2))
