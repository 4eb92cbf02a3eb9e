"""`--unverified`: a grade that is not verified keeps its reward, or has none."""

from __future__ import annotations

import pytest

from evaluator.graders.unverified import withheld
from evaluator.model import CaseResult, Grade, Verdict

CASES = (CaseResult(index=0, verdict=Verdict.PASSED), CaseResult(index=1, verdict=Verdict.RUNTIME_ERROR))
REASON = "the check replaces `open`"


def unverified(verdict: Verdict, reward: float | None, reason: str | None = REASON) -> Grade:
    return Grade(
        task_id="t",
        sample_id="s",
        verdict=verdict,
        reward=reward,
        verified=False,
        unverified_reason=reason,
        pass_rate=0.5,
        cases=CASES,
        error_type="KeyError",
        error_message="'x'",
        error_line=3,
        code="x = 1",
    )


@pytest.mark.parametrize(("verdict", "reward"), [(Verdict.PASSED, 1.0), (Verdict.RUNTIME_ERROR, 0.0)])
def test_it_is_unknown_and_says_why_where_requested(verdict: Verdict, reward: float) -> None:
    left = withheld(unverified(verdict, reward), "unknown")
    assert (left.verdict, left.reward, left.pass_rate) == (Verdict.UNKNOWN, None, None)
    assert (left.error_type, left.error_message, left.error_line) == (None, f"not verified: {REASON}", None)
    assert (left.verified, left.unverified_reason) == (False, REASON)
    assert (left.cases, left.code) == (CASES, "x = 1")


@pytest.mark.parametrize("verdict", [Verdict.PASSED, Verdict.RUNTIME_ERROR])
def test_it_keeps_verdict_and_reward_by_default(verdict: Verdict) -> None:
    grade = unverified(verdict, 1.0)
    assert withheld(grade, "keep") == grade


@pytest.mark.parametrize("verdict", [Verdict.SANDBOX_ERROR, Verdict.UNKNOWN])
def test_what_had_no_reward_stays_what_it_was(verdict: Verdict) -> None:
    grade = unverified(verdict, None)
    assert withheld(grade, "unknown") == grade


def test_a_verified_grade_is_left_alone() -> None:
    grade = Grade(task_id="t", sample_id="s", verdict=Verdict.PASSED, reward=1.0, cases=CASES[:1])
    assert withheld(grade, "unknown") == grade


def test_without_a_reason_it_says_that_there_is_none() -> None:
    assert withheld(unverified(Verdict.PASSED, 1.0, None), "unknown").error_message == (
        "not verified: no reason was given"
    )
