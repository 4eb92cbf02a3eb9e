"""The grades that rollouts came with."""

from __future__ import annotations

from typing import NamedTuple

from dashboard.queries.cache import cached
from dashboard.workspace import OpenRun


class RecordedCounts(NamedTuple):
    """How many rollouts came with a grade, and what made it."""

    rollouts: int
    graded: int
    by: list[str]
    """The graders that the rollouts name, the most frequent first."""


@cached
def recorded_counts(run: OpenRun) -> RecordedCounts:
    """Of rollouts that are not graded here."""
    [(rollouts, graded)] = run.rows("SELECT count(*), count(*) FILTER (verdict <> 'unknown') FROM rollouts")
    sql = """SELECT recorded_by FROM rollouts WHERE recorded_by IS NOT NULL
             GROUP BY recorded_by ORDER BY count(*) DESC, recorded_by LIMIT 3"""
    return RecordedCounts(rollouts, graded, [by for (by,) in run.rows(sql)])
