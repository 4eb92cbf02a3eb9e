"""The files that have a task's rollouts: a condition on them keeps DuckDB from opening all the others of the run."""

from __future__ import annotations

from dashboard.queries.cache import cached
from dashboard.workspace import OpenRun, Params

IN_PARTS = "list_contains($parts, part)"
"""The condition of a query over `stored_rollouts` or `stored_cases`, with the parameter `parts`. A file of `cases` has
the ordinal of its file of `rollouts`."""


@cached
def of_task(run: OpenRun, task_id: str) -> Params:
    """The parameters `task` and `parts`: the paths of the files with its rollouts and their test cases' results."""
    sql = "SELECT DISTINCT part FROM rollouts WHERE task_id = $task"
    return {"task": task_id, "parts": [part for (part,) in run.rows(sql, {"task": task_id})]}
