"""Figures about graded rollouts: pass@k, means with intervals, error clusters, the signal of groups.

NumPy alone. Rollouts that could not be graded (`sandbox_error`, `unknown`) are left out of every n by the
caller and counted apart: a grade that could not be made is not a failure.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable
from typing import Final, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

_Z95: Final = 1.959963984540054
_RESAMPLES: Final = 2_000
_SEED: Final = 20_240_601
"""Fixed, so that the same grades always give the same interval."""
_DRAWS_AT_ONCE: Final = 2_000_000
_MANY_TASKS: Final = 5_000
"""Beyond, the mean of tasks is normal for all purposes, and resampling them would take seconds."""


Method = Literal["bootstrap over tasks", "standard error over tasks", "Wilson", "none"]


class Interval(NamedTuple):
    """An estimate with its 95 % interval. Of nothing: `value` is NaN and `n` is 0."""

    value: float
    low: float
    high: float
    n: int
    """What was resampled or counted: tasks, or rollouts where there is one task."""
    method: Method


class Cluster(NamedTuple):
    """Failures that say the same but for numbers, quoted text and addresses."""

    verdict: str
    error_type: str | None
    message: str
    """The normalised message."""
    n: int
    task_id: str
    sample_id: str
    """An example: the first that was seen."""


class GroupSignal(NamedTuple):
    """How many groups of two or more rollouts can teach an RL step something."""

    groups: int
    all_pass: int
    all_fail: int
    zero_variance: int
    """Groups whose rewards are all equal; it holds those that all pass and all fail."""

    @property
    def dead_share(self) -> float:
        """Share of zero-variance groups, 0 to 1; NaN without groups."""
        return self.zero_variance / self.groups if self.groups else math.nan


def pass_at_k(n: ArrayLike, c: ArrayLike, k: int) -> Floats:
    """The unbiased estimate 1 - C(n-c, k) / C(n, k) for each task.

    `n`: graded rollouts of each task, `c`: those that passed, both of shape (tasks,) or scalars. The result
    has the same shape, and NaN where n < k: no estimate can be had from fewer than k rollouts.
    Raises `ValueError` when k < 1, or when some c is below 0 or above its n.
    Chen et al., "Evaluating Large Language Models Trained on Code", 2021, section 2.1.
    """
    if k < 1:
        raise ValueError(f"k is {k}: give 1 or more")
    total, passed = np.broadcast_arrays(np.asarray(n, np.int64), np.asarray(c, np.int64))
    if np.any(passed < 0) or np.any(passed > total):
        raise ValueError("c must lie between 0 and n")
    enough = total >= k
    held = np.where(enough, total, k)  # where n < k the quotients below would divide by 0
    failed = held - np.where(enough, passed, 0)
    none_passes = np.ones(total.shape)
    for i in range(k):
        none_passes *= np.maximum(failed - i, 0) / (held - i)
    return np.where(enough, 1.0 - none_passes, np.nan)


def wilson(passed: float, total: int) -> Interval:
    """A proportion with its 95 % Wilson score interval, which is right at 0 % and 100 % too."""
    if total == 0:
        return _nothing()
    share = passed / total
    scale = 1 + _Z95**2 / total
    centre = (share + _Z95**2 / (2 * total)) / scale
    half = _Z95 * math.sqrt(share * (1 - share) / total + _Z95**2 / (4 * total**2)) / scale
    # The bounds are exactly 0 and 1 at the ends, where rounding would leave a hair.
    low = 0.0 if passed == 0 else centre - half
    high = 1.0 if passed == total else centre + half
    return Interval(share, low, high, total, "Wilson")


def mean_over_tasks(values: ArrayLike) -> Interval:
    """The mean of one value a task with its 95 % interval; NaNs are left out.

    The interval is the percentile interval over resampled tasks, with a fixed seed: equal values in equal
    order give equal intervals. Beyond 5,000 tasks it is 1.96 standard errors to either side.
    """
    known = np.asarray(values, np.float64)
    known = known[~np.isnan(known)]
    return means_over_tasks(known[:, np.newaxis])[0] if known.size else _nothing()


def means_over_tasks(values: ArrayLike) -> list[Interval]:
    """`mean_over_tasks` of each column of values of shape (tasks, columns), without NaNs, in the time of one."""
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


def _resampled(known: Floats) -> Floats:
    """The means of the columns in each resample of the tasks, of shape (resamples, columns)."""
    n = known.shape[0]
    random = np.random.default_rng(_SEED)
    at_once = max(1, _DRAWS_AT_ONCE // n)
    found = []
    for start in range(0, _RESAMPLES, at_once):
        size = min(at_once, _RESAMPLES - start)
        drawn = random.integers(0, n, (size, n)) + np.arange(size)[:, np.newaxis] * n
        times = np.bincount(drawn.ravel(), minlength=size * n).reshape(size, n)  # each task in each resample
        found.append(times @ known / n)
    return np.concatenate(found)


def pass_at_k_over_tasks(n: ArrayLike, c: ArrayLike, k: int = 1) -> Interval:
    """Mean pass@k over tasks with a 95 % interval; `n` and `c` are of shape (tasks,).

    Every task weighs the same; tasks with fewer than k graded rollouts are left out. Rollouts of one task
    are alike, so tasks are what is resampled. Where resampling can't tell (one rollout a task, or every task
    alike) the interval is Wilson's over the tasks; of a single task, over its rollouts.
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


