"""Every reward is a number within its grader's range, or missing: no optimiser gets a NaN from here."""

from __future__ import annotations

import math

from evaluator.graders.grader import Grader
from evaluator.model import Flag, Grade, Verdict


def within_range(grade: Grade, grader: Grader) -> Grade:
    """The grade with a reward that is None or in the grader's range.

    Without a verdict there is none. A reward that is not finite makes the grade `unknown`, flagged `bad_reward`. A
    reward outside the range is moved to its nearer end, flagged `clamped_reward`.
    """
    reward = grade.reward
    if reward is None or not grade.verdict.graded:
        grade.reward = None
        return grade
    if not math.isfinite(reward):
        evidence = f"{grader.name} gave the reward {reward}"
        grade.verdict, grade.reward, grade.error_type = Verdict.UNKNOWN, None, None
        grade.error_message = f"{evidence}, which is not a finite number"
        grade.flags = (*grade.flags, Flag("bad_reward", evidence))
    elif not grader.lowest <= reward <= grader.highest:
        grade.reward = min(max(reward, grader.lowest), grader.highest)
        span = f"{grader.lowest:g} to {grader.highest:g}"
        grade.flags = (*grade.flags, Flag("clamped_reward", f"{grader.name} gave {reward:g}, its range is {span}"))
    return grade
