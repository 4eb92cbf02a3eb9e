"""The bundled example: each rollout gets the verdict that was meant, and the stored run is a true one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from evaluator import Grade, Rollout, Task, Verdict, grade_all, load_rollouts, load_tasks
from evaluator.runs.reading import Run

pytestmark = pytest.mark.slow
DATA = Path(__file__).resolve().parent.parent.parent / "data"


@pytest.fixture(scope="module")
def tasks() -> list[Task]:
    return list(load_tasks(DATA / "example.dataset.jsonl"))


@pytest.fixture(scope="module")
def rollouts() -> list[Rollout]:
    return list(load_rollouts(DATA / "example.rollouts.jsonl"))


@pytest.fixture(scope="module")
def grades(tasks: list[Task], rollouts: list[Rollout]) -> dict[str, Grade]:
    return {grade.sample_id: grade for grade in grade_all(tasks, rollouts, workers=2)}


def expected(rollouts: list[Rollout]) -> Iterator[tuple[str, str]]:
    return ((rollout.sample_id, rollout.metadata["expected_verdict"]) for rollout in rollouts)


def test_each_rollout_gets_the_verdict_that_was_meant(rollouts: list[Rollout], grades: dict[str, Grade]) -> None:
    assert {sample: str(grade.verdict) for sample, grade in grades.items()} == dict(expected(rollouts))


def test_every_verdict_but_sandbox_error_is_shown(grades: dict[str, Grade]) -> None:
    shown = {grade.verdict for grade in grades.values()}
    shown |= {case.verdict for grade in grades.values() for case in grade.cases}
    assert shown == set(Verdict) - {Verdict.SANDBOX_ERROR}


def test_the_references_pass(tasks: list[Task]) -> None:
    solutions = [
        Rollout(task_id=task.task_id, sample_id=task.task_id, completion=task.reference, kind="full")
        for task in tasks
        if task.reference
    ]
    assert len(solutions) == 15
    failed = {
        grade.task_id: grade.error_message for grade in grade_all(tasks, solutions, workers=2) if not grade.passed
    }
    assert failed == {}


def test_the_stored_run_equals_a_fresh_grading(grades: dict[str, Grade]) -> None:
    with Run.open(DATA / "example.run").connect() as connection:
        rows = connection.execute(
            "select sample_id, verdict, reward, tests_passed, tests_total from rollouts"
        ).fetchall()
    stored = {sample: tuple(rest) for sample, *rest in rows}
    fresh = {
        grade.sample_id: (str(grade.verdict), grade.reward, grade.tests_passed, grade.tests_total)
        for grade in grades.values()
    }
    assert stored == fresh, "grade the example again: the command stands in data/README.md"
