"""The other samples of a task that passed, with their code."""

from __future__ import annotations

from typing import NamedTuple

from dashboard.queries import parts
from dashboard.queries.cache import cached
from dashboard.queries.parts import IN_PARTS
from dashboard.workspace import OpenRun

MOST_CANDIDATES = 200
LONGEST_CODE = 20_000
"""Longer code is not compared."""


class Candidate(NamedTuple):
    """A sample that passed."""

    sample_id: str
    model: str | None
    code: str


@cached
def passing(run: OpenRun, task_id: str, sample_id: str) -> list[Candidate]:
    """The task's other samples that passed, in file order."""
    sql = f"""SELECT sample_id, model, code FROM stored_rollouts
              WHERE {IN_PARTS} AND task_id = $task AND sample_id <> $sample AND verdict = 'passed'
                    AND length(code) <= {LONGEST_CODE}
              ORDER BY "row" LIMIT {MOST_CANDIDATES}"""  # noqa: S608
    found = parts.of_task(run, task_id) | {"sample": sample_id}
    return [Candidate(*row) for row in run.rows(sql, found)]
