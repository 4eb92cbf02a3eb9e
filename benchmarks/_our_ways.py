"""Rollscope as a competitor: `_our_ways.py WAY WORKERS FOLDER`, a process of its own like the others.

FOLDER holds `tasks.jsonl` and `rollouts.jsonl`. `ours` streams through `grade_all`, with the start of the sandboxes in
its time; `run` grades the file into a run. Prints what `_plain_ways.py` prints.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from _clock import Clock

from evaluator import Grade, grade_all, grade_file, load_rollouts, load_tasks


def ours(folder: Path, workers: int) -> dict[str, float]:
    tasks = list(load_tasks(folder / "tasks.jsonl"))
    rollouts = list(load_rollouts(folder / "rollouts.jsonl"))
    clock = Clock()
    right = sum(grade.passed for grade in grade_all(tasks, rollouts, workers=workers, cache=None))
    return clock.stopped(right)


def run(folder: Path, workers: int) -> dict[str, float]:
    right = 0

    def count(grade: Grade) -> None:
        nonlocal right
        right += grade.passed

    clock = Clock()
    with tempfile.TemporaryDirectory() as out:
        grade_file(
            folder / "rollouts.jsonl",
            folder / "tasks.jsonl",
            out=Path(out) / "run",
            workers=workers,
            on_grade=count,
            cache=None,
        )
        return clock.stopped(right)


WAYS: dict[str, Callable[[Path, int], dict[str, float]]] = {"ours": ours, "run": run}


def main() -> None:
    way, workers, folder = sys.argv[1:]
    print(json.dumps(WAYS[way](Path(folder), int(workers))))


if __name__ == "__main__":
    main()
