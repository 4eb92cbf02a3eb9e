"""What a task is called on the pages."""

from __future__ import annotations

from collections.abc import Sequence

from dashboard.queries.query import cached
from dashboard.workspace import OpenRun
from evaluator.runs import task_names


@cached
def names(run: OpenRun, ids: Sequence[str]) -> dict[str, str]:
    """The names of those tasks that are not called by their ids."""
    return task_names.names(run.rows, ids)


def name(run: OpenRun, task_id: str) -> str:
    """The name of one task."""
    return names(run, [task_id]).get(task_id, task_id)
