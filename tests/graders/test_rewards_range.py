"""No reward of any grader is outside of its range or no number, whatever the completion."""

import json
import math

import pytest

from evaluator.graders import Grader, get_grader
from evaluator.graders.grader import within_range
from evaluator.model import Grade, Verdict
from tests.graders.answers import graded, options, task


def test_a_weighted_sum_stays_within_the_range_of_its_parts() -> None:
    weights = [0.1, 0.2, 0.7, -0.3, 1e-9, 1e9]
    given = options("weighted", graders=[{"grader": "exact_match", "weight": weight} for weight in weights])
    grader = get_grader(json.dumps(given))
    for completion in ("9", "8"):
        grade = graded(task("9"), completion, given)
        assert grade.flags == (), "nothing had to be brought into the range"
        assert grader.lowest <= (grade.reward or 0.0) <= grader.highest


def held(reward: float | None, verdict: Verdict = Verdict.PASSED) -> Grade:
    grader = Grader(
        "g", grade=lambda task, rollout, bench: Grade(**{}), test_cases=lambda task: (), lowest=-1, highest=2
    )
    return within_range(Grade(task_id="t", sample_id="s", verdict=verdict, reward=reward), grader)


@pytest.mark.parametrize("reward", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_is_refused(reward: float) -> None:
    grade = held(reward)
    assert (grade.verdict, grade.reward, [flag.word for flag in grade.flags]) == (Verdict.UNKNOWN, None, ["bad_reward"])


@pytest.mark.parametrize(
    ("reward", "kept"), [(2.1, 2), (1e308, 2), (-1.0001, -1), (-1, -1), (0, 0), (2, 2), (None, None)]
)
def test_a_reward_outside_is_clamped_to_the_nearer_end(reward: float | None, kept: float | None) -> None:
    grade = held(reward)
    assert (grade.verdict, grade.reward) == (Verdict.PASSED, kept)
    assert [flag.word for flag in grade.flags] == ["clamped_reward"] * (reward != kept)


@pytest.mark.parametrize("verdict", [Verdict.UNKNOWN, Verdict.SANDBOX_ERROR])
def test_a_verdict_that_could_not_be_reached_has_no_reward(verdict: Verdict) -> None:
    assert held(1.0, verdict).reward is None
