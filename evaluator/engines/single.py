"""Grades one rollout, in a warm sandbox where its grader runs code."""

from __future__ import annotations

from evaluator.engines import pool
from evaluator.engines.shielded import shielded
from evaluator.engines.worker import Worker
from evaluator.graders import traits
from evaluator.graders.bench import Options
from evaluator.model import Grade, Rollout, Task


def grade_one(task: Task, rollout: Rollout, options: Options) -> Grade:
    """The grade of one rollout; waits where all sandboxes are at work. Safe to call from several threads.

    Raises `SandboxUnavailable` when no sandbox can be had, and what a signal handler of the caller's raises meanwhile.
    """

    def graded() -> Grade:
        if not traits(task, options.grader).runs_code:
            return Worker(options).grade(task, rollout)
        with pool.lease(options.sandbox) as leased:
            return Worker(options, pool.gate(), leased).grade(task, rollout)

    return shielded(graded)
