"""How many workers one caller can feed: what reading, handing out, taking back and writing a completion costs it.

The workers are processes that answer at once (`_instant_worker`). They take the CPUs, where those are few; so what
counts is the caller's CPU time. It feeds as many real workers as its completions a second, over those of one worker.
All of it is the path of `grade_file`: the lines are read and decoded, and the run's Parquet files are written.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import _report
from _instant_worker import MEETING, InstantWorker

from evaluator.formats import load_rollouts, load_tasks
from evaluator.runs.schema import Manifest
from evaluator.runs.writing import RunWriter
from evaluator.workers.engine import Engine
from evaluator.workers.grade_stream import grade_batches

_TARGET_MS = 0.1
_CODE = "\n".join(f"line_{number} = int(input())" for number in range(30))


class Fed(NamedTuple):
    """What one run took."""

    completions: int
    seconds: float
    caller_s: float
    """CPU time of the caller, with all its threads."""


def made(folder: Path, count: int) -> tuple[Path, Path]:
    """The files of a task with ten tests, and of so many distinct completions of thirty lines."""
    numbers = [f"{number}\n" for number in range(10)]
    tasks, rollouts = folder / "tasks.jsonl", folder / "rollouts.jsonl"
    tasks.write_text(json.dumps({"task_id": "t", "mode": "stdin", "in_outs": {"inputs": numbers, "outputs": numbers}}))
    with rollouts.open("w") as file:
        for number in range(count):
            file.write(json.dumps({"task_id": "t", "completion": f"{_CODE}  # {number}", "kind": "full"}) + "\n")
    return tasks, rollouts


def fed(folder: Path, count: int, workers: int) -> Fed:
    tasks_file, rollouts_file = made(folder, count)
    tasks = list(load_tasks(tasks_file))
    meeting = folder / f"meeting-{workers}"
    meeting.mkdir()
    os.environ[MEETING] = f"{meeting}:{workers}"
    graded = half = 0
    began = before = 0.0
    with RunWriter.create(folder / f"run-{workers}", Manifest()) as writer:
        for task in tasks:
            writer.add_task(task, task.cases)
        rollouts = load_rollouts(rollouts_file)
        for batch in grade_batches(
            tasks, rollouts, workers=workers, columns=True, engine=Engine(InstantWorker, workers)
        ):
            writer.add_columns(batch.places, batch.columns, batch.verdicts)
            graded += len(batch)
            if not half and graded >= count // 2:
                half, began, before = graded, time.perf_counter(), time.process_time()
        writer.close()
    assert graded == count
    return Fed(graded - half, time.perf_counter() - began, time.process_time() - before)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--completions", type=int, default=20_000)
    asked = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for workers in (1, 16, 32, 64):
            done = fed(Path(folder), asked.completions, workers)
            cost_ms = done.caller_s / done.completions * 1000
            rows.append(
                [
                    str(workers),
                    f"{done.completions / done.seconds:,.0f}",
                    f"{cost_ms:.3f}",
                    f"{1000 / cost_ms:,.0f}",
                    "yes" if cost_ms <= _TARGET_MS else "no",
                ]
            )
    print(f"## Feeding\n\n{asked.completions:,} completions of ten tests; the second half is measured.\n")
    names = ["workers", "completions/s", "caller's CPU, ms each", "at most/s", f"at most {_TARGET_MS} ms"]
    _report.table(names, rows)


if __name__ == "__main__":
    main()
