"""How rewards and passes are distributed, for the charts. Everything is counted; large sets are put into bins."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dashboard.queries.cache import cached
from dashboard.queries.expressions import GRADED, MOMENT
from dashboard.queries.filter_sql import where
from dashboard.queries.models import DRAWN, MODEL, models
from dashboard.queries.ranking import Ranking, ranking
from dashboard.state import Filter
from dashboard.workspace import OpenRun

TASKS_DRAWN = 500
"""Up to this many tasks have a bar each; beyond it, tasks with the same pass rate share one."""
Counts = npt.NDArray[np.int64]
PARTS_DRAWN = 12
SHORTEST_S = 0.001
"""Shorter times are counted with this one."""
OTHER_MODELS = "other models"


class Spread(NamedTuple):
    """Groups with about the same pass rate and variance of rewards; `task_id` is the first one's."""

    rate: float
    variance: float
    groups: int
    task_id: str


class WallTimes(NamedTuple):
    """Rollouts of a verdict whose time is within a bin around 10 ** (`tenth` / 10) seconds."""

    tenth: int
    verdict: str
    rollouts: int


class PartMean(NamedTuple):
    """A part of the rewards of a model."""

    name: str
    model: str
    rollouts: int
    mean: float | None


class TaskRate(NamedTuple):
    task_id: str
    graded: int
    passed: int


@cached
def reward_values(run: OpenRun, filter_: Filter, by: str) -> list[tuple[float, str, int]]:
    """(reward, verdict or model, rollouts). More than 24 different rewards are put into 20 bins, named by their middle.

    Beyond `DRAWN` models, the others count as one.
    """
    condition, params = where(filter_)
    column = "verdict"
    if by == "model":
        found = models(run, filter_)
        column = f"CASE WHEN list_contains($drawn, {MODEL}) THEN {MODEL} ELSE $others END"
        others = f"{found.total - DRAWN:,} {OTHER_MODELS}"
        params = params | {"drawn": [each.model for each in found.rows], "others": others}
    sql = f"""
        WITH f AS (SELECT reward, {column} AS part FROM rollouts WHERE {condition} AND reward IS NOT NULL),
             s AS (SELECT min(reward) AS lo, max(reward) AS hi, count(DISTINCT reward) AS kinds FROM f),
             b AS (SELECT *, (least(floor((reward / 2 - lo / 2) / (hi / 2 - lo / 2) * 20), 19) + 0.5) / 20 AS part_of
                   FROM f, s)
        SELECT CASE WHEN kinds <= 24 THEN reward ELSE lo * (1 - part_of) + hi * part_of END AS bin, part, count(*)
        FROM b GROUP BY bin, part ORDER BY bin, part"""  # noqa: S608 - halves, as the span of two doubles may overflow
    return run.rows(sql, params)


@cached
def reward_width(run: OpenRun, filter_: Filter) -> float:
    """The width of a bin of `reward_values`; 0 where every reward has its own bar."""
    condition, params = where(filter_)
    sql = f"SELECT count(DISTINCT reward), max(reward) / 20 - min(reward) / 20 FROM rollouts WHERE {condition}"  # noqa: S608
    kinds, width = run.rows(sql, params)[0]
    return width if kinds > 24 else 0.0


@cached
def solved(run: OpenRun, filter_: Filter, model: str = "") -> tuple[Counts, Counts]:
    """Graded and passed rollouts of each task, ordered by task id, for pass@k. Both have shape (tasks,).

    `model`: one of `models`; "" for all of them.
    """
    condition, params = where(filter_)
    if model:
        condition, params = f"{condition} AND {MODEL} = $drawn", params | {"drawn": model}
    sql = f"""
        SELECT count(*) AS n, count(*) FILTER (verdict = 'passed') AS c FROM rollouts
        WHERE {condition} AND {GRADED} GROUP BY task_id ORDER BY task_id"""  # noqa: S608
    counted = run.connection.cursor().execute(sql, params).fetchnumpy()
    return np.asarray(counted["n"]), np.asarray(counted["c"])


@cached
def task_rates(run: OpenRun, filter_: Filter, limit: int = TASKS_DRAWN) -> Ranking[TaskRate]:
    """The tasks with graded rollouts, the lowest pass rate first."""
    condition, params = where(filter_)
    sql = f"""
        SELECT task_id, count(*) AS n, count(*) FILTER (verdict = 'passed') AS c, count(*) OVER () FROM rollouts
        WHERE {condition} AND {GRADED} GROUP BY task_id ORDER BY c / n, min("row") LIMIT $limit"""  # noqa: S608
    return ranking(run.rows(sql, params | {"limit": limit}), TaskRate)


