"""Run as a program: moves to one CPU, keeps it busy with other processes, and grades there.

    python -m tests.sandbox.starving OTHERS '{"way": ..., "limits": {...}, "tests": N, "code": "..."}'

`tests` is how many empty inputs the program gets; it has to print `done` each time. Answers with the grade, as JSON.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import msgspec

from evaluator import Limits, grade
from evaluator.model import Kind, Mode, Task, TestCase
from evaluator.sandbox import Settings, Way

SPIN = [sys.executable, "-I", "-S", "-c", "while True: pass"]


def main(others: int, order: dict[str, object]) -> None:
    settings = Settings(way=Way(order["way"]))
    cases = tuple(TestCase(index, "", "done") for index in range(order["tests"]))
    task = Task(task_id="starved", mode=Mode.STDIN, cases=cases)
    grade(task, "print('done')", sandbox=settings)  # to warm up
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    here = os.sched_getaffinity(0)
    program = f"import os\nos.sched_setaffinity(0, {here})\n{order['code']}"
    # Each in a session of its own: kernels may share out the CPU by session first.
    spinners = [subprocess.Popen(SPIN, start_new_session=True) for _ in range(others)]
    try:
        result = grade(task, program, limits=Limits(**order["limits"]), sandbox=settings, kind=Kind.FULL)
    finally:
        for spinner in spinners:
            spinner.kill()
            spinner.wait()
    print(msgspec.json.encode(result).decode())


if __name__ == "__main__":
    main(int(sys.argv[1]), json.loads(sys.argv[2]))
