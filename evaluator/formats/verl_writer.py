"""Writes rollouts as verl dumps them, a file a step: `input, output, gts, score, step`.

`gts` is the ground truth as text: the test cases as JSON, the test code, or the answer.
"""

from __future__ import annotations

import json

from evaluator.formats import native_writer
from evaluator.formats.conversion import Row, Sample
from evaluator.model import Mode, Task

HELD = frozenset({"completion", "given_reward", "expected_pass", "step"})
"""Fields of native rollouts."""


def rollout_row(sample: Sample) -> Row:
    """One rollout; without a reward `score` is whether it passed, or null."""
    rollout, task = sample.rollout, sample.task
    score = rollout.given_reward
    if score is None and rollout.expected_pass is not None:
        score = float(rollout.expected_pass)
    return {
        "input": task.prompt if task else "",
        "output": rollout.completion,
        "gts": _ground_truth(task) if task else None,
        "score": score,
        "step": rollout.step,
    }


def _ground_truth(task: Task) -> str | None:
    if task.mode in (Mode.CALL, Mode.STDIN):
        return json.dumps(native_writer.in_outs(task))
    if task.mode is Mode.ANSWER:
        return task.answer if task.answer is None or isinstance(task.answer, str) else json.dumps(task.answer)
    return task.test
