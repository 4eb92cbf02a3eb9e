r"""The `exact_match` grader: the task accepts the completion's answer.

The task's `answer` is a text, a number, true or false, or a list of these, any of which is right. The reward is 1.0 or
0.0. The completion's answer is found by `extract` ("whole", "last_line", "boxed"), after `marker`, or as the last match
of `pattern`; never in a thinking section. `graders.answers.normal_text.Rules` says how it is compared. `7` and `7.0`
are compared as numbers (so `7,000.00 == 7e3`) with `numbers`, or if the accepted answer is a number in the row.
A completion without an answer is `no_code`, with the reward 0.0.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import Decimal
from functools import partial
from typing import NamedTuple

from evaluator.assertions import UngradableError
from evaluator.checkers import shortened
from evaluator.extraction import outside_thinking
from evaluator.graders.answers.grades import answer_grader, case_result, conclude
from evaluator.graders.answers.normal_text import Rules, as_number, normal
from evaluator.graders.answers.text import Extract, answer_in, name_of
from evaluator.graders.bench import Bench
from evaluator.graders.cases.loop import SHOWN_WHEN_WRONG, not_run
from evaluator.graders.grader import Grader, GraderError
from evaluator.model import CaseResult, Grade, JsonValue, Rollout, Task, TestCase
from evaluator.stages import stage

__all__ = ["Config", "make"]

_QUOTED = 120
_NAMED = 5


class Config(Rules, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How to find the answer, and which differences to ignore."""

    extract: Extract = "whole"
    marker: str | None = None
    pattern: str | None = None


class Accepted(NamedTuple):
    """One right answer. `number` is set if it is compared as a number, too."""

    text: str
    number: Decimal | None


def make(config: Config) -> Grader:
    """Raises `GraderError`."""
    if (config.marker is not None) + (config.pattern is not None) + (config.extract != "whole") > 1:
        raise GraderError("grader exact_match: give only one of extract, marker and pattern")
    if config.marker is not None and not config.marker.strip():
        raise GraderError("grader exact_match: marker is empty")
    if config.pattern is not None:
        from evaluator.graders.answers.patterns import PatternError, has_group

        try:
            has_group(config.pattern)
        except PatternError as error:
            raise GraderError(f"grader exact_match: {error}") from None
    return answer_grader("exact_match", partial(_test_cases, config), partial(_complete, config))


def _complete(config: Config, task: Task, rollout: Rollout, bench: Bench, grade: Grade) -> None:
    del bench
    accepted = list(_accepted(task.answer, config))
    [case] = _test_cases(config, task)
    with stage("extraction"):
        answer = answer_in(outside_thinking(rollout.completion), config.extract, config.marker, config.pattern)
    if answer is None or not answer.strip():
        grade.cases = (not_run(case),)
        name = name_of(config.extract, config.marker, config.pattern)
        conclude(grade, f"no answer was found: the completion has no {name}")
    else:
        with stage("compare"):
            grade.cases = (_compared(case, answer, accepted, config),)
        conclude(grade)
    grade.reward = float(grade.passed)


def _compared(case: TestCase, answer: str, accepted: list[Accepted], config: Config) -> CaseResult:
    text, number = normal(answer, config), as_number(answer)
    right = any(text == each.text or (number is not None and number == each.number) for each in accepted)
    problem = None if right else f"expected {_named(accepted)}, got {_quoted(text)}"
    return case_result(case, answer.strip() if config.strip else answer, problem, SHOWN_WHEN_WRONG)


def _test_cases(config: Config, task: Task) -> tuple[TestCase, ...]:
    """One: `input` says how the answer is found, `expected` has one accepted answer per line."""
    list(_accepted(task.answer, config))
    answers = task.answer if isinstance(task.answer, list) else [task.answer]
    return (TestCase(0, f"exact match: {_described(config)}", "\n".join(map(_text, answers))),)


def _accepted(answer: JsonValue, config: Config) -> Iterator[Accepted]:
    """Raises `UngradableError` if there is none, or one that no text can equal."""
    if answer is None or answer == []:
        raise UngradableError("the task has no answer: give a text, a number, or a list of them")
    for each in answer if isinstance(answer, list) else [answer]:
        if not isinstance(each, str | int | float) or (isinstance(each, float) and not math.isfinite(each)):
            raise UngradableError(f"an answer is {type(each).__name__}: give texts and finite numbers")
        text = _text(each)
        if not normal(text, config).strip():
            raise UngradableError(f"the answer {text!r} is empty, or the options ignore all of it")
        by_value = config.numbers or not isinstance(each, str | bool)
        yield Accepted(normal(text, config), as_number(text) if by_value else None)
        if isinstance(each, bool):  # as JSON writes it, and as Python does
            yield Accepted(normal(str(each), config), None)


def _text(answer: str | float) -> str:
    if isinstance(answer, bool):
        return "true" if answer else "false"
    return answer if isinstance(answer, str) else repr(answer)


def _described(config: Config) -> str:
    """How the answer is found, and the options that differ from the defaults."""
    if config.marker is not None:
        where = f"the line after {config.marker!r}"
    elif config.pattern is not None:
        where = f"the last match of {config.pattern!r}"
    else:
        where = {"whole": "the whole text", "last_line": "the last line", "boxed": "the last \\boxed{}"}[config.extract]
    defaults = Rules()
    changed = [name for name in Rules.__struct_fields__ if getattr(config, name) != getattr(defaults, name)]
    return ", ".join([where, *(f"{name} {_text(getattr(config, name))}" for name in changed)])


def _named(accepted: list[Accepted]) -> str:
    if len(accepted) == 1:
        return _quoted(accepted[0].text)
    more = ", ..." if len(accepted) > _NAMED else ""
    return f"one of {', '.join(_quoted(each.text) for each in accepted[:_NAMED])}{more}"


def _quoted(text: str) -> str:
    return repr(shortened(text, _QUOTED, separator=" ", parts=2))
