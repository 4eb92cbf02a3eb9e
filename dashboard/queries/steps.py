"""Mean reward and pass rate by training step and by the completion's length, in bins where there are many values.

Means and deviations are over tasks: rollouts of one task are alike.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from dashboard.queries.cache import cached
from dashboard.queries.expressions import GRADED, MOMENT
from dashboard.queries.filter_sql import where
from dashboard.queries.models import MODEL
from dashboard.state import Filter
from dashboard.workspace import OpenRun, Params

_STEPS_DRAWN: Final = 120
"""Beyond as many steps, each point is several."""
_BINS_AN_OCTAVE: Final = 2
_MODELS_WITH_LINES: Final = 4
ALL: Final = "all rollouts"


class Means(NamedTuple):
    """The rollouts of a model from one step, or length, to another. `part`: the model's name, or `ALL`."""

    part: str
    low: int
    high: int
    rollouts: int
    tasks: int
    reward: float | None
    """Mean over the tasks of their mean reward; the deviation is None for a single task."""
    reward_deviation: float | None
    graded_tasks: int
    rate: float | None
    rate_deviation: float | None


@cached
def by_step(run: OpenRun, filter_: Filter) -> list[Means]:
    """In the order of the steps; empty if no rollout has one. A line per model if few models share steps."""
    condition, params = where(filter_)
    sql = f"""
        WITH f AS (SELECT step, {MODEL} AS name FROM rollouts WHERE {condition} AND step IS NOT NULL),
             s AS (SELECT count(DISTINCT name) AS names FROM f GROUP BY step)
        SELECT (SELECT count(DISTINCT step) FROM f), (SELECT max(step) - min(step) + 1 FROM f),
               (SELECT count(DISTINCT name) FROM f), (SELECT max(names) FROM s)"""  # noqa: S608
    steps, span, names, together = run.rows(sql, params)[0]
    if not steps:
        return []
    width = 1 if steps <= _STEPS_DRAWN else -(-span // _STEPS_DRAWN)
    part = MODEL if together > 1 and names <= _MODELS_WITH_LINES else f"'{ALL}'"
    return _means(run, f"{condition} AND step IS NOT NULL", params | {"width": width}, "step", "step // $width", part)


@cached
def by_length(run: OpenRun, filter_: Filter) -> list[Means]:
    """By the completion's length in characters, two bins for each doubling."""
    condition, params = where(filter_)
    place = f"floor(log2(greatest(length, 1)) * {_BINS_AN_OCTAVE})"
    return _means(run, f"{condition} AND length IS NOT NULL", params, "length", place, f"'{ALL}'")


def _means(run: OpenRun, condition: str, params: Params, column: str, place: str, part: str) -> list[Means]:
    sql = f"""
        WITH t AS (SELECT {part} AS part, {place} AS place, min({column}) AS low, max({column}) AS high,
                          count(*) AS n, avg({MOMENT}) AS reward,
                          avg((verdict = 'passed')::INTEGER) FILTER ({GRADED}) AS rate
                   FROM rollouts WHERE {condition} GROUP BY part, place, task_id)
        SELECT part, min(low), max(high), sum(n)::BIGINT, count(reward), avg(reward), stddev_samp(reward),
               count(rate), avg(rate), stddev_samp(rate)
        FROM t GROUP BY part, place ORDER BY part, place"""  # noqa: S608
    return [Means(*row) for row in run.rows(sql, params)]
