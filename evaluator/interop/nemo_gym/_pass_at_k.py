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
from functools import cached_property
from itertools import accumulate
from typing import Final

from pydantic import JsonValue

from evaluator import metrics
from evaluator.interop.nemo_gym._rollout_numbers import Row, finite

Figures = dict[str, JsonValue]

_CODE: Final = "extracted_model_code"
SCORES: Final = ("accuracy", "no_answer")
_WITHIN_TASKS: Final = "/avg_sample_std_dev"
"""The mean over tasks of the standard deviation of their first k rollouts; not in percent, and not of subsets."""


@dataclass
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

    @cached_property
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
    runs: dict[str, JsonValue] = {}
    figures: Figures = {}
    for name in SCORES:
        scored = [_scored(task, name) for task in tasks]
        longest = max(len(task.values) for task in scored)
        by_run = [_percent([task.values[n] for task in scored if n < len(task.values)]) for n in range(longest)]
        for k in range(1, longest + 1):
            figures |= _at_k(scored, by_run, k, name)
        runs[name] = [*by_run]
    return {**figures, "per_sample_aggregate": runs}


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
        if name != "per_sample_aggregate" and not name.endswith(_WITHIN_TASKS)
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


def _at_k(scored: Sequence[_Scored], by_run: Sequence[float], k: int, name: str) -> Figures:
    """`by_run`: for each n, the score of the n-th rollouts of all tasks."""
    by_task = metrics.pass_at_k([len(task.values) for task in scored], [task.sums[-1] for task in scored], k)
    average = f"pass@1[avg-of-{k}]/{name}"
    figures: Figures = {
        f"pass@{k}/{name}": _percent([value for value in by_task.tolist() if not math.isnan(value)]),
        average: _percent([task.average(k) for task in scored]),
        f"majority@{k}/{name}": _percent([task.majorities[min(k, len(task.values)) - 1] for task in scored]),
    }
    if k > 1:
        across = statistics.stdev(by_run[:k])
        within = [deviation for task in scored if (deviation := task.deviation(k)) is not None]
        figures |= {
            f"{average}/std_dev_across_runs": across,
            f"{average}/std_err_across_runs": across / math.sqrt(k),
            average + _WITHIN_TASKS: statistics.fmean(within),
        }
    return figures


def _percent(shares: Sequence[float]) -> float:
    return 100 * statistics.fmean(shares)
