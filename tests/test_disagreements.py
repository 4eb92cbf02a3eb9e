"""Runs with a suite that fails in two processes and passes in one: the command's figures, and the run's columns."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from evaluator.cli import main
from evaluator.interop.trl import make_code_reward
from evaluator.interop.verl import compute_score
from evaluator.model import Disagreement, Verdict
from evaluator.runs.reading import Run

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


def graded(folder: Path, capsys: pytest.CaptureFixture[str], *options: str) -> tuple[dict[str, Any], Run]:
    (folder / "tasks.jsonl").write_text(json.dumps(TASK) + "\n")
    rows = [{"task_id": "Points/0", "completion": program} for program in (RIGHT, WRONG)]
    (folder / "rollouts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    files = [str(folder / "rollouts.jsonl"), "--dataset", str(folder / "tasks.jsonl"), "--out", str(folder / "run")]
    with pytest.raises(SystemExit):
        main(["grade", *files, "--json", *options])
    return json.loads(capsys.readouterr().out), Run.open(folder / "run")


def test_disagreement_counts_as_not_passed_and_the_mean_has_bounds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    summary, run = graded(tmp_path, capsys)
    assert (summary["disagreements"], summary["unknown"]) == (1, 1)
    assert summary["pass_at_1"]["value"] == 0.0
    assert (summary["mean_reward"], summary["mean_reward_bounds"]) == (0.0, [0.0, 0.5])
    rows = run.connect().execute("SELECT disagreement FROM rollouts ORDER BY row").fetchall()
    found = msgspec.json.decode(rows[0][0], type=Disagreement)
    assert (found.apart, found.plain, rows[1][0]) == (Verdict.WRONG_ANSWER, Verdict.PASSED, None)


def test_disagreement_is_kept_where_that_is_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    summary, run = graded(tmp_path, capsys, "--disagreement", "keep")
    assert (summary["pass_at_1"]["value"], summary["unverified_rewarded"]) == (0.5, 1)
    assert (summary["disagreements"], summary["mean_reward_bounds"]) == (1, None)
    assert run.manifest.disagreement == "keep"


def test_trainers_get_no_reward_or_a_failure_and_the_batch_goes_on() -> None:
    tests = json.dumps({"entry_point": "point", "test": TEST})
    rewards = make_code_reward(column="tests")(completions=[RIGHT, WRONG], tests=[tests, tests])
    assert rewards == [None, 0.0]
    assert compute_score("points", RIGHT, tests)["score"] == 0.0
    assert compute_score("points", RIGHT, tests, disagreement="keep")["score"] == 1.0
