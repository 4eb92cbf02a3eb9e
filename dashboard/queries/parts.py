"""The files that have a task's rollouts: a condition on them keeps DuckDB from opening all the others of the run."""

from __future__ import annotations

from pathlib import Path

from dashboard.queries.cache import cached
from dashboard.workspace import OpenRun, Params

IN_PARTS = "list_contains($parts, part_file)"
"""The condition of a query over `stored_rollouts` or `stored_cases`, with the parameter `parts`."""


@cached
def of_task(run: OpenRun, task_id: str) -> Params:
    """The parameters `task` and `parts`: the paths of the files with its rollouts, and with their test cases,
    which have the same names."""
    sql = "SELECT DISTINCT part_file FROM rollouts WHERE task_id = $task"
    rollouts = [Path(part) for (part,) in run.rows(sql, {"task": task_id})]
    cases = [part.parent.with_name("cases") / part.name for part in rollouts]
    return {"task": task_id, "parts": [str(part) for part in (*rollouts, *cases)]}
