"""Grades one rollout, in a warm sandbox where its grader runs code."""

from __future__ import annotations

from evaluator.engines import pool
from evaluator.engines.shield import shielded
from evaluator.engines.worker import Worker
from evaluator.graders import runs_code
from evaluator.graders.bench import Options
from evaluator.model import Grade, Rollout, Task


def grade_one(task: Task, rollout: Rollout, options: Options) -> Grade:
    """The grade of one rollout; waits where all sandboxes are at work. Safe to call from several threads.

    Raises `SandboxUnavailable` when no sandbox can be had, and what a signal handler of the caller's raises meanwhile.
    """

    def graded() -> Grade:
        if not runs_code(task, options.grader):
            return Worker(options).grade(task, rollout)
        with pool.lease(options.sandbox) as leased:
            return Worker(options, pool.gate(), leased).grade(task, rollout)

    return shielded(graded)
