"""The `stored` grader: the grade that a rollout came with. Nothing is run or compared.

The reward is `Rollout.given_reward`, unchanged, on any scale. A rollout without one is `unknown`, with its
`failure_reason` if it has one.

The verdict, from the rollout's metadata:

1. `verdict`, if it is one of ours, and has a reward if the rollout has one;
2. else that of the first failing test case, if the rollout lists its test cases: by our server's letters
   (`test_verdicts`), or by the codes of NeMo Gym's code_gen (`result`: true passed, -2 or false wrong answer, -3 and -1
   time limit, -4 runtime error; -1 is "out of the time for all", or killed). If code_gen stopped at a failure, it has
   no codes for the test cases after it: those are `not_run`;
3. else `passed` for a reward of 1 or more, `wrong_answer` below.

Test cases have only verdicts; the first failing one also has what code_gen's `metadata` says. `reward_components` are
the components, each with weight 1. No such grade is verified.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from evaluator.extraction import extract
from evaluator.graders import grader_of
from evaluator.graders.answers.grades import unknown_grade
from evaluator.graders.bench import Bench
from evaluator.graders.cases.loop import SHOWN_WHEN_WRONG, excerpt
from evaluator.graders.grader import Grader, GraderError
from evaluator.graders.unverified import withheld
from evaluator.model import CaseResult, Component, Grade, JsonValue, Kind, Mode, Rollout, Task, TestCase, Verdict
from evaluator.stages import stage

__all__ = ["UNVERIFIED", "Config", "make"]

UNVERIFIED = "the grade is the one that it came with: nothing was run"
_NO_REWARD = "the rollout came without a reward"
_FULL_REWARD = 1.0
_GREATEST = sys.float_info.max
_LETTERS = {verdict.letter: verdict for verdict in Verdict}
_CODES = {
    -1: Verdict.TIME_LIMIT,
    -2: Verdict.WRONG_ANSWER,
    -3: Verdict.TIME_LIMIT,
    -4: Verdict.RUNTIME_ERROR,
}
_NO_WORDS = {"", "none"}
"""What some servers write if there is no reason."""


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
    verdicts = _case_verdicts(metadata)
    shown = _test_cases(task)
    if len(shown) < len(verdicts):  # other test cases
        shown = ()
    grade.cases = tuple(_cases(verdicts, shown, _account(metadata)))
    grade.components = tuple(_components(metadata.get("reward_components")))
    _take_code(grade, task, rollout)
    grade.reward = rollout.given_reward
    grade.verdict = _verdict(grade, metadata.get("verdict"))
    if grade.cases and (grade.passed or shown or metadata.get("test_verdicts")):  # else their number is unknown
        grade.pass_rate = grade.tests_passed / grade.tests_total
    if not grade.passed:
        grade.error_message = _message(metadata) or (_NO_REWARD if grade.reward is None else None)
    return withheld(grade, bench.options.unverified)


def _test_cases(task: Task) -> tuple[TestCase, ...]:
    """The test cases of the task's own grader, for display."""
    try:
        own = grader_of(task, None)
    except GraderError:
        return ()
    return own.test_cases(task) if own.needs_tasks else ()


def _verdict(grade: Grade, word: JsonValue) -> Verdict:
    rewarded = grade.reward is not None
    if isinstance(word, str) and word in set(Verdict) and Verdict(word).graded is rewarded:
        return Verdict(word)
    if grade.reward is None:
        return Verdict.UNKNOWN
    failing = next((case for case in grade.cases if case.verdict is not Verdict.PASSED), None)
    if failing is not None and failing.verdict.graded and failing.verdict is not Verdict.NOT_RUN:
        return failing.verdict
    all_passed = bool(grade.cases) and failing is None
    return Verdict.PASSED if all_passed or grade.reward >= _FULL_REWARD else Verdict.WRONG_ANSWER


def _case_verdicts(metadata: Mapping[str, JsonValue]) -> list[Verdict]:
    """One per test case; none if the rollout lists none, or uses unknown letters or codes."""
    letters, codes = metadata.get("test_verdicts"), metadata.get("result")
    if isinstance(letters, str) and letters and set(letters) <= _LETTERS.keys():
        return [_LETTERS[letter] for letter in letters]
    verdicts = [_of_code(code) for code in codes] if isinstance(codes, list) else []
    known = [verdict for verdict in verdicts if verdict is not None]
    return known if len(known) == len(verdicts) else []


def _of_code(code: JsonValue) -> Verdict | None:
    if isinstance(code, bool):
        return Verdict.PASSED if code else Verdict.WRONG_ANSWER
    return _CODES.get(code) if isinstance(code, int) else None


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


def _account(metadata: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    """What code_gen says about the first failure."""
    account = metadata.get("metadata")
    return account if isinstance(account, Mapping) and "error_code" in account else {}


def _message(metadata: Mapping[str, JsonValue]) -> str | None:
    texts = (metadata.get("error_message"), _account(metadata).get("error_message"), metadata.get("failure_reason"))
    return next((text for text in map(_text, texts) if text and text.lower() not in _NO_WORDS), None)


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
