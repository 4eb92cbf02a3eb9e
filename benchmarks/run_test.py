"""`run_test` against a `multiprocessing.Manager` and a `Process` per completion, as in the original's wrapper.

The peer is a few lines of our own: the child runs the same imports and the completion, calls it on every input and
compares with `==`; no sandbox, no limits. Both grade the same completions, all with different texts, ten test cases
each, in turns and in one process: one at a time, and one per CPU; in a small process, and in one that holds a GiB, as a
trainer's does, which each of the peer's two forks has to map again.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from statistics import median
from typing import Any, NamedTuple

import _report
import _workloads

from evaluator.interop.colossalai import run_test
from evaluator.tasks.import_headers import COLOSSALAI

_TARGET = 5.0
_TESTS = 10
_HELD = 1 << 30

Rates = dict[tuple[str, int], list[float]]


class Job(NamedTuple):
    """A completion and its test cases."""

    in_outs: dict[str, Any]
    code: str


def jobs(count: int) -> list[Job]:
    tasks = {task.task_id: task for task in _workloads.call_tasks(_TESTS)}
    made = []
    for rollout in _workloads.completions(list(tasks.values()), count):
        task = tasks[rollout.task_id]
        inputs, outputs = [case.input for case in task.cases], [case.expected for case in task.cases]
        made.append(Job({"fn_name": task.entry_point, "inputs": inputs, "outputs": outputs}, rollout.completion))
    return made


def _child(job: Job, results: Any) -> None:
    names: dict[str, Any] = {}
    exec(COLOSSALAI + job.code, names)
    holder = names["Solution"]() if "class Solution" in job.code else None
    name = job.in_outs["fn_name"]
    function = names[name] if holder is None else getattr(holder, name)
    pairs = zip(job.in_outs["inputs"], job.in_outs["outputs"], strict=True)
    results.append([function(*map(json.loads, given.split("\n"))) == json.loads(wanted) for given, wanted in pairs])


def peer(job: Job) -> list[Any]:
    manager = multiprocessing.Manager()
    results = manager.list()
    process = multiprocessing.Process(target=_child, args=(job, results))
    process.start()
    process.join(600)
    if process.is_alive():
        process.kill()
    return list(results[0]) if results else [-1] * len(job.in_outs["inputs"])


def ours(job: Job) -> list[Any]:
    return list(run_test(job.in_outs, test=job.code, timeout=10)[0])


def rate(grade: Callable[[Job], list[Any]], work: Sequence[Job], at_once: int) -> float:
    """Completions per second. All are right; raises `SystemExit` if one does not pass."""
    began = time.perf_counter()
    with ThreadPoolExecutor(at_once) as threads:
        graded = list(threads.map(grade, work))
    seconds = time.perf_counter() - began
    if any(results != [True] * _TESTS for results in graded):
        raise SystemExit(f"{grade.__name__} fails a completion that is right")
    return len(work) / seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--completions", type=int, default=60, help="the peer's per round; ours are four times as many")
    options = parser.parse_args()
    cores = len(os.sched_getaffinity(0))
    print(f"{_report.machine()}; {options.rounds} rounds, {_TESTS} tests per completion\n")
    for grade in (peer, ours):
        rate(grade, jobs(2 * cores), cores)
    small = measured(options, cores)
    held = b"x" * _HELD
    large = measured(options, cores)
    del held
    rows = [*rows_of("small", small, cores), *rows_of("holds 1 GiB", large, cores)]
    columns = [
        "process",
        "Manager and Process: at once",
        "per second",
        "run_test: at once",
        "per second",
        "ratio",
        "5 reached",
    ]
    _report.table(columns, rows)


def measured(options: argparse.Namespace, cores: int) -> Rates:
    rates: Rates = {}
    for number in range(options.rounds):
        print(f"round {number + 1} of {options.rounds}", file=sys.stderr, flush=True)
        for at_once in dict.fromkeys((1, cores)):
            rates.setdefault(("peer", at_once), []).append(rate(peer, jobs(options.completions), at_once))
            rates.setdefault(("ours", at_once), []).append(rate(ours, jobs(4 * options.completions), at_once))
    return rates


def rows_of(process: str, rates: Rates, cores: int) -> list[list[str]]:
    """Equal numbers at once; and our threads, which the original's wrapper does not support, against one at a time."""
    rows = []
    for peers, threads in dict.fromkeys(((1, 1), (cores, cores), (1, cores))):
        theirs, mine = rates["peer", peers], rates["ours", threads]
        ratio = median(one / other for one, other in zip(mine, theirs, strict=True))
        reached = _report.against(ratio, _TARGET, at_most=False)
        figures = [str(peers), f"{median(theirs):.1f}", str(threads), f"{median(mine):.1f}", f"{ratio:.1f}", reached]
        rows.append([process, *figures])
    return rows


if __name__ == "__main__":
    main()
