"""Kinds of grading. A grader takes a task and a rollout's code, and makes a `Grade`.

Each public module of this package is one grader, known by the module's name, if it defines
`grade(task, rollout, bench) -> Grade`. A new grader is a new file here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from evaluator.graders.bench import Bench
from evaluator.model import Grade, Rollout, Task
from evaluator.package_modules import public_modules

__all__ = ["Bench", "Grader", "GraderError", "get_grader", "known_graders"]

Grader = Callable[[Task, Rollout, Bench], Grade]


class GraderError(ValueError):
    """No grader has that name. The message lists those that exist."""


def get_grader(name: str) -> Grader:
    """The grader of that name. Raises `GraderError`."""
    found = known_graders().get(name)
    if found is None:
        raise GraderError(f"grader {name!r} is unknown: give one of {', '.join(known_graders())}")
    return found


@cache
def known_graders() -> dict[str, Grader]:
    """Every grader of this package by name, in alphabetical order."""
    return {name: module.grade for name, module in public_modules(__name__).items() if hasattr(module, "grade")}
