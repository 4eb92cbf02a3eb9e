"""The files that have a task's rollouts: a condition on them keeps DuckDB from opening all the others of the run."""

from __future__ import annotations

from pathlib import Path

from dashboard.queries.cache import cached
from dashboard.queries.expressions import IN_PARTS
from dashboard.workspace import OpenRun, Params

__all__ = ["IN_PARTS", "of_sample", "of_task"]


@cached
def of_task(run: OpenRun, task_id: str) -> Params:
    """The parameters `task` and `parts`: the paths of the files with its rollouts, and with their test cases."""
    return {"task": task_id, "parts": _files(run, "task_id = $task", {"task": task_id})}


@cached
def of_sample(run: OpenRun, task_id: str, sample_id: str) -> Params:
    """`task`, `sample` and `parts`: the samples of a task may be in as many files."""
    ids: Params = {"task": task_id, "sample": sample_id}
    return ids | {"parts": _files(run, "task_id = $task AND sample_id = $sample", ids)}


def _files(run: OpenRun, condition: str, params: Params) -> list[str]:
    """The files of rollouts, then those of their test cases, which have the same names."""
    found = run.rows(f"SELECT DISTINCT part_file FROM rollouts WHERE {condition}", params)  # noqa: S608
    rollouts = [Path(part) for (part,) in found]
    return [str(part) for part in (*rollouts, *(part.parent.with_name("cases") / part.name for part in rollouts))]
