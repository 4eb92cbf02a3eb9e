"""Counts over the filtered rollouts: by verdict, flag and reason, similar errors, groups without a signal."""

from __future__ import annotations

from typing import NamedTuple

from dashboard.queries.cache import cached
from dashboard.queries.expressions import GRADED, REASON
from dashboard.queries.filter_sql import where
from dashboard.queries.ranking import Ranking, ranking
from dashboard.state import UNVERIFIED, Filter
from dashboard.workspace import OpenRun, Params
from evaluator.model import Verdict

LISTED = 1_000
"""Rows of a ranking that are listed; the pages also show how many there are."""


class VerdictCount(NamedTuple):
    verdict: str
    rollouts: int


class Totals(NamedTuple):
    """Counts over the filtered rollouts; `mean_reward` leaves out those without a reward."""

    rollouts: int
    tasks: int
    unknown: int
    sandbox_error: int
    unverified: int
    mean_reward: float | None
    rewarded: int
    samples_min: int
    samples_max: int
    disagreements: int
    mean_low: float | None
    """The mean if each disagreement without a reward counts as 0; `mean_high`: as 1."""
    mean_high: float | None


class Signal(NamedTuple):
    """Groups with at least two rewards. Where all are equal, the group gives no gradient."""

    groups: int
    flat: int
    """Groups whose rewards are all equal."""
    all_fail: int
    """Those of them in which no rollout passed."""
    all_pass: int


class FlatGroup(NamedTuple):
    """A group whose rewards are all equal."""

    task_id: str
    group: str | None
    rollouts: int


class Cluster(NamedTuple):
    name: str
    verdict: str
    rollouts: int
    tasks: int


class FlagCount(NamedTuple):
    """Rollouts with a flag, or not verified; `name` is their word in the filter."""

    name: str
    rollouts: int
    tasks: int


@cached
def verdict_counts(run: OpenRun, filter_: Filter) -> list[VerdictCount]:
    """Rollouts by verdict, in display order, without the verdicts that none has."""
    condition, params = where(filter_)
    sql = f"SELECT verdict, count(*) FROM rollouts WHERE {condition} GROUP BY verdict"  # noqa: S608
    found = dict(run.rows(sql, params))
    return [VerdictCount(v.value, found[v.value]) for v in Verdict if v.value in found]


@cached
def totals(run: OpenRun, filter_: Filter) -> Totals:
    """The Overview's counts."""
    condition, params = where(filter_)
    sql = f"""
        WITH f AS (SELECT *, {GRADED} AND reward IS NULL AS open
                   FROM rollouts WHERE {condition}),
             t AS (SELECT count(*) AS n FROM f GROUP BY task_id)
        SELECT count(*), count(DISTINCT task_id),
               count(*) FILTER (verdict = 'unknown'), count(*) FILTER (verdict = 'sandbox_error'),
               count(*) FILTER (NOT verified), avg(reward), count(reward),
               coalesce((SELECT min(n) FROM t), 0), coalesce((SELECT max(n) FROM t), 0), count(disagreement),
               avg(coalesce(reward, 0)) FILTER (open OR reward IS NOT NULL),
               avg(coalesce(reward, 1)) FILTER (open OR reward IS NOT NULL)
        FROM f"""  # noqa: S608
    return Totals(*run.rows(sql, params)[0])


_GROUPS = """
    SELECT min(task_id) AS task_id, any_value("group") AS "group", count(*) AS rollouts, min("row") AS first,
           min(reward) = max(reward) AS flat,
           CASE WHEN bool_and(verdict = 'passed') THEN 'pass' WHEN NOT bool_or(verdict = 'passed') THEN 'fail'
                ELSE 'mixed' END AS ended
    FROM rollouts WHERE {condition} AND reward IS NOT NULL GROUP BY coalesce("group", task_id) HAVING count(*) >= 2"""


