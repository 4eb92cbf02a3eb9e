"""A reward function for verl that grades with Rollscope. In the trainer's configuration:

    custom_reward_function:
      path: pkg://evaluator.interop.verl
      name: compute_score

verl is not imported. Safe to call from several threads, and from a process that holds CUDA: sandboxes start by exec.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypedDict

from evaluator import grade
from evaluator.formats.trainer_tests import task_from
from evaluator.graders.bench import Disagreements
from evaluator.model import JsonValue, RecordError, limits_from


class Score(TypedDict):
    """The score of one response: verl trains on `score` and logs the rest. The keys and types are always the same."""

    score: float
    acc: float
    """1.0 if all tests passed, else 0.0."""
    pass_rate: float
    tests_passed: int
    tests_total: int
    verdict: str
    error: str
    """The first failing test's; empty if none failed."""


class UngradedError(RuntimeError):
    """The tests can't be read, or the sandbox failed: there is no grade, and verl can't take a missing reward."""


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
    """Grades one response. verl passes the positional arguments; the keywords are its `reward_kwargs`.

    `data_source`: names the row in messages. `solution_str`: the response, a program or a chat answer with fenced code.
    `ground_truth`: the tests, in any shape that `trainer_tests.task_from` reads. `continuous`: score the share of tests
    that passed; False: 1.0 if all passed, else 0.0. `limits`: fields of `evaluator.Limits`, such as `{"wall_s": 5}`
    (seconds; MiB for `memory_mb`); None: the defaults, or the row's. `disagreement`: as in `evaluator.grade`, but a
    suite that fails in two processes and passes in one fails by default: "unknown" raises, which would end the batch.
    `extra_info` and other keywords are ignored.

    Raises `UngradedError` if there is no grade (never scored 0), `SandboxUnavailable` if no sandbox starts,
    `RecordError` for bad `limits`.

        tests = {"inputs": ["1\\n2"], "outputs": ["3"], "fn_name": "add"}
        compute_score("taco", "def add(a, b): return a + b", tests)["score"]  # 1.0
    """
    del extra_info, kwargs
    if not isinstance(solution_str, str):
        raise UngradedError(f"{data_source}: solution_str is of type {type(solution_str).__name__}: give text")
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
