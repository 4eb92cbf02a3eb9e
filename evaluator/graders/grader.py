"""What every grader has, and the rules for every reward."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from evaluator.cases import Bench
from evaluator.model import NO_REASON, Flag, Grade, JsonValue, Rollout, Task, TestCase, Verdict
from evaluator.options import Unverified
from evaluator.suites.reading import UngradableError


def _none(task: Task) -> None:
    del task


def nothing_more(task: Task, rollout: Rollout) -> JsonValue:
    """For `Grader.kept_by`: nothing besides decides."""
    del task, rollout


@dataclass(frozen=True)
class Grader:
    """One way of grading, with its options."""

    name: str
    grade: Callable[[Task, Rollout, Bench], Grade]
    test_cases: Callable[[Task], tuple[TestCase, ...]]
    """The test cases that it decides for a task; none if it can't grade the task."""
    lowest: float = 0.0
    highest: float = 1.0
    """The range of its rewards. A reward outside is moved to the nearer end, and flagged."""
    refusal: Callable[[Task], str | None] = _none
    """Why it can't grade a task, in one line; None if the task alone shows no reason."""
    runs_code: bool = True
    """Whether it needs a sandbox."""
    waits: int = 0
    """How many rollouts it grades at once because a server does the work; 0: one per CPU."""
    by_completion: bool = True
    """Whether rollouts of a task with the same completion have the same grade."""
    kept_by: Callable[[Task, Rollout], JsonValue] | None = None
    """What decides a grade besides the completion, the task's tests (all but its id, source and metadata) and the run's
    options. None: its grades are not kept in the cache, because they may differ from one time to the next."""
    needs_tasks: bool = True
    """Whether its grades depend on tasks; if not, no dataset is needed, and it overrides the tasks' own graders."""


class GraderError(ValueError):
    """No grader has that name, or it does not take these options. One line that says what to write instead."""


def refusal_by(plan: Callable[[Task], object], task: Task) -> str | None:
    """The message of the `UngradableError` that `plan` raises for a task; None if it raises none."""
    try:
        plan(task)
    except UngradableError as error:
        return str(error)
    return None


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
