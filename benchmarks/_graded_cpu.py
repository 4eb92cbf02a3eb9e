"""CPU time of graded completions, once the interpreters are warm."""

from __future__ import annotations

from statistics import median

import _workloads
from _cgroup import Cpu, CpuGroup

from evaluator import Task, grade_all
from evaluator.options import Isolation

_WARM_UP = 20


def graded(group: CpuGroup, tasks: list[Task], number: int, workers: int, isolation: Isolation = "completion") -> Cpu:
    """CPU time per completion after the warm-up. All completions are right; the tasks take turns."""
    rollouts = _workloads.completions(tasks, number + _WARM_UP)
    before = group.used()
    for place, grade in enumerate(grade_all(tasks, rollouts, workers=workers, isolation=isolation, cache=None), 1):
        if not grade.passed or not grade.verified:
            raise SystemExit(f"{grade.task_id}: {grade.verdict} {grade.error_message} {grade.unverified_reason}")
        if place == _WARM_UP:
            before = group.used()
        if place == number + _WARM_UP:
            after = group.used()
    return after.minus(before).over(number)


def middle(values: list[Cpu]) -> Cpu:
    """The median of each field."""
    return Cpu(*(median(kind) for kind in zip(*values, strict=True)))
