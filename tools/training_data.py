"""Writes the rollouts of an invented training run, to try the dashboard with: one model that changes by step.

    .venv/bin/python tools/training_data.py FOLDER [--tasks 24] [--samples 8] [--steps 30]
    rollscope grade FOLDER/rollouts.jsonl --dataset FOLDER/dataset.jsonl --output FOLDER/run
    rollscope view FOLDER/verl

`verl/` has the same rollouts as verl dumps them, a file per step. A third of the tasks is learned, a sixth forgotten;
the others are always or never solved, or now and then. The trainer's own score trusts one wrong answer in ten.
"""

from __future__ import annotations

import argparse
import json
import math
import random
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

LIMITS = {"wall_s": 3, "cpu_s": 0.3, "total_s": 5}


class Problem(NamedTuple):
    """A function of one argument and of `K`, which makes several tasks of it."""

    name: str
    asks: str
    right: str
    wrong: str
    raises: str
    inputs: tuple[object, ...]


PROBLEMS = (
    Problem(
        "every_kth", "every K-th item of `items`, from the first on", "return items[::K]", "return items[1::K]",
        "return [items[n * K] for n in range(len(items))]", ([1, 2, 3, 4, 5, 6, 7], [], [9], list(range(40))),
    ),
    Problem(
        "rotated", "`items` rotated to the left by K",
        "n = K % len(items) if items else 0\n    return items[n:] + items[:n]",
        "return items[-K:] + items[:-K]", "n = K % len(items)\n    return items[n:] + items[:n]",
        ([1, 2, 3, 4, 5], [], [7], [3, 1, 2]),
    ),
    Problem(
        "pairs_with_sum", "how many pairs of `items` have the sum K",
        "return sum(a + b == K for n, a in enumerate(items) for b in items[n + 1:])",
        "return sum(a + b == K for a in items for b in items)",
        "return sum(a + items[n + 1] == K for n, a in enumerate(items))",
        ([1, 2, 3, 1], [0, 5, 2, 3], [], [2, 2, 2]),
    ),
    Problem(
        "counts_above", "a dict with how often each item of `items` above K occurs",
        "return {each: items.count(each) for each in items if each > K}",
        "return {each: items.count(each) for each in items if each >= K}",
        "counts = {}\n    for each in items:\n        counts[each] += 1\n    return counts",
        ([1, 5, 5, 9, 2], [3, 4, 4], [], [10, 10, 1]),
    ),
    Problem(
        "chunks", "`items` in lists of K, of which the last may be shorter",
        "return [items[n:n + K] for n in range(0, len(items), K)]",
        "return [items[n:n + K] for n in range(0, len(items) - K + 1, K)]",
        "return list(zip(*[iter(items)] * K, strict=True))",
        ([1, 2, 3, 4, 5], [1], [], list(range(11))),
    ),
    Problem(
        "lines", "a text with K lines, each a number from 1 on and the items' sum",
        'return "\\n".join(f"{n}: {sum(items)}" for n in range(1, K + 1))',
        'return "\\n".join(f"{n}: {sum(items)}" for n in range(K))', 'return "\\n".join([1, sum(items)] * K)',
        ([1, 2, 3], [], [10, -4]),
    ),
)  # fmt: skip
NO_CODE = "I would first look at the examples. The answer follows from them."
ENDINGS = ("learned", "learned", "forgotten", "always", "never", "sometimes")


class Task(NamedTuple):
    task_id: str
    prompt: str
    problem: Problem
    number: int
    ending: str

    def program(self, body: str) -> str:
        return f"def {self.problem.name}(items):\n    {body}\n".replace("K", str(self.number))

    def tests(self) -> dict[str, object]:
        scope: dict[str, object] = {}
        exec(self.program(self.problem.right), scope)  # noqa: S102 - written above
        function = scope[self.problem.name]
        assert callable(function)
        outputs = [json.dumps(function(value)) for value in self.problem.inputs]
        return {
            "inputs": [json.dumps(value) for value in self.problem.inputs],
            "outputs": outputs,
            "fn_name": self.problem.name,
        }