@cached
def signal(run: OpenRun, filter_: Filter) -> Signal:
    """How many groups of rollouts teach nothing, because their rewards are all equal."""
    condition, params = where(filter_)
    sql = f"""
        WITH g AS ({_GROUPS.format(condition=condition)})
        SELECT count(*), count(*) FILTER (flat), count(*) FILTER (flat AND ended = 'fail'),
               count(*) FILTER (flat AND ended = 'pass') FROM g"""  # noqa: S608
    return Signal(*run.rows(sql, params)[0])


@cached
def flat_groups(run: OpenRun, filter_: Filter, ended: str, limit: int) -> Ranking[FlatGroup]:
    """The groups whose rewards are all equal: `ended` is `fail`, `pass` or `mixed`. In the order of the file."""
    condition, params = where(filter_)
    sql = f"""
        WITH g AS ({_GROUPS.format(condition=condition)})
        SELECT task_id, "group", rollouts, count(*) OVER () FROM g WHERE flat AND ended = $ended
        ORDER BY first LIMIT $limit"""  # noqa: S608
    return ranking(run.rows(sql, params | {"ended": ended, "limit": limit}), FlatGroup)


@cached
def clusters(run: OpenRun, filter_: Filter, limit: int = LISTED) -> Ranking[Cluster]:
    """Similar failures, the largest cluster first."""
    condition, params = where(filter_)
    sql = f"""
        SELECT err AS name, mode(verdict), count(*), count(DISTINCT task_id), count(*) OVER ()
        FROM rollouts WHERE {condition} AND verdict <> 'passed'
        GROUP BY name ORDER BY count(*) DESC, name LIMIT $limit"""  # noqa: S608
    return ranking(run.rows(sql, params | {"limit": limit}), Cluster)


@cached
def flag_counts(run: OpenRun, filter_: Filter) -> Ranking[FlagCount]:
    """Rollouts by flag, the most frequent first."""
    condition, params = where(filter_)
    rows = f"SELECT unnest(list_distinct(flags)) AS name, task_id FROM rollouts WHERE {condition}"  # noqa: S608
    return _by_name(run, rows, params)


@cached
def unverified_count(run: OpenRun, filter_: Filter) -> int:
    """How many rollouts are not verified."""
    condition, params = where(filter_)
    return int(run.rows(f"SELECT count(*) FROM rollouts WHERE {condition} AND NOT verified", params)[0][0])  # noqa: S608


@cached
def unverified_reasons(run: OpenRun, filter_: Filter) -> Ranking[FlagCount]:
    """Unverified rollouts by reason, the most frequent first."""
    condition, params = where(filter_)
    rows = f"SELECT '{UNVERIFIED}: ' || {REASON} AS name, task_id FROM rollouts WHERE {condition} AND NOT verified"  # noqa: S608
    return _by_name(run, rows, params)


@cached
def missing_packages(run: OpenRun, filter_: Filter) -> Ranking[FlagCount]:
    """Rollouts by the package that they did not find, the most frequent first."""
    condition, params = where(filter_)
    rows = f"""
        SELECT 'missing_package: ' || flag_evidence[list_position(flags, 'missing_package')] AS name, task_id
        FROM rollouts WHERE {condition} AND list_contains(flags, 'missing_package')"""  # noqa: S608
    return _by_name(run, rows, params)


def _by_name(run: OpenRun, rows: str, params: Params) -> Ranking[FlagCount]:
    sql = f"""SELECT name, count(*), count(DISTINCT task_id), count(*) OVER () FROM ({rows})
              GROUP BY name ORDER BY count(*) DESC, name LIMIT {LISTED}"""  # noqa: S608
    return ranking(run.rows(sql, params), FlagCount)


@cached
def first_failure(run: OpenRun, filter_: Filter) -> tuple[str, str, int | None] | None:
    """(task, sample, test) of the first rollout in the filter whose failure is its own fault."""
    condition, params = where(filter_)
    failed = sorted(Filter(verdicts=("failed",)).words())
    sql = f"""
        SELECT task_id, sample_id, first_failing_test FROM rollouts
        WHERE {condition} AND list_contains($failed, verdict) ORDER BY "row" LIMIT 1"""  # noqa: S608
    found = run.rows(sql, params | {"failed": failed})
    return found[0] if found else None
