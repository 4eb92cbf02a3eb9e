"""Tests that could be turned into calls give the same verdicts, case by case, in a separate process.

Needs the development data beside this checkout. ROLLSCOPE_EVERY=1 grades all of its rollouts instead of each tenth.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable
from pathlib import Path

import msgspec
import pytest

from evaluator import Grade, Rollout, Task, grade_all, load_rollouts, load_tasks
from evaluator.assertions.plan import SuitePlan
from evaluator.graders.cases.plans import plan_for
from evaluator.model import Mode, Verdict

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
EVERY = int(os.environ.get("ROLLSCOPE_EVERY", "10"))
FEW = 100
"""Rollouts of a small set, of which all are graded."""

pytestmark = [
    pytest.mark.attacks,
    pytest.mark.skipif(not SHARED.is_dir(), reason="the development data is not beside this checkout"),
]


def _without_extraction(task: Task) -> Task:
    """The same task with an import as the first statement of `check`, which can't become a call."""
    test = task.test or ""
    check = next(node for node in ast.parse(test).body if isinstance(node, ast.FunctionDef) and node.name == "check")
    first = check.body[0]
    lines = test.split("\n")
    lines.insert(first.lineno - 1, " " * first.col_offset + "import math")
    changed = msgspec.structs.replace(task, test="\n".join(lines))
    assert isinstance(plan_for(changed, None), SuitePlan)
    return changed


def _graded(tasks: Iterable[Task], rollouts: list[Rollout]) -> dict[str, Grade]:
    return {grade.sample_id: grade for grade in grade_all(tasks, rollouts, workers=2)}


@pytest.mark.parametrize("name", ["humaneval_ldb", "mbpp_ldb", "cruxeval_output", "quixbugs"])
def test_a_test_in_its_own_process_gives_the_verdicts_of_its_calls(name: str) -> None:
    loaded = load_tasks(SHARED / f"{name}.dataset.jsonl")
    tasks = {task.task_id: task for task in loaded if task.mode is Mode.ASSERT}
    every = [one for one in load_rollouts(SHARED / f"{name}.rollouts.jsonl") if one.task_id in tasks]
    rollouts = every if len(every) <= FEW else every[::EVERY]
    usual = _graded(tasks.values(), rollouts)
    split = _graded(map(_without_extraction, tasks.values()), rollouts)
    assert len(usual) == len(rollouts) > 0
    assert usual.keys() == split.keys()
    for name, grade in usual.items():
        assert [case.verdict for case in split[name].cases] == [case.verdict for case in grade.cases], name
    for grades in (usual, split):
        assert not [grade for grade in grades.values() if not grade.verified or grade.verdict is Verdict.UNKNOWN]
        known = {one.sample_id: one.expected_pass for one in rollouts if one.expected_pass is not None}
        assert {sample: grades[sample].passed for sample in known} == known
