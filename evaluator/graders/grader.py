"""What a grader is, whatever it grades by."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from evaluator.graders.bench import Bench
from evaluator.model import Grade, Rollout, Task, TestCase


def _none(task: Task) -> None:
    del task


@dataclass(frozen=True)
class Grader:
    """One way of grading, its options settled."""

    name: str
    grade: Callable[[Task, Rollout, Bench], Grade]
    test_cases: Callable[[Task], tuple[TestCase, ...]]
    """What it decides one by one for a task, as a grid shows it; none where the task can't be graded so."""
    lowest: float = 0.0
    highest: float = 1.0
    """The range of its rewards. What lies outside is brought to the nearer end, and flagged."""
    refusal: Callable[[Task], str | None] = _none
    """Why it can't grade a task, in one line; None where it can, as far as the task alone tells."""
    runs_code: bool = True
    """Whether it needs a sandbox."""
    waits: int = 0
    """How many rollouts it grades at once because others do the work; 0: as many as there are CPUs."""
    by_completion: bool = True
    """Whether rollouts of a task with the same completion have the same grade."""
    needs_tasks: bool = True
    """Whether its grades follow from tasks; else no dataset is needed, and no task's own grader wins over it."""


class GraderError(ValueError):
    """No grader has that name, or it does not take these options. One line that says what to write instead."""
