"""Writes samples as EvalPlus reads them: `solution`, a whole program, or `completion`, which goes after the prompt."""

from __future__ import annotations

from evaluator.formats.conversion import Row, Sample
from evaluator.model import Kind

HELD = frozenset({"task_id", "completion", "kind"})
"""Fields of native rollouts."""


def rollout_row(sample: Sample) -> Row:
    """One sample; a chat answer is written as its program."""
    rollout = sample.rollout
    if sample.program is not None:
        return {"task_id": rollout.task_id, "solution": sample.program}
    name = "completion" if rollout.kind in (None, Kind.CONTINUATION) else "solution"
    return {"task_id": rollout.task_id, name: rollout.completion}
