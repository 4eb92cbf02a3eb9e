"""`--unverified`: a grade that is not verified keeps its reward, or has none."""

import msgspec
import pytest

from evaluator.graders.grader import withheld
from evaluator.model import CaseResult, Grade, Verdict

CASES = (CaseResult(index=0, verdict=Verdict.PASSED), CaseResult(index=1, verdict=Verdict.RUNTIME_ERROR))
VERIFIED = Grade(
    task_id="t", sample_id="s", verdict=Verdict.PASSED, reward=1.0, pass_rate=0.5, cases=CASES, code="x = 1",
    error_type="KeyError", error_message="'x'", error_line=3,
)  # fmt: skip
GRADE = msgspec.structs.replace(VERIFIED, verified=False, unverified_reason="it replaces `open`")


@pytest.mark.parametrize(("verdict", "reward"), [(Verdict.PASSED, 1.0), (Verdict.RUNTIME_ERROR, 0.0)])
@pytest.mark.parametrize(
    ("reason", "told"), [("it replaces `open`", "it replaces `open`"), (None, "no reason was given")]
)
def test_it_is_unknown_and_says_why_where_requested(
    verdict: Verdict, reward: float, reason: str | None, told: str
) -> None:
    given = msgspec.structs.replace(GRADE, verdict=verdict, reward=reward, unverified_reason=reason)
    assert withheld(given, "unknown") == msgspec.structs.replace(
        given, verdict=Verdict.UNKNOWN, reward=None, pass_rate=None, error_type=None, error_line=None,
        error_message=f"not verified: {told}",
    )  # fmt: skip
    assert withheld(given, "keep") == given


def test_what_is_verified_or_had_no_reward_stays_what_it_was() -> None:
    assert withheld(VERIFIED, "unknown") == VERIFIED
    for verdict in (Verdict.SANDBOX_ERROR, Verdict.UNKNOWN):
        grade = msgspec.structs.replace(GRADE, verdict=verdict, reward=None)
        assert withheld(grade, "unknown") == grade
