"""How rewards and passes are spread: what the charts are drawn from."""

from __future__ import annotations

import numpy as np

from dashboard.queries.cache import cached
from dashboard.queries.expressions import GRADED
from dashboard.queries.filtering import where
from dashboard.state import Filter
from dashboard.workspace import OpenRun


@cached
def reward_values(run: OpenRun, filter_: Filter, by: str) -> list[tuple[float, str, int]]:
    """(reward, verdict or model, rollouts). More than 24 different rewards are put into 20 bins by their middle."""
    column = {"verdict": "verdict", "model": "coalesce(model, 'no model named')"}[by]
    condition, params = where(filter_)
    sql = f"""
        WITH f AS (SELECT reward, {column} AS part FROM rollouts WHERE {condition} AND reward IS NOT NULL),
             s AS (SELECT min(reward) AS lo, max(reward) AS hi, count(DISTINCT reward) AS kinds FROM f)
        SELECT CASE WHEN kinds <= 24 THEN reward
                    ELSE lo + (least(floor((reward - lo) / (hi - lo) * 20), 19) + 0.5) * (hi - lo) / 20 END AS bin,
               part, count(*) FROM f, s GROUP BY bin, part ORDER BY bin, part"""  # noqa: S608
    return run.rows(sql, params)


@cached
def reward_width(run: OpenRun, filter_: Filter) -> float:
    """The width of a bin of `reward_values`; 0 where every reward has a bar of its own."""
    condition, params = where(filter_)
    sql = f"SELECT count(DISTINCT reward), max(reward) - min(reward) FROM rollouts WHERE {condition}"  # noqa: S608
    kinds, span = run.rows(sql, params)[0]
    return span / 20 if kinds > 24 else 0.0


@cached
def solved(run: OpenRun, filter_: Filter) -> tuple[np.ndarray, np.ndarray]:
    """Graded and passed rollouts of each task, by task id: all that pass@k needs. Both of shape (tasks,)."""
    condition, params = where(filter_)
    sql = f"""
        SELECT count(*) AS n, count(*) FILTER (verdict = 'passed') AS c FROM rollouts
        WHERE {condition} AND {GRADED} GROUP BY task_id ORDER BY task_id"""  # noqa: S608
    counted = run.connection.cursor().execute(sql, params).fetchnumpy()
    return np.asarray(counted["n"]), np.asarray(counted["c"])


@cached
def task_rates(run: OpenRun, filter_: Filter, limit: int = 2000) -> list[tuple[str, int, int]]:
    """(task, graded, passed), the lowest pass rate first."""
    condition, params = where(filter_)
    sql = f"""
        SELECT task_id, count(*) AS n, count(*) FILTER (verdict = 'passed') AS c FROM rollouts
        WHERE {condition} AND {GRADED} GROUP BY task_id ORDER BY c / n, min("row") LIMIT $limit"""  # noqa: S608
    return run.rows(sql, params | {"limit": limit})
