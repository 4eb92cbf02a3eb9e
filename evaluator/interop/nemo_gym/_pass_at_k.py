"""pass@k, majority@k and similar figures of code_gen's server, in percent.

A rollout is right if its reward is above 0. `accuracy` counts right rollouts, `no_answer` those without code.
"""

from __future__ import annotations

import json
import math
import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from pydantic import JsonValue

from evaluator import metrics
from evaluator.interop.nemo_gym._rollout_numbers import Row, finite

Figures = dict[str, JsonValue]

_CODE: Final = "extracted_model_code"
SCORES: Final = ("accuracy", "no_answer")


@dataclass(frozen=True)
class _Scored:
    """One score (0 or 1) of each of a task's rollouts, in order, and their answers."""

    values: list[int]
    answers: list[str | None]
    sums: list[int]
    """Of the first, of the first two, ..."""

    def average(self, k: int) -> float:
        """Of the first k, or of all if there are fewer."""
        n = min(k, len(self.values))
        return self.sums[n - 1] / n

    def deviation(self, k: int) -> float | None:
        """The standard deviation of the first k, or of all if there are fewer; None for one."""
        n = min(k, len(self.values))
        ones = self.sums[n - 1]
        return math.sqrt(ones * (n - ones) / (n * (n - 1))) if n > 1 else None

    def majorities(self) -> list[float]:
        """For each k, the score of the most frequent answer among the first k; the mean of tied ones; 0 without any."""
        counts: Counter[tuple[str, int]] = Counter()
        most = tied = score = 0
        curve = []
        for answer, value in zip(self.answers, self.values, strict=True):
            if answer is not None:
                counts[answer, value] += 1
                count = counts[answer, value]
                if count > most:
                    most, tied, score = count, 1, value
                elif count == most:
                    tied, score = tied + 1, score + value
            curve.append(score / tied if tied else 0.0)
        return curve


def of_tasks(tasks: Sequence[Sequence[Row]]) -> Figures:
    """All figures except those of subsets. `tasks`: the measured rollouts of each, at least one."""
    if not tasks:
        return {}
    runs: dict[str, list[float]] = {}
    figures: Figures = {}
    for name in SCORES:
        scored = [_scored(task, name) for task in tasks]
        figures |= _over_k(scored, name)
        runs[name] = _of_each_run(scored)
        figures |= _across_runs(runs[name], name)
    return {**figures, "per_sample_aggregate": {name: list(run) for name, run in runs.items()}}


def deviations(tasks: Sequence[Sequence[Row]]) -> Figures:
    """For each k the mean over tasks of the standard deviation of their first k rollouts; not in percent."""
    figures: Figures = {}
    for name in SCORES:
        scored = [_scored(task, name) for task in tasks]
        for k in range(2, _longest(scored) + 1):
            known = [deviation for task in scored if (deviation := task.deviation(k)) is not None]
            figures[f"pass@1[avg-of-{k}]/{name}/avg_sample_std_dev"] = statistics.fmean(known)
    return figures


def by_difficulty(tasks: Sequence[Sequence[Row]]) -> Figures:
    """The figures of the tasks of each `difficulty`, taken from the first rollout that has one."""
    subsets: dict[str, list[Sequence[Row]]] = {}
    for task in tasks:
        difficulty = next((value for row in task if (value := row.get("difficulty"))), None)
        if isinstance(difficulty, str | int | float):
            subsets.setdefault(str(difficulty), []).append(task)
    return {
        f"{subset}/{name}": value
        for subset, members in subsets.items()
        for name, value in of_tasks(members).items()
        if name != "per_sample_aggregate"
    }


def _scored(task: Iterable[Row], name: str) -> _Scored:
    rows = list(task)
    answers = [_answer(row.get(_CODE)) for row in rows]
    if name == "no_answer":
        values = [int(answer is None) for answer in answers]
    else:
        values = [int((finite(row.get("reward")) or 0.0) > 0) for row in rows]
    return _Scored(values, answers, list(accumulate(values)))


def _answer(code: JsonValue) -> str | None:
    return code if code is None or isinstance(code, str) else json.dumps(code, sort_keys=True)


def _longest(scored: Sequence[_Scored]) -> int:
    return max(len(task.values) for task in scored)


def _over_k(scored: Sequence[_Scored], name: str) -> Figures:
    figures: Figures = {}
    majorities = [task.majorities() for task in scored]
    totals, counts = [len(task.values) for task in scored], [sum(task.values) for task in scored]
    for k in range(1, _longest(scored) + 1):
        by_task = metrics.pass_at_k(totals, counts, k)
        known = [value for value in by_task.tolist() if not math.isnan(value)]
        figures[f"pass@{k}/{name}"] = _percent(known)
        figures[f"pass@1[avg-of-{k}]/{name}"] = _percent([task.average(k) for task in scored])
        figures[f"majority@{k}/{name}"] = _percent([curve[min(k, len(curve)) - 1] for curve in majorities])
    return figures


def _of_each_run(scored: Sequence[_Scored]) -> list[float]:
    """For each n, the score of the n-th rollouts of all tasks."""
    return [_percent([task.values[n] for task in scored if n < len(task.values)]) for n in range(_longest(scored))]


def _across_runs(runs: Sequence[float], name: str) -> Figures:
    figures: Figures = {}
    for k in range(2, len(runs) + 1):
        deviation = statistics.stdev(runs[:k])
        figures[f"pass@1[avg-of-{k}]/{name}/std_dev_across_runs"] = deviation
        figures[f"pass@1[avg-of-{k}]/{name}/std_err_across_runs"] = deviation / math.sqrt(k)
    return figures


def _percent(shares: Sequence[float]) -> float:
    return 100 * statistics.fmean(shares)
