"""`_one_worker.py KIND NUMBER`: grades so many completions of ten test cases in one thread, for others to trace."""

from __future__ import annotations

import sys

import _workloads

from evaluator import Task
from evaluator.options import Options
from evaluator.sandbox import Sandbox
from evaluator.workers.worker import Worker

TESTS = 10
KINDS = ("call", "stdin", "stdin under a header")


def tasks_of(kind: str, tests: int = TESTS) -> list[Task]:
    tasks = _workloads.call_tasks(tests) if kind == "call" else _workloads.stdin_tasks(tests)
    return _workloads.under_header(tasks) if kind == "stdin under a header" else tasks


def main() -> None:
    kind, number = sys.argv[1:]
    tasks = {task.task_id: task for task in tasks_of(kind)}
    with Sandbox() as sandbox:
        sandbox.warm_up()
        worker = Worker(Options(), sandbox=sandbox)
        for rollout in _workloads.completions(list(tasks.values()), int(number)):
            if not worker.grade(tasks[rollout.task_id], rollout).passed:
                raise SystemExit(f"{rollout.task_id} fails")


if __name__ == "__main__":
    main()
