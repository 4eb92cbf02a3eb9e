"""Runs of a few rollouts. `written` in conftest.py writes and opens them."""

import itertools
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evaluator.graders import shown_cases
from evaluator.model import Grade, Rollout, Task, Verdict
from evaluator.runs.reading import Manifest
from evaluator.runs.schema import columns_of
from evaluator.runs.writing import RunWriter

if TYPE_CHECKING:
    from dashboard.workspace import OpenRun

Row = tuple[Rollout, Grade]
Written = Callable[..., "OpenRun"]
"""Rows, then tasks."""
Show = Callable[..., None]
"""Runs that are open, and by name what else `rollscope view` may be given."""


def row(
    task: str, sample: str, *, reward: float | None, model: str | None = None, step: int | None = None,
    completion: str = "x", **fields: Any,
) -> Row:  # fmt: skip
    """A rollout that passed where its reward is above 0, with its grade."""
    verdict = Verdict.UNKNOWN if reward is None else Verdict.PASSED if reward > 0 else Verdict.WRONG_ANSWER
    grade = Grade(task_id=task, sample_id=sample, **({"verdict": verdict, "reward": reward} | fields))
    return Rollout(task_id=task, sample_id=sample, completion=completion, model=model, step=step), grade


def write(path: Path, rows: Iterable[Row], *tasks: Task, manifest: Manifest | None = None) -> Path:
    """Write a finished run, and return its directory."""
    with RunWriter.create(path, manifest or Manifest(dataset="d.jsonl", rollouts="r.jsonl")) as writer:
        for task in tasks:
            writer.add_task(task, task.cases or shown_cases(task, None))
        graded = enumerate(rows)
        while batch := list(itertools.islice(graded, 64)):
            places, pairs = zip(*batch, strict=True)
            rollouts, grades = zip(*pairs, strict=True)
            verdicts = Counter(grade.verdict.value for grade in grades)
            writer.add_columns(places, columns_of(rollouts, grades), verdicts)
        writer.close()
    return path
