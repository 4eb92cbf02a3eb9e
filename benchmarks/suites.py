"""Completions with test suites of unittest per second, against a `python -m unittest` for each.

The suites are those of `tests/suites/honest`, each with its right completion; `--data` adds real sets. A plain process
runs preamble, completion and test as one file, unprotected, as many at once as there are workers. Both grade the same
texts in turns, each text new; what sleeps is left out. A rate is a whole run, with its start.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median

import _report
from _cgroup import CpuGroup
from _competitors import Sample
from _peer_sets import copies

from evaluator import Rollout, grade_all, load_rollouts, load_tasks
from evaluator.model import Kind, Mode

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.suites.honest import THEMES

_REAL = ("bigcodebench_part", "classeval_part")
_SLEEPS_S = 2.0
"""A completion that takes longer in a process of its own waits for something."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--each", type=int, default=4, help="completions of a task")
    parser.add_argument("--data", type=Path, help=f"a folder with {' and '.join(_REAL)}, each two files of JSON lines")
    options = parser.parse_args()
    print(f"{_report.machine()}; {options.workers} workers, {options.rounds} rounds\n")
    sets = {"honest": _honest()} | {name: _real(options.data, name) for name in _REAL if options.data}
    try:
        with CpuGroup() as group:
            rows = [_row(group, name, samples, options) for name, samples in sets.items()]
    except OSError as error:
        print(f"skipped: no control group available ({error}); run it as root on cgroup v1 or v2")
        return
    columns = ["suites", "plain/s", "ours/s", "ratio", "plain, ms of CPU time", "ours, ms of CPU time"]
    _report.table(columns, rows)


def _honest() -> list[Sample]:
    suites = [suite for theme in THEMES.values() for suite in theme if suite.task.mode is Mode.UNITTEST]
    return _brief([Sample(suite.task, suite.right) for suite in suites])


def _real(folder: Path, name: str) -> list[Sample]:
    tasks = {task.task_id: task for task in load_tasks(folder / f"{name}.dataset.jsonl")}
    grades = grade_all(tasks, load_rollouts(folder / f"{name}.rollouts.jsonl"), cache=None)
    return _brief([Sample(tasks[grade.task_id], grade.code or "") for grade in grades if grade.passed])


def _brief(samples: list[Sample]) -> list[Sample]:
    """Those that pass in a process of their own, and do not sleep."""
    return [sample for sample in samples if _plain(sample)]


def _plain(sample: Sample) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        parts = sample.task.preamble, sample.code, sample.task.test or ""
        Path(folder, "whole.py").write_text("\n".join(parts), "utf-8")
        command = [sys.executable, "-m", "unittest", "whole"]
        try:
            ended = subprocess.run(command, cwd=folder, capture_output=True, timeout=_SLEEPS_S, check=False)
        except subprocess.TimeoutExpired:
            return False
        return ended.returncode == 0


def _row(group: CpuGroup, name: str, samples: list[Sample], options: argparse.Namespace) -> list[str]:
    def plain(given: list[Sample]) -> None:
        with ThreadPoolExecutor(options.workers) as threads:
            list(threads.map(_plain, given))

    def ours(given: list[Sample]) -> None:
        rollouts = [
            Rollout(task_id=task.task_id, completion=code, sample_id=str(place), kind=Kind.FULL)
            for place, (task, code) in enumerate(given)
        ]
        list(grade_all([task for task, _ in samples], rollouts, workers=options.workers, cache=None))

    def measured(way: Callable[[list[Sample]], None]) -> tuple[float, float]:
        given = list(copies(samples, options.each * len(samples)))
        began, before = time.perf_counter(), group.used()
        way(given)
        spent, cpu = time.perf_counter() - began, group.used().minus(before).total
        return len(given) / spent, 1e3 * cpu / len(given)

    rounds = []
    for number in range(options.rounds):
        print(f"{name}: round {number + 1} of {options.rounds}", file=sys.stderr, flush=True)
        rounds.append((*measured(plain), *measured(ours)))
    plain_rate, plain_ms, our_rate, our_ms = (median(each) for each in zip(*rounds, strict=True))
    ratio = median(each[2] / each[0] for each in rounds)
    rates = [f"{rate:.1f}" for rate in (plain_rate, our_rate)]
    return [f"{name} ({len(samples)})", *rates, f"{ratio:.2f}", f"{plain_ms:.0f}", f"{our_ms:.0f}"]


if __name__ == "__main__":
    main()
