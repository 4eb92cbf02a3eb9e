"""What becomes of a grade that is not verified: the run's `unverified` says whether it has a reward."""

from __future__ import annotations

import msgspec

from evaluator.graders.bench import Unverified
from evaluator.model import NO_REASON, Grade, Verdict


def withheld(grade: Grade, unverified: Unverified) -> Grade:
    """The grade as the run wants it: with `unknown`, one that is not verified has no reward, nor a pass rate.

    Its test cases stay as they ran, and so does a grade that had no reward to begin with.
    """
    if unverified == "keep" or grade.verified or grade.reward is None:
        return grade
    return msgspec.structs.replace(
        grade,
        verdict=Verdict.UNKNOWN,
        reward=None,
        pass_rate=None,
        error_type=None,
        error_message=f"not verified: {grade.unverified_reason or NO_REASON}",
        error_line=None,
    )
