"""Counts over the filtered rollouts: by verdict, model, flag and reason, similar errors, groups without a signal."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from dashboard.queries.expressions import GRADED, REASON
from dashboard.queries.query import Ranking, cached, number, ranked, rows
from dashboard.state import UNVERIFIED, Filter
from dashboard.workspace import OpenRun
from evaluator.model import Verdict

LISTED: Final = 1_000
"""Rows of a ranking that are listed; the pages also show how many there are."""
NO_MODEL: Final = "no model named"
MODEL: Final = f"coalesce(model, '{NO_MODEL}')"
"""The model's name in SQL."""
DRAWN: Final = 8
"""Models that a chart distinguishes."""


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
    model: str | None
    step: int | None
    group: str | None


class Cluster(NamedTuple):
    name: str
    verdict: str
    rollouts: int
    tasks: int
    behaviours: int
    """How many differ by what they answer to some test case."""


class FlagCount(NamedTuple):
    """Rollouts with a flag, or not verified; `name` is their word in the filter."""

    name: str
    rollouts: int
    tasks: int


class ModelCount(NamedTuple):
    model: str
    rollouts: int
    mean_reward: float | None


class RecordedCounts(NamedTuple):
    """How many rollouts came with a grade, and what made it."""

    rollouts: int
    graded: int
    by: list[str]
    """The graders that the rollouts name, the most frequent first."""


@cached
def verdict_counts(run: OpenRun, filter_: Filter) -> list[VerdictCount]:
    """Rollouts by verdict, in display order, without the verdicts that none has."""
    return _in_order(rows(run, filter_, "SELECT verdict, count(*) FROM inside GROUP BY verdict"))


def _in_order(counts: Iterable[tuple[str, int]]) -> list[VerdictCount]:
    found = dict(counts)
    return [VerdictCount(v.value, found[v.value]) for v in Verdict if v.value in found]


@cached
def totals(run: OpenRun, filter_: Filter) -> Totals:
    """The Overview's counts."""
    sql = f"""
        WITH f AS (SELECT *, {GRADED} AND reward IS NULL AS open FROM inside),
             t AS (SELECT count(*) AS n FROM inside GROUP BY task_id)
        SELECT count(*), count(DISTINCT task_id),
               count(*) FILTER (verdict = 'unknown'), count(*) FILTER (verdict = 'sandbox_error'),
               count(*) FILTER (NOT verified), avg(reward), count(reward),
               coalesce((SELECT min(n) FROM t), 0), coalesce((SELECT max(n) FROM t), 0), count(disagreement),
               avg(coalesce(reward, 0)) FILTER (open OR reward IS NOT NULL),
               avg(coalesce(reward, 1)) FILTER (open OR reward IS NOT NULL)
        FROM f"""  # noqa: S608
    return Totals(*rows(run, filter_, sql)[0])


_GROUPS: Final = "WITH g AS (SELECT * FROM groups SEMI JOIN inside USING (group_id))"


@cached
def signal(run: OpenRun, filter_: Filter) -> Signal:
    """How many groups of rollouts teach nothing, because their rewards are all equal.

    A group counts as a whole if the filter lets one of its rollouts through.
    """
    sql = f"""{_GROUPS}
        SELECT count(*), count(*) FILTER (flat), count(*) FILTER (flat AND ended = 'fail'),
               count(*) FILTER (flat AND ended = 'pass') FROM g"""  # noqa: S608
    return Signal(*rows(run, filter_, sql)[0])


@cached
def flat_groups(run: OpenRun, filter_: Filter, ended: str, limit: int) -> Ranking[FlatGroup]:
    """The groups whose rewards are all equal: `ended` is `fail`, `pass` or `mixed`. In the order of the file."""
    sql = f"""{_GROUPS}
        SELECT task_id, model, step, "group", count(*) OVER () FROM g WHERE flat AND ended = $ended
        ORDER BY first LIMIT $limit"""  # noqa: S608
    return ranked(run, filter_, sql, FlatGroup, ended=ended, limit=limit)


