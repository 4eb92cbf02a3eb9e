"""Whether a grade that is not verified has a reward: the run's option `unverified`."""

from __future__ import annotations

import msgspec

from evaluator.model import NO_REASON, Grade, Verdict
from evaluator.options import Unverified


def withheld(grade: Grade, unverified: Unverified) -> Grade:
    """The grade; with `unknown`, one that is not verified loses its reward and its pass rate.

    Its test cases stay, and a grade without a reward is not changed.
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
