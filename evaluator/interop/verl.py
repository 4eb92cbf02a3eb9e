"""verl's reward function, on Rollscope's grading. In the trainer's configuration:

    custom_reward_function:
      path: pkg://evaluator.interop.verl
      name: compute_score

Nothing of verl is imported. It may be called from several threads, and from a process that holds CUDA: sandboxes are
started by exec.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypedDict

from evaluator import grade
from evaluator.graders.bench import Disagreements
from evaluator.interop.trainer_tests import task_from
from evaluator.model import JsonValue, RecordError, limits_from


class Score(TypedDict):
    """What verl is told of one response: `score` trains, the others are logged. Always the same keys and types."""

    score: float
    acc: float
    """1.0 when all tests passed, else 0.0."""
    pass_rate: float
    tests_passed: int
    tests_total: int
    verdict: str
    error: str
    """Of the first failing test; empty when there is none."""


class UngradedError(RuntimeError):
    """No grade could be made: the tests can't be read, or the sandbox failed. verl has no place for 'no reward'."""


def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: JsonValue,
    extra_info: Mapping[str, JsonValue] | None = None,
    *,
    continuous: bool = False,
    limits: Mapping[str, float] | None = None,
    disagreement: Disagreements = "fail",
    **kwargs: object,
) -> Score:
    """The score of one response: 1.0 when it passes all tests, else 0.0; with `continuous` the share that it passes.

    `ground_truth`: the tests, as `evaluator.interop.trainer_tests` reads them. `limits`: fields of `evaluator.Limits`.
    `disagreement`: as in `evaluator.grade`; a suite that fails in two processes and passes in one fails here by
    default, since "unknown" would end the batch. These are verl's `custom_reward_function.reward_kwargs`; whatever
    else it passes is unused.
    Raises `UngradedError` where there is no grade, never a 0; `SandboxUnavailable` where there is no sandbox;
    `RecordError` for limits that can't be read.
    """
    del extra_info, kwargs
    if not isinstance(solution_str, str):
        raise UngradedError(f"{data_source}: solution_str is {type(solution_str).__name__}: give the response's text")
    try:
        task = task_from(ground_truth, str(data_source) or "verl")
    except RecordError as error:
        raise UngradedError(f"{data_source}: {error}") from None
    found = grade(
        task,
        solution_str,
        limits=limits_from(limits) if limits else None,
        grader="tests:reward=fraction" if continuous else "tests",
        disagreement=disagreement,
    )
    if found.reward is None:
        raise UngradedError(
            f"{data_source}: no grade ({found.verdict}): {found.error_message or 'no reason was given'}"
        )
    return Score(
        score=found.reward,
        acc=float(found.passed),
        pass_rate=found.pass_rate or 0.0,
        tests_passed=found.tests_passed,
        tests_total=found.tests_total,
        verdict=found.verdict.value,
        error=": ".join(part for part in (found.error_type, found.error_message) if part),
    )
