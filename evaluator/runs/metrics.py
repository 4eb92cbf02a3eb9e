"""Figures about graded rollouts: pass@k, means with intervals, and differences between two sides.

Uses only NumPy. The caller leaves rollouts that could not be graded (`sandbox_error`, `unknown`) out of every n and
counts them separately: a missing grade is not a failure.
"""

from __future__ import annotations

import math
from typing import Final, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

_Z95: Final = 1.959963984540054
_RESAMPLES: Final = 2_000
_SEED: Final = 20_240_601
"""Fixed, so that the same grades always give the same interval."""
_DRAWS_AT_ONCE: Final = 2_000_000
_MANY_TASKS: Final = 1_000
"""With more tasks their mean is practically normal, and resampling them for many curves would take seconds."""


Method = Literal["bootstrap over tasks", "standard error over tasks", "Wilson", "none"]


class Interval(NamedTuple):
    """An estimate with its 95 % interval. Without data, `value` is NaN and `n` is 0."""

    value: float
    low: float
    high: float
    n: int
    """The number of tasks, or of rollouts if there is only one task."""
    method: Method


def pass_at_k(n: ArrayLike, c: ArrayLike, k: int) -> Floats:
    """The unbiased estimate 1 - C(n-c, k) / C(n, k) for each task.

    `n`: graded rollouts of each task, `c`: how many passed, both of shape (tasks,) or scalars. The result has the
    same shape, and NaN where n < k: there is no estimate from fewer than k rollouts.
    Raises `ValueError` when k < 1, or when some c is below 0 or above its n.
    Chen et al., "Evaluating Large Language Models Trained on Code", 2021, section 2.1.
    """
    if k < 1:
        raise ValueError(f"k must be at least 1, not {k}")
    total, passed = np.broadcast_arrays(np.asarray(n, np.int64), np.asarray(c, np.int64))
    if np.any(passed < 0) or np.any(passed > total):
        raise ValueError("c must be between 0 and n")
    enough = total >= k
    held = np.where(enough, total, k)  # where n < k the quotients below would divide by 0
    failed = held - np.where(enough, passed, 0)
    none_passes = np.ones(total.shape)
    for i in range(k):
        none_passes *= np.maximum(failed - i, 0) / (held - i)
    return np.where(enough, 1.0 - none_passes, np.nan)


def wilson(passed: float, total: int) -> Interval:
    """A proportion with its 95 % Wilson score interval, which is also right at 0 % and 100 %."""
    if total == 0:
        return _nothing()
    share = passed / total
    scale = 1 + _Z95**2 / total
    centre = (share + _Z95**2 / (2 * total)) / scale
    half = _Z95 * math.sqrt(share * (1 - share) / total + _Z95**2 / (4 * total**2)) / scale
    # At the ends the bounds are exactly 0 and 1; rounding would miss them slightly.
    low = 0.0 if passed == 0 else centre - half
    high = 1.0 if passed == total else centre + half
    return Interval(share, low, high, total, "Wilson")


def mean_over_tasks(values: ArrayLike) -> Interval:
    """The mean of one value per task with its 95 % interval; NaNs are left out.

    The interval is the percentile interval over resampled tasks, with a fixed seed: equal values in the same order
    give equal intervals. Above 1,000 tasks it is 1.96 standard errors to either side.
    """
    known = np.asarray(values, np.float64)
    known = known[~np.isnan(known)]
    return means_over_tasks(known[:, np.newaxis])[0] if known.size else _nothing()


def means_over_tasks(values: ArrayLike) -> list[Interval]:
    """`mean_over_tasks` of each column of values of shape (tasks, columns), without NaNs, as fast as for one column."""
    known = np.asarray(values, np.float64)
    n, means = known.shape[0], known.mean(axis=0)
    method: Method = "bootstrap over tasks"
    if n > _MANY_TASKS:
        half = _Z95 * known.std(axis=0, ddof=1) / math.sqrt(n)
        low, high, method = means - half, means + half, "standard error over tasks"
    else:
        low, high = np.quantile(_resampled(known), (0.025, 0.975), axis=0)
    triples = zip(means.tolist(), low.tolist(), high.tolist(), strict=True)
    return [Interval(*triple, n, method) for triple in triples]


