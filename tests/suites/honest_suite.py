"""An honest suite: a task with ordinary Python in its test, completions that answer it, and ones that do not.

The texts of prompt, test and completions stand indented, as in `split_tasks`. A wrong completion is written either
out in full or as a pair: what is to be replaced in the right one, and with what.
"""

from typing import NamedTuple

from evaluator.model import Task
from tests.graders.split_tasks import check_task, source, suite_task


class Suite(NamedTuple):
    """A task, a completion that passes its test in plain Python, and plausible mistakes that fail it."""

    name: str
    task: Task
    right: str
    wrong: tuple[str, ...]


Mistake = str | tuple[str, str]
"""A whole program, or (what is in the right one, what stands there instead)."""


def check_suite(
    name: str,
    prompt: str,
    entry_point: str,
    check: str,
    right: str,
    *wrong: Mistake,
    before: str = "",
    preamble: str = "",
) -> Suite:
    """A suite in the shape of HumanEval's: `check` is the body of `check(candidate)`, `before` stands above it."""
    task = check_task(check, before=before, entry_point=entry_point, preamble=preamble, prompt=prompt)
    return _suite(name, task, right, wrong)


def unittest_suite(
    name: str, prompt: str, entry_point: str, test: str, right: str, *wrong: Mistake, preamble: str = ""
) -> Suite:
    """A suite in the shape of BigCodeBench's and ClassEval's: `test` is a module of TestCase classes."""
    task = suite_task(test, entry_point=entry_point, preamble=preamble, prompt=prompt)
    return _suite(name, task, right, wrong)


def _suite(name: str, task: Task, right: str, wrong: tuple[Mistake, ...]) -> Suite:
    task.task_id = name
    program = source(right)
    return Suite(name, task, program, tuple(_mistaken(name, program, mistake) for mistake in wrong))


def _mistaken(name: str, right: str, mistake: Mistake) -> str:
    if isinstance(mistake, str):
        return source(mistake)
    old, new = mistake
    if old not in right:
        raise ValueError(f"{name}: {old!r} is not in the right completion")
    return right.replace(old, new)