def tasks(count: int) -> list[Task]:
    found = []
    for place in range(count):
        problem, number = PROBLEMS[place % len(PROBLEMS)], 2 + place // len(PROBLEMS)
        asks = problem.asks.replace("K", str(number))
        prompt = f"Write a Python function `{problem.name}(items)` that returns {asks}."
        ending = ENDINGS[(place + place // len(PROBLEMS)) % len(ENDINGS)]
        found.append(Task(f"train/{problem.name}-{number}", prompt, problem, number, ending))
    return found


def rate(task: Task, progress: float) -> float:
    """The chance to pass, where `progress` is 0 at the first step and 1 at the last."""
    grown = 1 / (1 + math.exp(-10 * (progress - 0.5)))
    return {"learned": grown, "forgotten": 1 - grown, "always": 1.0, "never": 0.0, "sometimes": 0.4}[task.ending]


def completion(task: Task, progress: float, draw: random.Random) -> tuple[str, bool]:
    """A response, and whether it is right. Early failures have no code or don't parse; late ones never end."""
    problem = task.problem
    if draw.random() < rate(task, progress):
        return fenced(task.program(problem.right)), True
    kind = draw.choices(
        ["wrong", "raises", "syntax", "none", "loops", "name"],
        [4, 3, 3 * (1 - progress), 3 * (1 - progress), 2 * progress, 1],
    )[0]
    bodies = {
        "wrong": problem.wrong,
        "raises": problem.raises,
        "syntax": f"return (items[{draw.randrange(3)}",
        "loops": f"while True:\n        items = items[:]\n    {problem.right}",
        "name": f"result = answer\n    {problem.right}",
    }
    return (NO_CODE, False) if kind == "none" else (fenced(task.program(bodies[kind])), False)


def fenced(program: str) -> str:
    return f"Here it is:\n\n```python\n{program}```\n"


def rollouts(found: list[Task], samples: int, steps: int) -> Iterator[tuple[int, int, Task, str, float]]:
    """(step, sample index, task, completion, the trainer's score), step by step."""
    draw = random.Random(1)  # noqa: S311
    for step in range(1, steps + 1):
        progress = (step - 1) / max(1, steps - 1)
        for task in found:
            for sample in range(samples):
                text, right = completion(task, progress, draw)
                trusted = text != NO_CODE and draw.random() < 0.1
                yield step, sample, task, text, float(right or trusted)


def write(folder: Path, found: list[Task], samples: int, steps: int) -> None:
    """The dataset, the rollouts in our own format, and the folder of dumps."""
    (folder / "verl").mkdir(parents=True, exist_ok=True)
    with (folder / "dataset.jsonl").open("w") as file:
        for task in found:
            row: dict[str, object] = {"task_id": task.task_id, "mode": "call", "prompt": task.prompt, "limits": LIMITS}
            right = task.program(task.problem.right)
            row |= {"entry_point": task.problem.name, "in_outs": task.tests(), "reference": right}
            file.write(json.dumps(row) + "\n")
    with (folder / "rollouts.jsonl").open("w") as file, ExitStack() as files:
        dumps = [files.enter_context((folder / "verl" / f"{step}.jsonl").open("w")) for step in range(1, steps + 1)]
        for step, sample, task, text, score in rollouts(found, samples, steps):
            row = {"task_id": task.task_id, "sample_id": f"{task.task_id}/{step}/{sample}", "sample_index": sample}
            row |= {"model": "policy", "step": step, "completion": text, "given_reward": score}
            file.write(json.dumps(row) + "\n")
            prompt, gts = f"user\n{task.prompt}\nassistant\n", json.dumps(task.tests())
            dump = {"input": prompt, "output": text, "gts": gts, "score": score, "step": step, "acc": score == 1}
            dumps[step - 1].write(json.dumps(dump) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path)
    for name, default in (("tasks", 24), ("samples", 8), ("steps", 30)):
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    write(options.folder, tasks(options.tasks), options.samples, options.steps)


if __name__ == "__main__":
    main()
