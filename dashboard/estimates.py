"""pass@k for the pages: from the counts of each task to `evaluator.metrics`, asked once a run and filter."""

from __future__ import annotations

from typing import NamedTuple

from dashboard.queries import distributions
from dashboard.queries.cache import cached
from dashboard.state import Filter
from dashboard.workspace import OpenRun
from evaluator.metrics import Interval, mean_over_tasks, pass_at_k_over_tasks
from evaluator.metrics import pass_at_k as task_pass_at_k


class Point(NamedTuple):
    """pass@k at one k, over the `tasks` that have k graded rollouts."""

    k: int
    tasks: int
    estimate: Interval


@cached
def pass_at_k(run: OpenRun, filter_: Filter, k: int) -> Interval:
    """Mean pass@k over the tasks that have k graded rollouts, with its 95% interval; n is 0 when none has."""
    n, c = distributions.solved(run, filter_)
    if k == 1:
        return pass_at_k_over_tasks(n, c, 1)
    enough = n >= k  # one kind of interval for all k beyond 1, so that the band does not jump where all tasks agree
    return mean_over_tasks(task_pass_at_k(n[enough], c[enough], k))


def curve(run: OpenRun, filter_: Filter) -> list[Point]:
    """pass@k for each k that at least half of the tasks have enough rollouts for."""
    n, _ = distributions.solved(run, filter_)
    tasks = {k: int((n >= k).sum()) for k in _ks(int(n.max(initial=0)))}
    return [Point(k, count, pass_at_k(run, filter_, k)) for k, count in tasks.items() if count * 2 >= n.size]


def fewer(run: OpenRun, filter_: Filter, k: int) -> int:
    """How many tasks have fewer than k graded rollouts."""
    n, _ = distributions.solved(run, filter_)
    return int((n < k).sum())


def _ks(most: int) -> list[int]:
    if most <= 16:
        return list(range(1, most + 1))
    powers = {2**i for i in range(most.bit_length())}
    return sorted(k for k in powers | {10, 100, most} if k <= most)
