"""Sets of completions that all competitors grade: synthetic, and from files of real data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import cycle, islice
from pathlib import Path

import _workloads
import msgspec
from _competitors import Sample, bare_times

from evaluator import Task, grade_all, load_rollouts, load_tasks

_TESTS = 10
_LEETCODE_TESTS = 12
_LONGEST_S = 0.02
"""What a real completion may take for all its test cases, bare."""


def _synthetic(tasks: list[Task]) -> list[Sample]:
    return [Sample(task, task.reference or "") for task in tasks]


def stdin() -> list[Sample]:
    return _synthetic(_workloads.stdin_tasks(_TESTS))


def call() -> list[Sample]:
    return _synthetic(_workloads.call_tasks(_TESTS))


def contest(data: Path) -> list[Sample]:
    """The rollouts of `contest_chat` that pass, here and bare, and take under 20 ms bare."""
    return _quick(_passing(data, "contest_chat", None))


def leetcode(data: Path) -> list[Sample]:
    """The references of `leetcode_small` that do, for their task's first twelve test cases."""
    return _quick(_passing(data, "leetcode_small", _LEETCODE_TESTS, "reference"))


def _passing(data: Path, name: str, tests: int | None, model: str | None = None) -> list[Sample]:
    tasks = {task.task_id: task for task in load_tasks(data / f"{name}.dataset.jsonl")}
    for task_id, task in tasks.items():
        tasks[task_id] = msgspec.structs.replace(task, cases=task.cases[:tests])
    tasks = {task_id: task for task_id, task in tasks.items() if tests is None or len(task.cases) == tests}
    rollouts = load_rollouts(data / f"{name}.rollouts.jsonl")
    chosen = [each for each in rollouts if each.task_id in tasks and model in (None, each.model)]
    grades = sorted(grade_all(tasks, chosen, cache=None), key=lambda grade: grade.sample_id)
    return [Sample(tasks[grade.task_id], grade.code or "") for grade in grades if grade.passed]


def _quick(samples: list[Sample]) -> list[Sample]:
    pairs = zip(samples, bare_times(samples), strict=True)
    return [sample for sample, taken in pairs if taken is not None and taken < _LONGEST_S]


def copies(samples: Sequence[Sample], number: int) -> Iterator[Sample]:
    """That many, in turns, each with a text of its own."""
    for task, code in islice(cycle(samples), number):
        yield Sample(task, _workloads.distinct(code))
