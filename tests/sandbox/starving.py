"""Run as a program: moves to one CPU, keeps it busy with seven other processes, and grades there.

    python -m tests.sandbox.starving WAY

Answers with the grade, as JSON. The program's own work takes a third of its limits.
"""

import os
import subprocess
import sys

import msgspec

from evaluator import Limits, grade
from evaluator.model import Kind, Mode, Task, TestCase
from evaluator.sandbox import Settings, Way

SPIN = [sys.executable, "-I", "-S", "-c", "while True: pass"]
TASK = Task(task_id="starved", mode=Mode.STDIN, cases=(TestCase(0, "", "done"),))


def main(way: Way) -> None:
    settings = Settings(way=way)
    grade(TASK, "print('done')", sandbox=settings)  # to warm up
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    here = os.sched_getaffinity(0)
    program = f"import os, time\nos.sched_setaffinity(0, {here})\nwhile time.thread_time() < 0.5: pass\nprint('done')"
    # Each in a session of its own: kernels may share out the CPU by session first.
    spinners = [subprocess.Popen(SPIN, start_new_session=True) for _ in range(7)]
    try:
        result = grade(TASK, program, limits=Limits(wall_s=1.5, cpu_s=1.5), sandbox=settings, kind=Kind.FULL)
    finally:
        for spinner in spinners:
            spinner.kill()
            spinner.wait()
    print(msgspec.json.encode(result).decode())


if __name__ == "__main__":
    main(Way(sys.argv[1]))
