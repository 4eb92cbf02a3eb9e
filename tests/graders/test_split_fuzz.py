"""Checks and honest completions made at random: two processes find what one finds, or say that it is not verified.

ROLLSCOPE_FUZZ=20000 makes so many, with other seeds each time; a failure names its seed.
"""

from __future__ import annotations

import os
import random

import pytest

from evaluator.graders import Bench, get_grader
from evaluator.graders.bench import Options
from evaluator.model import CaseResult, Kind, Limits, Rollout, Verdict
from evaluator.sandbox import Sandbox
from tests.graders.made_checks import Made, made, run_plainly

MOST = int(os.environ.get("ROLLSCOPE_FUZZ", "0"))
FIRST = random.SystemRandom().randrange(10**9) if MOST else 0
SEVERAL = 10
"""Examples a test."""
LIMITS = Limits(wall_s=10, cpu_s=10, total_s=40)
RAISED = "the test raised "


def ended(case: CaseResult) -> str:
    """passed, failed, not run, or the name of the exception's class, as the plain run has it."""
    if case.verdict is Verdict.RUNTIME_ERROR:
        return (case.error_type or "died").rpartition(".")[2]
    said = case.difference.message if case.difference else ""
    if said.startswith(RAISED):
        return said.removeprefix(RAISED).partition(":")[0].rpartition(".")[2]
    return {Verdict.PASSED: "passed", Verdict.NOT_RUN: "not run", Verdict.WRONG_ANSWER: "failed"}.get(
        case.verdict, str(case.verdict)
    )


def assert_equal_or_unverified(example: Made, sandbox: Sandbox, seed: int) -> None:
    rollout = Rollout(task_id="t", completion=example.completion, kind=Kind.FULL)
    grade = get_grader("tests").grade(example.task, rollout, Bench(sandbox, Options(limits=LIMITS)))
    if not grade.verified:
        assert grade.unverified_reason, seed
        return
    found = list(map(ended, grade.cases))
    assert found == list(run_plainly(example).ends), (seed, grade.error_message, example)


@pytest.mark.parametrize("first", range(FIRST, FIRST + (MOST or 150), SEVERAL))
def test_two_processes_find_what_one_finds(sandbox: Sandbox, first: int) -> None:
    for seed in range(first, first + SEVERAL):
        assert_equal_or_unverified(made(random.Random(seed).randrange), sandbox, seed)
