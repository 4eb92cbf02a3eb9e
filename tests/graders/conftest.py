"""One sandbox for the tests of a folder, and a short way to grade a program in it.

Run alone: .venv/bin/python -m pytest tests/graders
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from evaluator.graders import Bench, get_grader
from evaluator.model import Grade, Kind, Limits, Rollout, Task
from evaluator.options import Disagreements, Options
from evaluator.sandbox import FaultError, Sandbox
from tests.graders.judge_server import JudgeServer, judge_server, own_environment

PATIENT = Limits(wall_s=30, cpu_s=30, total_s=90)
"""For what should end by itself: the machine that runs the tests may be busy."""

Graded = Callable[..., Grade]


@pytest.fixture(scope="package")
def sandbox() -> Iterator[Sandbox]:
    """It ends with the folder: tests of other folders look for what runs below this process."""
    with Sandbox() as made:
        yield made


@pytest.fixture
def graded(sandbox: Sandbox) -> Graded:
    """`graded(task, program, limits=..., disagreement=...)`: its grade by the `tests` grader."""

    def grade(task: Task, program: str, limits: Limits = PATIENT, disagreement: Disagreements = "unknown") -> Grade:
        rollout = Rollout(task_id=task.task_id, completion=program, kind=Kind.FULL)
        bench = Bench(sandbox, Options(limits=limits, disagreement=disagreement))
        try:
            return get_grader("tests").grade(task, rollout, bench)
        except FaultError:  # what ends itself by SIGKILL looks like it where the kernel ended another test's process
            return get_grader("tests").grade(task, rollout, bench)

    return grade


@pytest.fixture
def judge(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[JudgeServer]:
    """A judge that gives 8 of 10, in an environment without keys."""
    own_environment(monkeypatch, tmp_path)
    with judge_server() as made:
        yield made