_ADDRESS: Final = re.compile(r"0x[0-9a-fA-F]+")
_QUOTED: Final = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`")
_NUMBER: Final = re.compile(r"(?<![A-Za-z_])[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_CLUSTER_CHARACTERS: Final = 400


def normalise_message(message: str) -> str:
    """A message less what differs between failures of one sort: addresses, quoted text and numbers."""
    text = message[:_CLUSTER_CHARACTERS].strip()
    for pattern, stand_in in ((_ADDRESS, "<address>"), (_QUOTED, "<text>"), (_NUMBER, "<number>")):
        text = pattern.sub(stand_in, text)
    return " ".join(text.split())


def error_clusters(
    failures: Iterable[tuple[str, str | None, str | None, str, str]], limit: int | None = None
) -> list[Cluster]:
    """Failures counted by (verdict, error type, normalised message), the most frequent first.

    `failures` are (verdict, error_type, error_message, task_id, sample_id); ties stay in their order.
    """
    counts: Counter[tuple[str, str | None, str]] = Counter()
    examples: dict[tuple[str, str | None, str], tuple[str, str]] = {}
    for verdict, error_type, message, task_id, sample_id in failures:
        key = (verdict, error_type, normalise_message(message or ""))
        counts[key] += 1
        examples.setdefault(key, (task_id, sample_id))
    return [Cluster(*key, count, *examples[key]) for key, count in counts.most_common(limit)]


def group_signal(
    n: ArrayLike, c: ArrayLike, lowest: ArrayLike | None = None, highest: ArrayLike | None = None
) -> GroupSignal:
    """How many groups carry no signal; all arguments have shape (groups,).

    `n`: graded rollouts of each group, `c`: those that passed, `lowest` and `highest`: the extremes of its
    rewards, where rewards are not just passed or not. Groups of fewer than two rollouts are left out.
    """
    total, passed = np.atleast_1d(np.asarray(n, np.int64)), np.atleast_1d(np.asarray(c, np.int64))
    real = total >= 2
    all_pass, all_fail = real & (passed == total), real & (passed == 0)
    if lowest is None or highest is None:
        flat = all_pass | all_fail
    else:
        flat = real & (np.asarray(lowest, np.float64) == np.asarray(highest, np.float64))
    return GroupSignal(int(real.sum()), int(all_pass.sum()), int(all_fail.sum()), int(flat.sum()))


def _nothing() -> Interval:
    return Interval(math.nan, math.nan, math.nan, 0, "none")
