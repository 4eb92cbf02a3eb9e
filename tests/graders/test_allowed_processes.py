"""A task that allows processes is graded where they can be allowed; elsewhere the completion is not to blame."""

from __future__ import annotations

from evaluator.graders import Bench, get_grader
from evaluator.graders.bench import Options
from evaluator.model import Kind, Mode, Rollout, Task, TestCase, Verdict
from evaluator.sandbox import Sandbox, Settings, Way

TASK = Task(task_id="t", mode=Mode.STDIN, cases=(TestCase(0, "", "child\n"),), limits={"processes": 1})
PROGRAM = "import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'print(\"child\")'])\n"


def graded(way: Way) -> tuple[Verdict, float | None, str | None]:
    rollout = Rollout(task_id="t", completion=PROGRAM, kind=Kind.FULL)
    with Sandbox(Settings(way=way)) as sandbox:
        grade = get_grader("tests").grade(TASK, rollout, Bench(sandbox, Options()))
    return grade.verdict, grade.reward, grade.error_message


def test_with_namespaces_it_is_graded() -> None:
    assert graded(Way.NAMESPACES) == (Verdict.PASSED, 1.0, None)


def test_without_them_it_is_unknown() -> None:
    verdict, reward, message = graded(Way.LANDLOCK)
    assert (verdict, reward) == (Verdict.UNKNOWN, None)
    assert message is not None
    assert "user namespaces" in message
