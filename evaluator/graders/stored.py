"""The `stored` grader: the grade that a rollout came with. Nothing is run or compared.

Verdict, reward and reason are `evaluator.recorded.recorded_grade`'s: the source's reward, unchanged, on any scale, and
its verdict in our words. A rollout without either is `unknown`, with its `failure_reason` if it has one.

Test cases have only verdicts; the first failing one also has what the source's `metadata` says of it. If code_gen
stopped at a failure, it has no codes for the test cases after it: those are `not_run`. `reward_components` are the
components, each with weight 1. No such grade is verified.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from evaluator.cases import SHOWN_WHEN_WRONG, Bench, excerpt
from evaluator.extraction import extract
from evaluator.graders import grader_or_refusal
from evaluator.graders.answers import unknown_grade
from evaluator.graders.grader import Grader, withheld
from evaluator.model import CaseResult, Component, Grade, JsonValue, Kind, Mode, Rollout, Task, TestCase, Verdict
from evaluator.recorded import UNVERIFIED, case_verdicts, error_account, recorded_grade
from evaluator.stages import stage

_FULL_REWARD = 1.0
_GREATEST = sys.float_info.max


class Config(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """No options."""


def make(config: Config) -> Grader:
    """A grader whose rewards have no limits."""
    del config
    return Grader(
        name="stored",
        grade=_grade,
        test_cases=_test_cases,
        lowest=-math.inf,
        highest=math.inf,
        runs_code=False,
        by_completion=False,
        needs_tasks=False,
    )


def _grade(task: Task, rollout: Rollout, bench: Bench) -> Grade:
    grade = unknown_grade(rollout, "stored")
    grade.verified, grade.unverified_reason = False, UNVERIFIED
    metadata = rollout.metadata
    verdicts = case_verdicts(metadata)
    shown = _test_cases(task)
    if len(shown) < len(verdicts):  # other test cases
        shown = ()
    grade.cases = tuple(_cases(verdicts, shown, error_account(metadata)))
    grade.components = tuple(_components(metadata.get("reward_components")))
    _take_code(grade, task, rollout)
    grade.verdict, grade.reward, message = recorded_grade(rollout)
    if grade.cases and (grade.passed or shown or metadata.get("test_verdicts")):  # else their number is unknown
        grade.pass_rate = grade.tests_passed / grade.tests_total
    grade.error_message = _text(message)
    return withheld(grade, bench.options.unverified)


def _test_cases(task: Task) -> tuple[TestCase, ...]:
    """The test cases of the task's own grader, for display."""
    own = grader_or_refusal(task, None)
    return own.test_cases(task) if own.needs_tasks else ()


def _cases(
    verdicts: Sequence[Verdict], shown: Sequence[TestCase], account: Mapping[str, JsonValue]
) -> Iterator[CaseResult]:
    if not verdicts:
        return
    missing = max(0, len(shown) - len(verdicts))
    first = next((place for place, verdict in enumerate(verdicts) if verdict is not Verdict.PASSED), None)
    for place, verdict in enumerate([*verdicts, *[Verdict.NOT_RUN] * missing]):
        result = CaseResult(index=place, verdict=verdict)
        if place < len(shown):
            result.index = shown[place].index
            result.expected = excerpt(shown[place].expected, SHOWN_WHEN_WRONG)
        if place == first:
            result.error_message = _text(account.get("error_message"))
            result.actual = _text(account.get("output"))
            result.expected = result.expected or _text(account.get("expected"))
        yield result


def _text(value: JsonValue) -> str | None:
    return excerpt(value, SHOWN_WHEN_WRONG) if isinstance(value, str) else None


def _components(rewards: JsonValue) -> Iterator[Component]:
    for name, reward in rewards.items() if isinstance(rewards, Mapping) else ():
        if isinstance(reward, int | float) and abs(reward) <= _GREATEST:
            verdict = Verdict.PASSED if reward >= _FULL_REWARD else Verdict.WRONG_ANSWER
            yield Component(name=str(name), reward=float(reward), verdict=verdict)


def _take_code(grade: Grade, task: Task, rollout: Rollout) -> None:
    """The program in the completion. A plain text is not one, unless the rollout or its task has test cases."""
    with stage("extraction"):
        extraction = extract(rollout.completion, task=task, kind=rollout.kind)
    if extraction.kind is Kind.FULL and rollout.kind is None and task.mode is Mode.ANSWER and not grade.cases:
        return
    grade.code, grade.kind, grade.line_offset = extraction.code, extraction.kind, extraction.line_offset
    grade.extracted_from = extraction.extracted_from
