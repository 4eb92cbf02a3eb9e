"""Rollscope as a competitor: `_our_way.py WORKERS FOLDER`, a process of its own like the others.

FOLDER holds `tasks.jsonl` and `rollouts.jsonl`, which stream through `grade_all`, with the start of the sandboxes in
its time. Prints what `_plain_ways.py` prints.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from _clock import Clock

from evaluator import grade_all, load_rollouts, load_tasks


def main() -> None:
    workers, folder = int(sys.argv[1]), Path(sys.argv[2])
    tasks = list(load_tasks(folder / "tasks.jsonl"))
    rollouts = list(load_rollouts(folder / "rollouts.jsonl"))
    clock = Clock()
    right = sum(grade.passed for grade in grade_all(tasks, rollouts, workers=workers, cache=None))
    print(json.dumps(clock.stopped(right)))


if __name__ == "__main__":
    main()
