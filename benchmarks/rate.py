"""Completions and tests per second: grading in the strict sandbox against `python -I` started once per test case.

All take turns, round by round, on the same completions and inputs, so that other load affects them equally. The ratios
are medians over the rounds. A new Python does the same work as in graders that start one: read the program from a file
and its input from stdin, and write the output, which the caller compares.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
from typing import NamedTuple

import _report
import _workloads

from evaluator import Rollout, Task, grade_all
from evaluator.model import Mode
from evaluator.options import Isolation

_TESTS = 10
_TARGET = 10.0
_WARM_UP = 16

_CALLER = """
import json as _json, sys as _sys
_name = {name!r}
_found = globals()[_name] if _name in globals() else getattr(Solution(), _name)
print(_json.dumps(_found(*map(_json.loads, _sys.stdin.read().split(chr(10))))))
"""


class Rate(NamedTuple):
    """Work done in `seconds`. `start_s` came before and is not included."""

    completions: int
    tests: int
    seconds: float
    start_s: float = 0.0

    @property
    def tests_per_second(self) -> float:
        return self.tests / self.seconds


def graded(tasks: list[Task], number: int, workers: int, isolation: Isolation) -> Rate:
    """Grades distinct completions; measured after the warm-up."""
    began = time.perf_counter()
    warm = began
    tests = done = 0
    rollouts = _workloads.completions(tasks, number + _WARM_UP)
    for place, grade in enumerate(grade_all(tasks, rollouts, workers=workers, isolation=isolation, cache=None)):
        if not grade.passed:
            raise SystemExit(f"{grade.task_id}: {grade.verdict} {grade.error_message}")
        if place < _WARM_UP:
            warm = time.perf_counter()
            continue
        done += 1
        tests += grade.tests_total
    return Rate(done, tests, time.perf_counter() - warm, warm - began)


def started(tasks: list[Task], number: int, workers: int, options: list[str]) -> Rate:
    """A new `python OPTIONS` per test case, one at a time per worker."""
    by_id = {task.task_id: task for task in tasks}
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(workers) as pool:

        def run(item: tuple[int, Rollout]) -> int:
            place, rollout = item
            return _run_completion(by_id[rollout.task_id], rollout, Path(folder) / f"{place}.py", options)

        rollouts = list(enumerate(_workloads.completions(tasks, number)))
        began = time.perf_counter()
        tests = sum(pool.map(run, rollouts))
        return Rate(number, tests, time.perf_counter() - began)


def _run_completion(task: Task, rollout: Rollout, path: Path, options: list[str]) -> int:
    is_call = task.mode is Mode.CALL
    caller = _CALLER.format(name=task.entry_point) if is_call else ""
    path.write_text(rollout.completion + caller, "utf-8")
    for case in task.cases:
        command = [sys.executable, *options, str(path)]
        ended = subprocess.run(command, input=case.input, capture_output=True, text=True, check=True)
        same = json.loads(ended.stdout) == json.loads(case.expected) if is_call else ended.stdout == case.expected
        if not same:
            raise SystemExit(f"{task.task_id}: {ended.stdout!r} is not {case.expected!r}")
    return len(task.cases)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--completions", type=int, default=300, help="graded per round and way")
    parser.add_argument("--started", type=int, default=8, help="completions per round for each way of starting Python")
    arguments = parser.parse_args()
    print(
        f"{_report.machine()}; {arguments.workers} workers, {arguments.rounds} rounds, {_TESTS} tests per completion\n"
    )
    rates = _measure(_ways(arguments), arguments.rounds)
    _print(rates)


def _ways(arguments: argparse.Namespace) -> dict[str, Callable[[], Rate]]:
    calls, programs = _workloads.call_tasks(_TESTS), _workloads.stdin_tasks(_TESTS)
    workers, many, few = arguments.workers, arguments.completions, arguments.started
    return {
        "call": lambda: graded(calls, many, workers, "completion"),
        "call, python -I": lambda: started(calls, few, workers, ["-I"]),
        "call, python -I -S": lambda: started(calls, few, workers, ["-I", "-S"]),
        "stdin": lambda: graded(programs, many, workers, "completion"),
        "stdin, python -I": lambda: started(programs, few, workers, ["-I"]),
        "stdin, python -I -S": lambda: started(programs, few, workers, ["-I", "-S"]),
        "stdin under a header": lambda: graded(_workloads.under_header(programs), many, workers, "completion"),
        "stdin, isolation test": lambda: graded(programs, max(many // 4, 1), workers, "test"),
    }


def _measure(ways: dict[str, Callable[[], Rate]], rounds: int) -> dict[str, list[Rate]]:
    rates: dict[str, list[Rate]] = {name: [] for name in ways}
    for number in range(rounds):
        print(f"round {number + 1} of {rounds}", file=sys.stderr, flush=True)
        for name, way in ways.items():
            rates[name].append(way())
    return rates


def _print(rates: dict[str, list[Rate]]) -> None:
    rows = []
    for name, measured in rates.items():
        completions = median(rate.completions / rate.seconds for rate in measured)
        tests = [rate.tests_per_second for rate in measured]
        rows.append([name, f"{completions:.1f}", f"{median(tests):.0f}", f"{min(tests):.0f} to {max(tests):.0f}"])
    _report.table(["way", "completions/s", "tests/s", "lowest to highest"], rows)
    rows = []
    for name in ("call", "stdin", "stdin under a header", "stdin, isolation test"):
        mode = name.replace(",", "").split()[0]
        ratios = [_ratio(rates, name, f"{mode}, python {options}") for options in ("-I", "-I -S")]
        target = f"{_TARGET:.0f}" if name == mode else ""
        reached = _report.against(ratios[0], _TARGET, at_most=False) if target else ""
        rows.append([name, f"{ratios[0]:.1f}", target, reached, f"{ratios[1]:.1f}"])
    _report.table(["tests/s, compared with", "python -I", "target", "reached", "python -I -S"], rows)
    start = median(rate.start_s for name in ("call", "stdin") for rate in rates[name])
    print(f"Not in the rates: {start * 1000:.0f} ms to start the sandboxes and grade the first {_WARM_UP} completions.")


def _ratio(rates: dict[str, list[Rate]], name: str, other: str) -> float:
    pairs = zip(rates[name], rates[other], strict=True)
    return median(ours.tests_per_second / theirs.tests_per_second for ours, theirs in pairs)


if __name__ == "__main__":
    main()
