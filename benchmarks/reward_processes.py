"""Many reward processes on one machine: whether correct programs are paid, and how long all of them take.

Each process grades so many programs at once, from threads, as a trainer's reward workers do; each program takes so many
seconds of CPU time and is right. What is needed is their CPU time, divided by the cores.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter
from typing import Final

from _report import against, machine, table

from evaluator import Task, grade

_TARGET: Final = 1.2
_ME: Final = "--one"


def one(programs: int, cpu_s: float) -> None:
    """What a reward process does; prints its verdicts."""
    task = Task.from_row({"task_id": "echo", "in_outs": {"inputs": ["1"], "outputs": ["1"]}})
    work = f"import time\nwhile time.process_time() < {cpu_s}: pass\nprint(input())\n"
    with ThreadPoolExecutor(programs) as threads:
        grades = threads.map(lambda number: grade(task, f"number = {os.getpid()}, {number}\n{work}"), range(programs))
        print(json.dumps([each.verdict.value for each in grades]))


def together(processes: int, programs: int, cpu_s: float) -> tuple[Counter[str], float]:
    """The verdicts of all processes, and the seconds that all took."""
    words = [sys.executable, __file__, _ME, f"--programs={programs}", f"--cpu-s={cpu_s}"]
    began = perf_counter()
    started = [subprocess.Popen(words, stdout=subprocess.PIPE, text=True) for _ in range(processes)]
    found: Counter[str] = Counter()
    for each in started:
        found.update(json.loads(each.communicate()[0]))
    return found, perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", type=int, nargs="+", default=[1, 4, 16], metavar="N")
    parser.add_argument("--programs", type=int, default=8, help="for each process")
    parser.add_argument("--cpu-s", type=float, default=3.0, help="for each program")
    parser.add_argument(_ME, action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        one(asked.programs, asked.cpu_s)
        return
    print(machine())
    rows = []
    for processes in asked.processes:
        found, seconds = together(processes, asked.programs, asked.cpu_s)
        needed = processes * asked.programs * asked.cpu_s / len(os.sched_getaffinity(0))
        said = ", ".join(f"{number} {verdict}" for verdict, number in found.most_common())
        ratio = seconds / needed
        reached = against(ratio, _TARGET, at_most=True)
        rows.append([str(processes), said, f"{needed:.0f} s", f"{seconds:.0f} s", f"{ratio:.2f}", reached])
    table(["processes", "verdicts", "CPU time / cores", "took", "ratio", f"at most {_TARGET}"], rows)


if __name__ == "__main__":
    main()
