"""With a worker for each core, each worker stays on a core of its own; with fewer, none does."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

import pytest

from evaluator.engines.local import grade_all
from evaluator.engines.workers import cores
from evaluator.graders.bench import Options
from evaluator.model import Kind, Mode, Rollout, Task, TestCase

CODE = "import os\nprint(*sorted(os.sched_getaffinity(0)))"
PATIENTLY = {"wall_s": 30, "cpu_s": 30, "total_s": 90}
PATIENCE_S = 60.0
ALL = " ".join(map(str, sorted(os.sched_getaffinity(0))))


def affinities(workers: int, code: str, limits: dict[str, int], enough: set[str]) -> set[str]:
    """The cores on which completions found themselves; asked until all of `enough` were seen."""
    found: set[str] = set()
    end = time.monotonic() + PATIENCE_S

    def rollouts() -> Iterator[Rollout]:
        number = 0
        while not (number > 40 and found >= enough) and time.monotonic() < end:
            number += 1
            yield Rollout(task_id="t", completion=f"{code}  # {number}", sample_id=str(number), kind=Kind.FULL)

    task = Task(task_id="t", mode=Mode.STDIN, cases=(TestCase(0, "", "no cores"),), limits=limits)
    for each in grade_all([task], rollouts(), Options(), workers=workers):
        found.add((each.grade.cases[0].actual or "").strip())
    return found


@pytest.mark.skipif(cores() == 1, reason="this machine has one core")
def test_each_worker_stays_on_a_core_of_its_own() -> None:
    each = set(ALL.split())
    assert affinities(cores(), CODE, PATIENTLY, each) - {ALL} == each


@pytest.mark.skipif(cores() == 1, reason="this machine has one core")
def test_fewer_workers_use_all_cores() -> None:
    assert affinities(cores() - 1, CODE, PATIENTLY, {ALL}) == {ALL}


@pytest.mark.skipif(cores() == 1, reason="this machine has one core")
def test_a_completion_that_may_start_processes_uses_all_cores() -> None:
    assert affinities(cores(), CODE, PATIENTLY | {"processes": 2}, {ALL}) == {ALL}
