"""With a worker for each core, each worker stays on a core of its own; with fewer, none does."""

import os
from collections.abc import Iterator

import pytest

from evaluator.model import Kind, Mode, Rollout, Task, TestCase
from evaluator.options import Options
from evaluator.workers.grade_stream import grade_all
from evaluator.workers.worker_count import cores

pytestmark = [pytest.mark.slow, pytest.mark.skipif(cores() == 1, reason="this machine has one core")]
CODE = "import os\nprint(*sorted(os.sched_getaffinity(0)))"
PATIENTLY = {"wall_s": 300, "cpu_s": 60, "total_s": 300}
MOST = 20_000
"""Rollouts until each core was seen: some hundred are enough where the machine has nothing else to do."""
ALL = " ".join(map(str, sorted(os.sched_getaffinity(0))))


def affinities(workers: int, limits: dict[str, int], enough: set[str]) -> set[str]:
    """The cores on which completions found themselves; asked until all of `enough` were seen."""
    found: set[str] = set()

    def rollouts() -> Iterator[Rollout]:
        for number in range(MOST):
            if number > 40 and found >= enough:
                return
            yield Rollout(task_id="t", completion=f"{CODE}  # {number}", sample_id=str(number), kind=Kind.FULL)

    task = Task(task_id="t", mode=Mode.STDIN, cases=(TestCase(0, "", "no cores"),), limits=limits)
    for each in grade_all([task], rollouts(), Options(), workers=workers):
        found.add((each.grade.cases[0].actual or "").strip())
    return found


def test_each_worker_stays_on_a_core_of_its_own() -> None:
    each = set(ALL.split())
    assert affinities(cores(), PATIENTLY, each) - {ALL} == each


def test_fewer_workers_use_all_cores() -> None:
    assert affinities(cores() - 1, PATIENTLY, {ALL}) == {ALL}


def test_a_completion_that_may_start_processes_uses_all_cores() -> None:
    assert affinities(cores(), PATIENTLY | {"processes": 2}, {ALL}) == {ALL}
