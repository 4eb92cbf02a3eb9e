"""How rewards and passes are distributed, for the charts: over rollouts, tasks and groups, by training step and by the
completion's length. Everything is counted; large sets are put into bins.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from dashboard.queries.aggregates import MODEL, models
from dashboard.queries.expressions import GRADED, MOMENT
from dashboard.queries.query import Ranking, cached, inside, ranked, rows
from dashboard.state import Filter
from dashboard.workspace import OpenRun

TASKS_DRAWN = 500
"""Up to this many tasks have a bar each; beyond it, tasks with the same pass rate share one."""
Counts = npt.NDArray[np.int64]
PARTS_DRAWN = 12
SHORTEST_S = 0.001
"""Shorter times are counted with this one."""


class Spread(NamedTuple):
    """Groups with about the same pass rate and variance of rewards; the last three are of one of them."""

    rate: float
    variance: float
    groups: int
    task_id: str
    model: str | None
    step: int | None


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
def reward_values(run: OpenRun, filter_: Filter) -> list[tuple[float, str, int]]:
    """(reward, verdict, rollouts). More than 24 different rewards are put into 20 bins, named by their middle."""
    sql = """
        WITH f AS (SELECT reward, verdict AS part FROM inside WHERE reward IS NOT NULL),
             s AS (SELECT min(reward) AS lo, max(reward) AS hi, count(DISTINCT reward) AS kinds FROM f),
             b AS (SELECT *, (least(floor((reward / 2 - lo / 2) / (hi / 2 - lo / 2) * 20), 19) + 0.5) / 20 AS part_of
                   FROM f, s)
        SELECT CASE WHEN kinds <= 24 THEN reward ELSE lo * (1 - part_of) + hi * part_of END AS bin, part, count(*)
        FROM b GROUP BY bin, part ORDER BY bin, part"""  # halves, as the span of two doubles may overflow
    return rows(run, filter_, sql)


@cached
def reward_width(run: OpenRun, filter_: Filter) -> float:
    """The width of a bin of `reward_values`; 0 where every reward has its own bar."""
    sql = "SELECT count(DISTINCT reward), max(reward) / 20 - min(reward) / 20 FROM inside"
    kinds, width = rows(run, filter_, sql)[0]
    return width if kinds > 24 else 0.0


_OF_MODEL: Final = f"($drawn = '' OR {MODEL} = $drawn)"


@cached
def solved(run: OpenRun, filter_: Filter, model: str = "") -> tuple[Counts, Counts]:
    """Graded and passed rollouts of each task, ordered by task id, for pass@k. Both have shape (tasks,).

    `model`: one of `models`; "" for all of them.
    """
    sql = f"""SELECT count(*) AS n, count(*) FILTER (verdict = 'passed') AS c FROM inside
              WHERE {GRADED} AND {_OF_MODEL} GROUP BY task_id ORDER BY task_id"""  # noqa: S608
    whole, params = inside(filter_, sql)
    counted = run.connection.cursor().execute(whole, params | {"drawn": model}).fetchnumpy()
    return np.asarray(counted["n"]), np.asarray(counted["c"])


@cached
def task_rates(run: OpenRun, filter_: Filter, limit: int = TASKS_DRAWN) -> Ranking[TaskRate]:
    """The tasks with graded rollouts, the lowest pass rate first."""
    sql = f"""
        SELECT task_id, count(*) AS n, count(*) FILTER (verdict = 'passed') AS c, count(*) OVER () FROM inside
        WHERE {GRADED} GROUP BY task_id ORDER BY c / n, min("row") LIMIT $limit"""  # noqa: S608
    return ranked(run, filter_, sql, TaskRate, limit=limit)


@cached
def rate_counts(run: OpenRun, filter_: Filter) -> list[tuple[float, int]]:
    """(pass rate, tasks), the lowest first, in steps of 1%; 0 and 1 are steps of their own."""
    sql = f"""
        WITH t AS (SELECT count(*) AS n, count(*) FILTER (verdict = 'passed') AS c FROM inside
                   WHERE {GRADED} GROUP BY task_id)
        SELECT CASE WHEN c IN (0, n) THEN c / n ELSE least(greatest(round(c / n, 2), 0.01), 0.99) END AS rate, count(*)
        FROM t GROUP BY rate ORDER BY rate"""  # noqa: S608
    return rows(run, filter_, sql)


@cached
def task_rewards(run: OpenRun, filter_: Filter, model: str = "") -> npt.NDArray[np.float64]:
    """The mean reward of each task, ordered by task id, of shape (tasks,). `model` as for `solved`."""
    sql = f"""SELECT avg({MOMENT}) AS mean FROM inside WHERE {_OF_MODEL}
              GROUP BY task_id HAVING mean IS NOT NULL ORDER BY task_id"""  # noqa: S608
    return np.array([mean for (mean,) in rows(run, filter_, sql, drawn=model)], np.float64)


@cached
def spread(run: OpenRun, filter_: Filter) -> list[Spread]:
    """Pass rate and variance of the rewards of each group. Many groups are put into bins: 2%, and a fortieth."""
    sql = """
        WITH g AS (SELECT * FROM groups SEMI JOIN inside USING (group_id)),
             s AS (SELECT count(*) <= $drawn AS few, greatest(max(variance), 1e-9) / 40 AS height FROM g)
        SELECT CASE WHEN few OR rate IN (0, 1) THEN rate
                    ELSE greatest(least(round(rate * 50) / 50, 0.99), 0.01) END AS x,
               CASE WHEN few OR variance = 0 THEN round(variance, 9)
                    ELSE (floor(variance / height) + 0.5) * height END AS y,
               count(*), min(task_id), any_value(model), any_value(step)
        FROM g, s GROUP BY x, y ORDER BY x, y"""
    return [Spread(*row) for row in rows(run, filter_, sql, drawn=TASKS_DRAWN)]


@cached
def wall_times(run: OpenRun, filter_: Filter) -> list[WallTimes]:
    """Wall time of all test cases together, in ten bins for each power of ten from 1 ms on."""
    sql = f"""
        SELECT floor(log10(greatest(wall_s, {SHORTEST_S})) * 10 + 0.5)::INTEGER AS tenth, verdict, count(*)
        FROM inside WHERE wall_s IS NOT NULL GROUP BY tenth, verdict ORDER BY tenth, verdict"""  # noqa: S608
    return [WallTimes(*row) for row in rows(run, filter_, sql)]


@cached
def part_means(run: OpenRun, filter_: Filter, limit: int = PARTS_DRAWN) -> Ranking[PartMean]:
    """The mean of each part of the reward by model, for the parts that most rollouts have."""
    sql = f"""
        WITH f AS (SELECT "row", {MODEL} AS model FROM inside),
             p AS (SELECT name, count(*) AS n, count(*) OVER () AS total FROM parts SEMI JOIN f USING ("row")
                   GROUP BY name ORDER BY n DESC, name LIMIT $limit)
        SELECT name, f.model, count(parts.reward), avg(parts.reward), any_value(total)
        FROM parts JOIN f USING ("row") JOIN p USING (name) WHERE list_contains($names, f.model)
        GROUP BY name, f.model ORDER BY max(p.n) DESC, name, f.model"""  # noqa: S608
    names = [each.model for each in models(run, filter_).rows]
    return ranked(run, filter_, sql, PartMean, limit=limit, names=names)


@cached
def by_step(run: OpenRun, filter_: Filter) -> list[Means]:
    """In the order of the steps; empty if no rollout has one. A line per model if few models share steps."""
    sql = f"""
        WITH f AS (SELECT step, {MODEL} AS name FROM inside WHERE step IS NOT NULL),
             s AS (SELECT count(DISTINCT name) AS names FROM f GROUP BY step)
        SELECT (SELECT count(DISTINCT step) FROM f), (SELECT max(step) - min(step) + 1 FROM f),
               (SELECT count(DISTINCT name) FROM f), (SELECT max(names) FROM s)"""  # noqa: S608
    steps, span, names, together = rows(run, filter_, sql)[0]
    if not steps:
        return []
    width = 1 if steps <= _STEPS_DRAWN else -(-span // _STEPS_DRAWN)
    part = MODEL if together > 1 and names <= _MODELS_WITH_LINES else f"'{ALL}'"
    return _means(run, filter_, "step", "step // $width", part, width=width)


class Ending(NamedTuple):
    """The rollouts from one step to another that ended with a verdict."""

    low: int
    high: int
    verdict: str
    rollouts: int


@cached
def endings(run: OpenRun, filter_: Filter) -> list[Ending]:
    """How rollouts ended, in the order of the steps; empty if all are of one step, or have none."""
    lowest, highest, steps = rows(run, filter_, "SELECT min(step), max(step), count(DISTINCT step) FROM inside")[0]
    if steps < 2:
        return []
    width = 1 if steps <= _STEPS_DRAWN else -(-(highest - lowest + 1) // _STEPS_DRAWN)
    sql = """
        WITH s AS (SELECT step // $width AS place, min(step) AS low, max(step) AS high FROM inside
                   WHERE step IS NOT NULL GROUP BY place)
        SELECT low, high, verdict, count(*) FROM inside JOIN s ON step // $width = place
        GROUP BY ALL ORDER BY low, verdict"""
    return [Ending(*row) for row in rows(run, filter_, sql, width=width)]


@cached
def by_length(run: OpenRun, filter_: Filter) -> list[Means]:
    """By the completion's length in characters, two bins for each doubling."""
    place = f"floor(log2(greatest(length, 1)) * {_BINS_AN_OCTAVE})"
    return _means(run, filter_, "length", place, f"'{ALL}'")


def _means(run: OpenRun, filter_: Filter, column: str, place: str, part: str, **more: Any) -> list[Means]:
    """Means and deviations are over tasks: rollouts of one task are alike."""
    sql = f"""
        WITH t AS (SELECT {part} AS part, {place} AS place, min({column}) AS low, max({column}) AS high,
                          count(*) AS n, avg({MOMENT}) AS reward,
                          avg((verdict = 'passed')::INTEGER) FILTER ({GRADED}) AS rate
                   FROM inside WHERE {column} IS NOT NULL GROUP BY part, place, task_id)
        SELECT part, min(low), max(high), sum(n)::BIGINT, count(reward), avg(reward), stddev_samp(reward),
               count(rate), avg(rate), stddev_samp(rate)
        FROM t GROUP BY part, place ORDER BY part, place"""  # noqa: S608
    return [Means(*row) for row in rows(run, filter_, sql, **more)]
