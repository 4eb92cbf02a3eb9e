"""CPU time of grading beyond the same code run in one warm interpreter: per completion, and per test.

A control group counts everything: this process, bubblewrap, the warm interpreters and the completions' processes.
Completions with 1 and with 11 tests give a slope (a test) and a rest (a completion). Each round also runs the same
completions in this process: compiled and executed once, called once per test; a stdin program compiled once and
executed once per test. Medians over the rounds. Needs root.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import _report
import _warm
import _workloads
from _cgroup import Cpu, CpuGroup
from _graded_cpu import graded, middle

from evaluator import Rollout, Task
from evaluator.model import Mode
from evaluator.options import Isolation

_FEW, _MANY = 1, 11
_MS = 1000


class _Way(NamedTuple):
    """One row of the table: the way of grading, and the targets in ms of CPU time."""

    name: str
    make_tasks: Callable[[int], list[Task]]
    isolation: Isolation
    target_completion: float
    target_test: float


_WAYS = (
    _Way("call", _workloads.call_tasks, "completion", 4.0, 0.3),
    _Way("stdin", _workloads.stdin_tasks, "completion", 4.0, 0.3),
    _Way("stdin, isolation test", _workloads.stdin_tasks, "test", 4.0, 3.0),
)


class _Slope(NamedTuple):
    """CPU seconds of a completion without its tests, and of a test."""

    completion: Cpu
    test: Cpu

    @classmethod
    def of(cls, few: Cpu, many: Cpu) -> _Slope:
        test = many.minus(few).over(_MANY - _FEW)
        return cls(few.minus(test), test)

    def minus(self, other: _Slope) -> _Slope:
        return _Slope(self.completion.minus(other.completion), self.test.minus(other.test))


def run_warm(group: CpuGroup, tasks: list[Task], number: int) -> Cpu:
    """CPU time per completion of the code alone, in this process."""
    by_id = {task.task_id: task for task in tasks}
    arguments = {task.task_id: [_arguments(case.input) for case in task.cases] for task in tasks if task.entry_point}
    rollouts = list(_workloads.completions(tasks, number))
    before = group.used()
    for rollout in rollouts:
        _run_completion(by_id[rollout.task_id], rollout, arguments.get(rollout.task_id, []))
    return group.used().minus(before).over(number)


def _run_completion(task: Task, rollout: Rollout, arguments: list[list[Any]]) -> None:
    code = _warm.compiled(rollout.completion)
    if task.mode is Mode.STDIN:
        for case in task.cases:
            _warm.run(code, case.input)
        return
    function = _warm.loaded(code, task.entry_point or "")
    for given in arguments:
        function(*given)


def _arguments(text: str) -> list[Any]:
    return [json.loads(line) for line in text.split("\n")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--completions", type=int, default=240, help="per kind and round")
    options = parser.parse_args()
    print(f"{_report.machine()}; {options.workers} workers, {options.rounds} rounds\n")
    try:
        with CpuGroup() as group:
            slopes = _measure(group, options)
    except OSError as error:
        print(f"skipped: no control group available ({error}); run it as root on cgroup v1 or v2")
        return
    _print(slopes)


Measured = dict[str, list[tuple[_Slope, _Slope]]]
"""Rounds for each way: graded, and the code alone."""


def _measure(group: CpuGroup, options: argparse.Namespace) -> Measured:
    measured: Measured = {way.name: [] for way in _WAYS}
    tasks = {way.name: (way.make_tasks(_FEW), way.make_tasks(_MANY)) for way in _WAYS}
    for number in range(options.rounds):
        print(f"round {number + 1} of {options.rounds}", file=sys.stderr, flush=True)
        for way in _WAYS:
            count = options.completions // (1 if way.isolation == "completion" else 4)
            both = tasks[way.name]
            ours = _Slope.of(*(graded(group, each, count, options.workers, way.isolation) for each in both))
            alone = _Slope.of(*(run_warm(group, each, options.completions) for each in both))
            measured[way.name].append((ours, alone))
    return measured


def _print(measured: Measured) -> None:
    rows = []
    for way in _WAYS:
        rounds = measured[way.name]
        beyond = [ours.minus(alone) for ours, alone in rounds]
        targets = (way.target_completion, way.target_test)
        for place, (what, target) in enumerate(zip(("a completion", "a test"), targets, strict=True)):
            over = middle([slope[place] for slope in beyond])
            least = min(slope[place].total for slope in beyond)
            rows.append(
                [
                    f"{way.name}: {what}",
                    *(_ms(each) for each in middle([ours[place] for ours, _ in rounds])),
                    _ms(middle([alone[place] for _, alone in rounds]).total),
                    _ms(over.total),
                    _ms(least),
                    f"{target:g}",
                    _report.against(over.total * _MS, target, at_most=True),
                ]
            )
    columns = ["ms of CPU time", "all", "user", "sys", "code alone", "beyond", "lowest round", "target", "reached"]
    _report.table(columns, rows)


def _ms(seconds: float) -> str:
    return f"{seconds * _MS:.2f}"


if __name__ == "__main__":
    main()
