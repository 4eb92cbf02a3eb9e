"""The bundled example: each rollout gets the verdict that was meant, and the stored run is a true one."""

from pathlib import Path

import pytest

from evaluator import Grade, Rollout, grade_all, load_rollouts, load_tasks
from evaluator.runs.reading import Run

pytestmark = pytest.mark.slow
DATA = Path(__file__).resolve().parent.parent.parent / "data"


@pytest.fixture(scope="module")
def rollouts() -> list[Rollout]:
    return list(load_rollouts(DATA / "example.rollouts.jsonl"))


@pytest.fixture(scope="module")
def grades(rollouts: list[Rollout]) -> dict[str, Grade]:
    tasks = load_tasks(DATA / "example.dataset.jsonl")
    return {grade.sample_id: grade for grade in grade_all(list(tasks), rollouts, workers=2)}


def test_each_rollout_gets_the_verdict_that_was_meant(rollouts: list[Rollout], grades: dict[str, Grade]) -> None:
    assert {sample: str(grade.verdict) for sample, grade in grades.items()} == {
        rollout.sample_id: rollout.metadata["expected_verdict"] for rollout in rollouts
    }


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
