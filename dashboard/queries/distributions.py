"""How rewards and passes are distributed, for the charts. Everything is counted; large sets are put into bins."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dashboard.queries.cache import cached
from dashboard.queries.expressions import GRADED
from dashboard.queries.filter_sql import where
from dashboard.queries.ranking import Ranking, ranking
from dashboard.state import Filter
from dashboard.workspace import OpenRun

MODELS_DRAWN = 8
"""Models that a chart distinguishes."""
TASKS_DRAWN = 500
"""Up to this many tasks have a bar each; beyond it, tasks with the same pass rate share one."""
Counts = npt.NDArray[np.int64]
NO_MODEL = "no model named"
OTHER_MODELS = "other models"
_MODEL = f"coalesce(model, '{NO_MODEL}')"


class ModelCount(NamedTuple):
    model: str
    rollouts: int
    mean_reward: float | None


class TaskRate(NamedTuple):
    task_id: str
    graded: int
    passed: int


@cached
def models(run: OpenRun, filter_: Filter, limit: int = MODELS_DRAWN) -> Ranking[ModelCount]:
    """The models, the one with the most rollouts first."""
    condition, params = where(filter_)
    sql = f"""
        SELECT {_MODEL} AS name, count(*), avg(reward), count(*) OVER () FROM rollouts WHERE {condition}
        GROUP BY name ORDER BY count(*) DESC, name LIMIT $limit"""  # noqa: S608
    return ranking(run.rows(sql, params | {"limit": limit}), ModelCount)


@cached
def reward_values(run: OpenRun, filter_: Filter, by: str) -> list[tuple[float, str, int]]:
    """(reward, verdict or model, rollouts). More than 24 different rewards are put into 20 bins, named by their middle.

    Beyond `MODELS_DRAWN` models, the others count as one.
    """
    condition, params = where(filter_)
    column = "verdict"
    if by == "model":
        found = models(run, filter_)
        column = f"CASE WHEN list_contains($drawn, {_MODEL}) THEN {_MODEL} ELSE $others END"
        others = f"{found.total - MODELS_DRAWN:,} {OTHER_MODELS}"
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
        condition, params = f"{condition} AND {_MODEL} = $drawn", params | {"drawn": model}
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
