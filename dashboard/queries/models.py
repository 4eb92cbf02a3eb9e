"""The models that sampled the rollouts, with their counts."""

from __future__ import annotations

from typing import Final, NamedTuple

from dashboard.queries.aggregates import VerdictCount
from dashboard.queries.cache import cached
from dashboard.queries.filter_sql import where
from dashboard.queries.ranking import Ranking, ranking
from dashboard.state import Filter
from dashboard.workspace import OpenRun
from evaluator.model import Verdict

NO_MODEL: Final = "no model named"
MODEL: Final = f"coalesce(model, '{NO_MODEL}')"
"""The model's name in SQL."""
DRAWN: Final = 8
"""Models that a chart distinguishes."""


class ModelCount(NamedTuple):
    model: str
    rollouts: int
    mean_reward: float | None


@cached
def models(run: OpenRun, filter_: Filter, limit: int = DRAWN) -> Ranking[ModelCount]:
    """The models, the one with the most rollouts first."""
    condition, params = where(filter_)
    sql = f"""
        SELECT {MODEL} AS name, count(*), avg(reward), count(*) OVER () FROM rollouts WHERE {condition}
        GROUP BY name ORDER BY count(*) DESC, name LIMIT $limit"""  # noqa: S608
    return ranking(run.rows(sql, params | {"limit": limit}), ModelCount)


@cached
def verdicts(run: OpenRun, filter_: Filter, limit: int) -> dict[str, list[VerdictCount]]:
    """For each of the first `limit` models its rollouts by verdict, in display order."""
    condition, params = where(filter_)
    names = [each.model for each in models(run, filter_, limit).rows]
    sql = f"""
        SELECT {MODEL} AS name, verdict, count(*) FROM rollouts
        WHERE {condition} AND list_contains($names, {MODEL}) GROUP BY name, verdict"""  # noqa: S608
    found = {(name, verdict): count for name, verdict, count in run.rows(sql, params | {"names": names})}
    return {
        name: [VerdictCount(v.value, found[name, v.value]) for v in Verdict if (name, v.value) in found]
        for name in names
    }
