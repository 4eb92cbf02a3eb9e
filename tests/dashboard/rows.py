"""Runs of a few rollouts, for one test each. `written` in conftest.py opens them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from dashboard import workspace
from dashboard.workspace import Entry, OpenRun
from evaluator.model import Grade, Rollout, Verdict
from evaluator.runs.reading import Manifest, RunWriter

Row = tuple[Rollout, Grade]
Written = Callable[[list[Row]], OpenRun]


def row(
    task: str, sample: str, *, reward: float | None, model: str | None = None, step: int | None = None,
    completion: str = "x", **fields: Any,
) -> Row:  # fmt: skip
    """A rollout that passed where its reward is above 0, with its grade."""
    verdict = Verdict.UNKNOWN if reward is None else Verdict.PASSED if reward > 0 else Verdict.WRONG_ANSWER
    grade = Grade(task_id=task, sample_id=sample, **({"verdict": verdict, "reward": reward} | fields))
    return Rollout(task_id=task, sample_id=sample, completion=completion, model=model, step=step), grade


def write(path: Path, rows: list[Row]) -> OpenRun:
    """Write the run, and open it under its directory's name."""
    with RunWriter.create(path, Manifest(dataset="d.jsonl", rollouts="r.jsonl")) as writer:
        for place, (rollout, grade) in enumerate(rows):
            writer.add(rollout, grade, place)
        writer.close()
    return workspace.open_run(Entry(path.name, path))