@cached
def rate_counts(run: OpenRun, filter_: Filter) -> list[tuple[float, int]]:
    """(pass rate, tasks), the lowest first, in steps of 1%; 0 and 1 are steps of their own."""
    condition, params = where(filter_)
    sql = f"""
        WITH t AS (SELECT count(*) AS n, count(*) FILTER (verdict = 'passed') AS c FROM rollouts
                   WHERE {condition} AND {GRADED} GROUP BY task_id)
        SELECT CASE WHEN c IN (0, n) THEN c / n ELSE least(greatest(round(c / n, 2), 0.01), 0.99) END AS rate, count(*)
        FROM t GROUP BY rate ORDER BY rate"""  # noqa: S608
    return run.rows(sql, params)


@cached
def task_rewards(run: OpenRun, filter_: Filter, model: str = "") -> npt.NDArray[np.float64]:
    """The mean reward of each task, ordered by task id, of shape (tasks,). `model` as for `solved`."""
    condition, params = where(filter_)
    if model:
        condition, params = f"{condition} AND {MODEL} = $drawn", params | {"drawn": model}
    sql = f"""
        SELECT avg({MOMENT}) AS mean FROM rollouts WHERE {condition}
        GROUP BY task_id HAVING mean IS NOT NULL ORDER BY task_id"""  # noqa: S608
    return np.array([mean for (mean,) in run.rows(sql, params)], np.float64)


@cached
def spread(run: OpenRun, filter_: Filter) -> list[Spread]:
    """Pass rate and variance of the rewards of each group. Many groups are put into bins: 2%, and a fortieth."""
    condition, params = where(filter_)
    sql = f"""
        WITH g AS (SELECT min(task_id) AS task_id, avg((verdict = 'passed')::INTEGER) AS rate,
                          coalesce(var_pop({MOMENT}), 0) AS variance
                   FROM rollouts WHERE {condition} AND reward IS NOT NULL
                   GROUP BY coalesce("group", task_id) HAVING count(*) >= 2),
             s AS (SELECT count(*) <= $drawn AS few, greatest(max(variance), 1e-9) / 40 AS height FROM g)
        SELECT CASE WHEN few OR rate IN (0, 1) THEN rate
                    ELSE greatest(least(round(rate * 50) / 50, 0.99), 0.01) END AS x,
               CASE WHEN few OR variance = 0 THEN round(variance, 9)
                    ELSE (floor(variance / height) + 0.5) * height END AS y,
               count(*), min(task_id)
        FROM g, s GROUP BY x, y ORDER BY x, y"""  # noqa: S608
    return [Spread(*row) for row in run.rows(sql, params | {"drawn": TASKS_DRAWN})]


@cached
def wall_times(run: OpenRun, filter_: Filter) -> list[WallTimes]:
    """Wall time of all test cases together, in ten bins for each power of ten from 1 ms on."""
    condition, params = where(filter_)
    sql = f"""
        SELECT floor(log10(greatest(wall_s, {SHORTEST_S})) * 10 + 0.5)::INTEGER AS tenth, verdict, count(*)
        FROM rollouts WHERE {condition} AND wall_s IS NOT NULL GROUP BY tenth, verdict ORDER BY tenth, verdict"""  # noqa: S608
    return [WallTimes(*row) for row in run.rows(sql, params)]


@cached
def part_means(run: OpenRun, filter_: Filter, limit: int = PARTS_DRAWN) -> Ranking[PartMean]:
    """The mean of each part of the reward by model, for the parts that most rollouts have."""
    condition, params = where(filter_)
    sql = f"""
        WITH f AS (SELECT "row", {MODEL} AS model FROM rollouts WHERE {condition}),
             p AS (SELECT name, count(*) AS n, count(*) OVER () AS total FROM parts SEMI JOIN f USING ("row")
                   GROUP BY name ORDER BY n DESC, name LIMIT $limit)
        SELECT name, f.model, count(parts.reward), avg(parts.reward), any_value(total)
        FROM parts JOIN f USING ("row") JOIN p USING (name) WHERE list_contains($names, f.model)
        GROUP BY name, f.model ORDER BY max(p.n) DESC, name, f.model"""  # noqa: S608
    names = [each.model for each in models(run, filter_).rows]
    return ranking(run.rows(sql, params | {"limit": limit, "names": names}), PartMean)
