"""pass@k for the pages: each task's counts go to `evaluator.runs.metrics`, once per run and filter."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np

from dashboard.queries import aggregates, distributions
from dashboard.queries.distributions import Means
from dashboard.queries.query import Ranking, cached
from dashboard.state import Filter
from dashboard.workspace import OpenRun
from evaluator.runs.metrics import (
    Interval,
    mean_interval,
    mean_over_tasks,
    means_over_tasks,
    pass_at_k_over_tasks,
    wilson,
)
from evaluator.runs.metrics import pass_at_k as task_pass_at_k


class Point(NamedTuple):
    """pass@k at one k, over the `tasks` that have k graded rollouts."""

    k: int
    tasks: int
    estimate: Interval


class Curve(NamedTuple):
    """pass@k of one model, for each k for which at least half of its tasks have enough rollouts."""

    model: str
    points: list[Point]
    fewer: int
    """Tasks with fewer rollouts than the last k."""


@cached
def pass_at_1(run: OpenRun, filter_: Filter, model: str = "") -> Interval:
    """Mean pass@1 over the tasks, with its 95% interval; n is 0 where nothing was graded.

    `model`: only its rollouts; "" for all rollouts.
    """
    n, c = distributions.solved(run, filter_, model)
    return pass_at_k_over_tasks(n, c, 1)


@cached
def mean_reward(run: OpenRun, filter_: Filter, model: str) -> Interval:
    """The mean over the tasks of their mean reward, with its 95% interval."""
    return mean_over_tasks(distributions.task_rewards(run, filter_, model))


def step_rate(point: Means) -> Interval:
    """The pass rate of a step or a length, over tasks. Where all tasks are alike the interval is Wilson's."""
    rate, deviation = point.rate or 0.0, point.rate_deviation
    if not deviation:
        return wilson(rate * point.graded_tasks, point.graded_tasks)
    return mean_interval(rate, deviation, point.graded_tasks)


def step_reward(point: Means) -> Interval:
    """The mean reward of a step or a length, over tasks."""
    return mean_interval(point.reward or 0.0, point.reward_deviation or 0.0, point.tasks)


def curves(run: OpenRun, filter_: Filter) -> Ranking[Curve]:
    """One curve per model with graded rollouts, the one with the most rollouts first. Samples of several models
    are not samples of one policy."""
    found = aggregates.models(run, filter_)
    drawn = [_curve(run, filter_, each.model) for each in found.rows]
    return Ranking([each for each in drawn if each.points], found.total - sum(not each.points for each in drawn))


@cached
def _curve(run: OpenRun, filter_: Filter, model: str) -> Curve:
    n, c = distributions.solved(run, filter_, model)
    tasks = {k: int((n >= k).sum()) for k in _ks(int(n.max(initial=0)))}
    drawn = {k: count for k, count in tasks.items() if count * 2 >= n.size}
    points = []
    for count, group in itertools.groupby(drawn, key=drawn.__getitem__):  # ks with the same tasks
        ks = list(group)
        enough = n >= ks[0]
        values = np.stack([task_pass_at_k(n[enough], c[enough], k) for k in ks], axis=1)
        points += [Point(k, count, each) for k, each in zip(ks, means_over_tasks(values), strict=True)]
    if points:  # k > 1 share one kind of interval, so that the band does not jump where all tasks agree
        points[0] = points[0]._replace(estimate=pass_at_1(run, filter_, model))
    return Curve(model, points, int((n < points[-1].k).sum()) if points else 0)


def _ks(most: int) -> list[int]:
    powers = {2**i for i in range(most.bit_length())}
    return sorted(k for k in powers | {10, 100, most} if 1 <= k <= most)