@cached
def clusters(run: OpenRun, filter_: Filter, limit: int = LISTED) -> Ranking[Cluster]:
    """Similar failures, the largest cluster first."""
    sql = """
        SELECT err AS name, mode(verdict), count(*), count(DISTINCT task_id), count(DISTINCT behaviour),
               count(*) OVER ()
        FROM inside WHERE verdict <> 'passed'
        GROUP BY name ORDER BY count(*) DESC, name LIMIT $limit"""
    return ranked(run, filter_, sql, Cluster, limit=limit)


@cached
def flag_counts(run: OpenRun, filter_: Filter) -> Ranking[FlagCount]:
    """Rollouts by flag, the most frequent first."""
    return _by_name(run, filter_, "SELECT unnest(list_distinct(flags)) AS name, task_id FROM inside")


@cached
def unverified_count(run: OpenRun, filter_: Filter) -> int:
    """How many rollouts are not verified."""
    return number(run, filter_, "count(*) FILTER (NOT verified)")


@cached
def unverified_reasons(run: OpenRun, filter_: Filter) -> Ranking[FlagCount]:
    """Unverified rollouts by reason, the most frequent first."""
    sql = f"SELECT '{UNVERIFIED}: ' || {REASON} AS name, task_id FROM inside WHERE NOT verified"  # noqa: S608
    return _by_name(run, filter_, sql)


@cached
def missing_packages(run: OpenRun, filter_: Filter) -> Ranking[FlagCount]:
    """Rollouts by the package that they did not find, the most frequent first."""
    sql = """SELECT 'missing_package: ' || flag_evidence[list_position(flags, 'missing_package')] AS name, task_id
             FROM inside WHERE list_contains(flags, 'missing_package')"""
    return _by_name(run, filter_, sql)


def _by_name(run: OpenRun, filter_: Filter, names: str) -> Ranking[FlagCount]:
    sql = f"""SELECT name, count(*), count(DISTINCT task_id), count(*) OVER () FROM ({names})
              GROUP BY name ORDER BY count(*) DESC, name LIMIT {LISTED}"""  # noqa: S608
    return ranked(run, filter_, sql, FlagCount)


@cached
def first_failure(run: OpenRun, filter_: Filter) -> tuple[str, str, int | None] | None:
    """(task, sample, test) of the first rollout in the filter whose failure is its own fault."""
    sql = """SELECT task_id, sample_id, first_failing_test FROM inside WHERE list_contains($failed, verdict)
             ORDER BY "row" LIMIT 1"""
    found = rows(run, filter_, sql, failed=sorted(Filter(verdicts=("failed",)).words()))
    return found[0] if found else None


@cached
def models(run: OpenRun, filter_: Filter, limit: int = DRAWN) -> Ranking[ModelCount]:
    """The models, the one with the most rollouts first."""
    sql = f"""SELECT {MODEL} AS name, count(*), avg(reward), count(*) OVER () FROM inside
              GROUP BY name ORDER BY count(*) DESC, name LIMIT $limit"""  # noqa: S608
    return ranked(run, filter_, sql, ModelCount, limit=limit)


@cached
def verdicts_of_models(run: OpenRun, filter_: Filter, limit: int) -> dict[str, list[VerdictCount]]:
    """For each of the first `limit` models its rollouts by verdict, in display order."""
    names = [each.model for each in models(run, filter_, limit).rows]
    sql = f"""SELECT {MODEL} AS name, verdict, count(*) FROM inside
              WHERE list_contains($names, {MODEL}) GROUP BY name, verdict"""  # noqa: S608
    found = rows(run, filter_, sql, names=names)
    return {name: _in_order((verdict, n) for of, verdict, n in found if of == name) for name in names}


@cached
def recorded_counts(run: OpenRun) -> RecordedCounts:
    """Of rollouts that are not graded here."""
    [(rollouts, graded)] = run.rows("SELECT count(*), count(*) FILTER (verdict <> 'unknown') FROM rollouts")
    sql = """SELECT recorded_by FROM rollouts WHERE recorded_by IS NOT NULL
             GROUP BY recorded_by ORDER BY count(*) DESC, recorded_by LIMIT 3"""
    return RecordedCounts(rollouts, graded, [by for (by,) in run.rows(sql)])
