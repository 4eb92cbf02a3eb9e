"""Grades one rollout, in a warm sandbox if its grader runs code."""

from __future__ import annotations

from evaluator.engines import pool
from evaluator.engines.shield import shielded
from evaluator.engines.worker import Worker
from evaluator.graders import traits
from evaluator.graders.bench import Options
from evaluator.model import Grade, Rollout, Task


def grade_one(task: Task, rollout: Rollout, options: Options) -> Grade:
    """The grade of one rollout; waits while all sandboxes are in use. Safe to call from several threads.

    Raises `SandboxUnavailable` if no sandbox can be started, and whatever the caller's signal handlers raise.
    """

    def graded() -> Grade:
        if not traits(task, options.grader).runs_code:
            return Worker(options).grade(task, rollout)
        with pool.lease(options.sandbox) as leased:
            return Worker(options, pool.gate(), leased).grade(task, rollout)

    return shielded(graded)