def mean_interval(mean: float, deviation: float, n: int) -> Interval:
    """A mean of n values with its 95 % interval, 1.96 standard errors to either side; NaN bounds for a single value.

    `deviation` is the values' sample standard deviation. For counts made in SQL, where the values themselves are not
    at hand. Altman and Bland, "Standard deviations and standard errors", BMJ 331:903, 2005.
    """
    half = _Z95 * deviation / math.sqrt(n) if n > 1 else math.nan
    return Interval(mean, mean - half, mean + half, n, "standard error over tasks")


def _resampled(known: Floats) -> Floats:
    """The means of the columns in each resample of the tasks, of shape (resamples, columns)."""
    n = known.shape[0]
    random = np.random.default_rng(_SEED)
    at_once = max(1, _DRAWS_AT_ONCE // n)
    means = []
    for start in range(0, _RESAMPLES, at_once):
        size = min(at_once, _RESAMPLES - start)
        drawn = random.integers(0, n, (size, n)) + np.arange(size)[:, np.newaxis] * n
        times = np.bincount(drawn.ravel(), minlength=size * n).reshape(size, n)  # each task in each resample
        means.append(times @ known / n)
    return np.concatenate(means)


def pass_at_k_over_tasks(n: ArrayLike, c: ArrayLike, k: int = 1) -> Interval:
    """Mean pass@k over tasks with a 95 % interval; `n` and `c` are of shape (tasks,).

    Every task has the same weight; tasks with fewer than k graded rollouts are left out. Rollouts of one task are
    alike, so tasks are resampled. Where resampling does not help (one rollout per task, or all tasks alike) the
    interval is Wilson's over the tasks; for a single task, over its rollouts.
    """
    total, passed = np.atleast_1d(np.asarray(n, np.int64)), np.atleast_1d(np.asarray(c, np.int64))
    enough = total >= k
    total, passed = total[enough], passed[enough]
    if total.size == 0:
        return _nothing()
    if total.size == 1 and k == 1:
        return wilson(int(passed[0]), int(total[0]))
    values = pass_at_k(total, passed, k)
    if total.size > 1 and (np.ptp(values) == 0 or np.all(total == 1)):
        return wilson(float(values.sum()), int(total.size))
    return mean_over_tasks(values)


def paired_difference(a: ArrayLike, b: ArrayLike) -> Interval:
    """Mean of b - a over tasks with its 95 % interval; `a` and `b` are of shape (tasks,), a value per task each.

    The pairs are resampled, so what is hard in a task for both sides cancels out. Otherwise as `mean_over_tasks`.
    """
    return mean_over_tasks(np.asarray(b, np.float64) - np.asarray(a, np.float64))


def mcnemar(fixed: int, broken: int) -> float:
    """The two-sided p of the exact McNemar test, for tasks with one outcome on each side.

    `fixed`: tasks that fail on the first side and pass on the second, `broken`: the reverse. Tasks with the same
    outcome on both sides say nothing about the difference. If only chance decides, a changed task is
    as likely fixed as broken.
    """
    changed = fixed + broken
    logs = np.concatenate(([0.0], np.cumsum(np.log(np.arange(1, changed + 1)))))  # of factorials
    k = np.arange(min(fixed, broken) + 1)
    terms = logs[changed] - logs[k] - logs[changed - k] - changed * math.log(2)
    return min(1.0, 2 * float(np.exp(terms).sum()))


def known(value: float) -> float | None:
    """The figure; None for NaN."""
    return None if math.isnan(value) else value


def _nothing() -> Interval:
    return Interval(math.nan, math.nan, math.nan, 0, "none")
