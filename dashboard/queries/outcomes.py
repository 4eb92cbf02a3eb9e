"""What came of the rollouts: counts by verdict, groups without a signal, errors that look alike."""

from __future__ import annotations

from typing import NamedTuple

from dashboard.queries.cache import cached
from dashboard.queries.expressions import CLUSTER, GRADED, REASON
from dashboard.queries.filtering import where
from dashboard.queries.most import Most, most
from dashboard.state import UNVERIFIED, Filter
from dashboard.workspace import OpenRun
from evaluator.model import Verdict

LISTED = 1_000
"""Rows of a ranking that are listed; the pages say of how many."""


class VerdictCount(NamedTuple):
    verdict: str
    rollouts: int


class Totals(NamedTuple):
    """Counts over the filtered rollouts; `mean_reward` leaves out those without a reward."""

    rollouts: int
    tasks: int
    passed: int
    unknown: int
    sandbox_error: int
    unverified: int
    duplicates: int
    mean_reward: float | None
    rewarded: int
    samples_min: int
    samples_max: int
    wall_s: float
    disagreements: int
    mean_low: float | None
    """The mean with the disagreements that have no reward as 0; `mean_high`: as 1."""
    mean_high: float | None


class Signal(NamedTuple):
    """Groups with at least two rewards, and those whose rewards are all equal: no gradient comes from them."""

    groups: int
    flat: int
    """Groups whose rewards are all equal."""
    all_low: int
    """Those of them whose rewards are all 0 or less."""


class Cluster(NamedTuple):
    name: str
    verdict: str
    rollouts: int
    tasks: int


class FlagCount(NamedTuple):
    """Rollouts with a flag, or that are not verified; `name` is what the filter calls them."""

    name: str
    rollouts: int
    tasks: int


@cached
def verdict_counts(run: OpenRun, filter_: Filter) -> list[VerdictCount]:
    """Rollouts by verdict, in the order of the verdicts' display; verdicts that nothing has are left out."""
    condition, params = where(filter_)
    sql = f"SELECT verdict, count(*) FROM rollouts WHERE {condition} GROUP BY verdict"  # noqa: S608
    found = dict(run.rows(sql, params))
    return [VerdictCount(v.value, found[v.value]) for v in Verdict if v.value in found]


@cached
def totals(run: OpenRun, filter_: Filter) -> Totals:
    """The Overview's counts."""
    condition, params = where(filter_)
    sql = f"""
        WITH f AS (SELECT * EXCLUDE (code, completion), {GRADED} AND reward IS NULL AS open
                   FROM rollouts WHERE {condition}),
             t AS (SELECT count(*) AS n FROM f GROUP BY task_id)
        SELECT count(*), count(DISTINCT task_id), count(*) FILTER (verdict = 'passed'),
               count(*) FILTER (verdict = 'unknown'), count(*) FILTER (verdict = 'sandbox_error'),
               count(*) FILTER (NOT verified), count(duplicate_of), avg(reward), count(reward),
               coalesce((SELECT min(n) FROM t), 0), coalesce((SELECT max(n) FROM t), 0),
               coalesce(sum(wall_s), 0), count(disagreement),
               avg(coalesce(reward, 0)) FILTER (open OR reward IS NOT NULL),
               avg(coalesce(reward, 1)) FILTER (open OR reward IS NOT NULL)
        FROM f"""  # noqa: S608
    return Totals(*run.rows(sql, params)[0])


@cached
def signal(run: OpenRun, filter_: Filter) -> Signal:
    """How many groups of rollouts can teach nothing, because their rewards are all equal."""
    condition, params = where(filter_)
    sql = f"""
        WITH g AS (SELECT min(reward) AS lo, max(reward) AS hi FROM rollouts
                   WHERE {condition} GROUP BY coalesce("group", task_id) HAVING count(reward) >= 2)
        SELECT count(*), count(*) FILTER (lo = hi), count(*) FILTER (lo = hi AND hi <= 0) FROM g"""  # noqa: S608
    return Signal(*run.rows(sql, params)[0])


@cached
def clusters(run: OpenRun, filter_: Filter, limit: int = LISTED) -> Most[Cluster]:
    """Failures that look alike, the largest first."""
    condition, params = where(filter_)
    sql = f"""
        SELECT {CLUSTER} AS name, mode(verdict), count(*), count(DISTINCT task_id), count(*) OVER ()
        FROM rollouts WHERE {condition} AND verdict <> 'passed'
        GROUP BY name ORDER BY count(*) DESC, name LIMIT $limit"""  # noqa: S608
    return most(run.rows(sql, params | {"limit": limit}), Cluster)


@cached
def flag_counts(run: OpenRun, filter_: Filter) -> Most[FlagCount]:
    """Rollouts by flag, the most frequent first; those with none are left out."""
    condition, params = where(filter_)
    sql = f"""
        SELECT flag, count(*), count(DISTINCT task_id), count(*) OVER ()
        FROM (SELECT unnest(list_distinct(flags)) AS flag, task_id FROM rollouts WHERE {condition})
        GROUP BY flag ORDER BY count(*) DESC, flag LIMIT {LISTED}"""  # noqa: S608
    return most(run.rows(sql, params), FlagCount)


@cached
def unverified_count(run: OpenRun, filter_: Filter) -> int:
    """How many rollouts are not verified."""
    condition, params = where(filter_)
    return int(run.rows(f"SELECT count(*) FROM rollouts WHERE {condition} AND NOT verified", params)[0][0])  # noqa: S608


@cached
def unverified_reasons(run: OpenRun, filter_: Filter) -> Most[FlagCount]:
    """Rollouts that are not verified by the reason, the most frequent first."""
    condition, params = where(filter_)
    sql = f"""
        SELECT '{UNVERIFIED}: ' || {REASON} AS name, count(*), count(DISTINCT task_id),
               count(*) OVER ()
        FROM rollouts WHERE {condition} AND NOT verified
        GROUP BY name ORDER BY count(*) DESC, name LIMIT {LISTED}"""  # noqa: S608
    return most(run.rows(sql, params), FlagCount)


@cached
def missing_packages(run: OpenRun, filter_: Filter) -> Most[FlagCount]:
    """Rollouts by the module that they did not find, the most wanted first."""
    condition, params = where(filter_)
    sql = f"""
        SELECT 'missing_package: ' || flag_evidence[list_position(flags, 'missing_package')] AS name, count(*),
               count(DISTINCT task_id), count(*) OVER ()
        FROM rollouts WHERE {condition} AND list_contains(flags, 'missing_package')
        GROUP BY name ORDER BY count(*) DESC, name LIMIT {LISTED}"""  # noqa: S608
    return most(run.rows(sql, params), FlagCount)


@cached
def first_failure(run: OpenRun, filter_: Filter) -> tuple[str, str, int | None] | None:
    """(task, sample, test) of the first rollout in the filter that failed by its own fault."""
    condition, params = where(filter_)
    failed = sorted(Filter(verdicts=("failed",)).words())
    sql = f"""
        SELECT task_id, sample_id, first_failing_test FROM rollouts
        WHERE {condition} AND list_contains($failed, verdict) ORDER BY "row" LIMIT 1"""  # noqa: S608
    found = run.rows(sql, params | {"failed": failed})
    return found[0] if found else None
