"""Runs with a suite that fails in two processes and passes in one: the command's figures, and the run's columns."""

import json
from pathlib import Path

import msgspec
import pytest

from evaluator.commands.grading import summarise
from evaluator.interop.trl import make_code_reward
from evaluator.interop.verl import compute_score
from evaluator.model import Disagreement, Grade, Rollout, Task, Verdict
from evaluator.runs.reading import Manifest, Run
from evaluator.runs.writing import RunWriter
from tests.commands.command_line import rollscope, write_rows

TEST = """
def check(candidate):
    assert Point.__mro__ == (Point, object)
    assert isinstance(candidate(3), Point) and candidate(3).x == 3
"""
TASK = {
    "task_id": "Points/0",
    "entry_point": "point",
    "test": TEST,
    "prompt": "Write a dataclass Point with x, and point(x), which makes one.",
}
RIGHT = "from dataclasses import dataclass\n@dataclass\nclass Point:\n    x: int\ndef point(x):\n    return Point(x)\n"
WRONG = RIGHT.replace("Point(x)", "Point(x + 1)")


def test_disagreement_counts_as_not_passed_and_the_mean_has_bounds(tmp_path: Path) -> None:
    told = Disagreement(apart=Verdict.WRONG_ANSWER, plain=Verdict.PASSED)
    with RunWriter.create(tmp_path / "run", Manifest()) as writer:
        writer.add_task(Task.from_row(TASK), ())
        for row, (verdict, reward, disagreement) in enumerate(
            [(Verdict.UNKNOWN, None, told), (Verdict.WRONG_ANSWER, 0.0, None)]
        ):
            grade = Grade(
                task_id="Points/0", sample_id=str(row), verdict=verdict, reward=reward, disagreement=disagreement
            )
            writer.add(Rollout(task_id="Points/0", sample_id=str(row), completion=RIGHT), grade, row)
        writer.close()
    run = Run.open(tmp_path / "run")
    summary = summarise(run, seconds=1.0, graded_now=2, cached=0)
    assert (summary.disagreements, summary.unknown, summary.pass_at_1.value) == (1, 1, 0.0)
    assert (summary.mean_reward, summary.mean_reward_bounds) == (0.0, (0.0, 0.5))
    rows = run.connect().execute("SELECT disagreement FROM rollouts ORDER BY row").fetchall()
    assert (msgspec.json.decode(rows[0][0], type=Disagreement), rows[1][0]) == (told, None)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "passed", "rewarded", "bounds"), [((), 0.0, 0, [0.0, 0.5]), (("--disagreement", "keep"), 0.5, 1, None)]
)
def test_disagreement_is_kept_where_that_is_asked(
    tmp_path: Path, options: tuple[str, ...], passed: float, rewarded: int, bounds: list[float] | None
) -> None:
    write_rows(tmp_path / "d.jsonl", TASK)
    write_rows(tmp_path / "r.jsonl", *({"task_id": "Points/0", "completion": program} for program in (RIGHT, WRONG)))
    asked = ("grade", "r.jsonl", "--dataset", "d.jsonl", "--output", "run", "--json", *options)
    summary = json.loads(rollscope(*asked, cwd=tmp_path).stdout)
    assert (summary["pass_at_1"]["value"], summary["unverified_rewarded"]) == (passed, rewarded)
    assert (summary["disagreements"], summary["mean_reward_bounds"]) == (1, bounds)
    assert Run.open(tmp_path / "run").manifest.options.disagreement == (options[-1] if options else "unknown")


def test_trainers_get_no_reward_or_a_failure_and_the_batch_goes_on() -> None:
    tests = json.dumps({"entry_point": "point", "test": TEST})
    rewards = make_code_reward(column="tests")(completions=[RIGHT, WRONG], tests=[tests, tests])
    assert rewards == [None, 0.0]
    assert compute_score("points", RIGHT, tests)["score"] == 0.0
    assert compute_score("points", RIGHT, tests, disagreement="keep")["score"] == 1.0
