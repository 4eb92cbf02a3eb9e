"""What strengthening found, as records: per task, in words, and the task's row with what is added."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec

from evaluator.model import Task

ADDED: Final = "added_tests"
"""The field of a row that says where its added test cases come from."""


DISAGREE: Final = "passing rollouts disagree"
"""The certainty of a finding where nobody knows which answer is right."""


class Program(msgspec.Struct, frozen=True):
    """The code of one or more rollouts."""

    code: str
    samples: tuple[str, ...]
    models: tuple[str, ...] = ()
    """One per sample; empty for none."""


class Added(msgspec.Struct, frozen=True):
    """A test case that is added."""

    input: str
    """A call, or what a program reads."""
    expected: str
    added_by: str
    """`rollout`: it shows a wrong rollout; `mutant`: a wrong edit of the reference that the own tests pass;
    `boundary`: it tells more wrong programs, or other kinds of input, apart than the others."""
    certainty: str
    """Who says what is expected: `reference`, `all passing`, `all passing but 2`, or `DISAGREE`."""
    unlike_own: list[str] = []
    """How its input departs from the task's own ones: see `evaluator.strengthening.profile`."""


class Group(msgspec.Struct, frozen=True):
    """An answer that is not the expected one, and the samples that gave it."""

    answer: str
    samples: list[str]


class Finding(msgspec.Struct, frozen=True):
    """A small input on which programs that pass the task's tests are wrong, or disagree."""

    input: str
    expected: str
    certainty: str
    wrong: list[Group]
    unlike_own: list[str] = []


class TaskReport(msgspec.Struct):
    """Of one task."""

    task_id: str
    status: str = ""
    """`finding` (rollouts that pass are wrong), `hole` (only mutants survive the tests), `nothing found`,
    `several answers?`, or `not strengthened`."""
    reason: str = ""
    """Why it is one of the last two, or why nothing could be found."""
    tests: int = 0
    tried: int = 0
    """New inputs that were run."""
    valid: int = 0
    mutants: int = 0
    killed_before: int = 0
    killed_after: int = 0
    passing: int = 0
    """Rollouts that pass the task's own tests."""
    wrong: dict[str, int] = {}
    """Of these, those that are wrong on a new input, by model."""
    doubtful: int = 0
    """Inputs on which most of the passing rollouts differ from the reference: they are not used."""
    added: list[Added] = []
    findings: list[Finding] = []
    seconds: float = 0.0


def is_weak(report: TaskReport) -> bool:
    """Whether the task's own tests would pay a wrong program."""
    return report.status in ("finding", "hole")


def shown_in_line(report: TaskReport) -> str:
    """One input that shows it, and the answers, in one line; empty for none."""
    found = next(iter(report.findings), None)
    if found is not None:
        answers = [group.answer for group in found.wrong]
        rest = (
            " or ".join([found.expected, *answers])
            if found.certainty == DISAGREE
            else f"{found.expected}, not {answers[0]}"
        )
        return " ".join(f"{found.input} is {rest}".split())
    mutant = next((each for each in report.added if each.added_by == "mutant"), None)
    return " ".join(f"{mutant.input} is {mutant.expected}".split()) if mutant else ""


def wrong_by_model(programs: Iterable[Program]) -> dict[str, int]:
    """How many samples of each model these programs are."""
    return dict(
        sorted(Counter(model for each in programs for model in each.models or [""] * len(each.samples)).items())
    )


def with_origin(task: Task, report: TaskReport) -> Task:
    """The task with the origin of each added test case in its metadata."""
    if not report.added:
        return task
    origins: list[Any] = msgspec.to_builtins(report.added)
    return msgspec.structs.replace(task, metadata=task.metadata | {ADDED: [*task.metadata.get(ADDED, []), *origins]})


def totals(reports: Sequence[TaskReport]) -> dict[str, Any]:
    """Of all tasks together."""
    wrong: Counter[str] = Counter()
    for each in reports:
        wrong.update(each.wrong)
    return {
        "tasks": len(reports),
        "status": dict(Counter(each.status for each in reports).most_common()),
        "tests": sum(each.tests for each in reports),
        "added": sum(len(each.added) for each in reports),
        "passing": sum(each.passing for each in reports),
        "wrong": dict(wrong.most_common()),
        "mutants": sum(each.mutants for each in reports),
        "killed_before": sum(each.killed_before for each in reports),
        "killed_after": sum(each.killed_after for each in reports),
    }
