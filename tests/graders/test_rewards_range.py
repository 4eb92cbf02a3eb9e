"""No reward of any grader is outside of its range or no number, whatever the completion."""

from __future__ import annotations

import json
import math

import pytest

from evaluator.graders import Grader, get_grader
from evaluator.graders.reward_range import within_range
from evaluator.model import Grade, JsonValue, Verdict
from tests.graders.answers import graded, options, task

HOSTILE = [
    "", "\x00", "\ud800", "x" * 100_000, "[" * 5000, '{"a": 1e999}', "NaN", "-" * 1000, "#### #### ####",
    "\\boxed{" * 99, "<think>" * 1000, "```json\n" * 1000, '{"a":' * 3000, "9" * 9999, "```\n{}\n```",
    "\r\n\r\n", "\u202e\u0301" * 500,
]  # fmt: skip
GRADERS: list[JsonValue] = [
    options("exact_match", numbers=True, case="ignore", articles="ignore", punctuation="ignore", unicode="NFKC"),
    options("exact_match", extract="boxed"),
    options("exact_match", marker="####"),
    options("exact_match", pattern="(.*)"),
    options("structured", required=["a"], ranges={"a": [0, 1]}),
    options("structured", schema={"type": "object", "patternProperties": {".": {"$ref": "#"}}}, reward="all"),
]


@pytest.mark.parametrize("given", GRADERS, ids=str)
def test_hostile_completions_get_a_reward_within_the_range(given: JsonValue) -> None:
    answer = "9" if given["name"] == "exact_match" else None
    grader = get_grader(json.dumps(given))
    for completion in HOSTILE:
        grade = graded(task(answer), completion, given)
        assert grade.reward is not None, (completion[:20], grade.error_message)
        assert grader.lowest <= grade.reward <= grader.highest
        assert grade.verdict.graded


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
