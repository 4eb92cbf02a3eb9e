"""One rollout after another in one sandbox: tasks that can't be graded, limits, and what is not run."""

from typing import Any

import pytest

from evaluator.model import Grade, Kind, Limits, Mode, Rollout, Task, TestCase, Verdict
from evaluator.options import Options
from evaluator.sandbox import Sandbox
from evaluator.workers.worker import Worker

PATIENT = Limits(wall_s=300, cpu_s=60, total_s=300)
RIGHT = "print(input())"
WRONG = "print(int(input()) + 1)"
SLEEPS = "import time\ntime.sleep({})\nprint(input())"


def echo_task(task_id: str = "echo", cases: int = 3, **fields: Any) -> Task:
    tests = tuple(TestCase(index, f"{index}\n", f"{index}\n") for index in range(cases))
    return Task(task_id=task_id, mode=Mode.STDIN, cases=tests, **fields)


def graded(sandbox: Sandbox, task: Task, code: str, **options: Any) -> Grade:
    rollout = Rollout(task_id=task.task_id, completion=code, sample_id="s", kind=Kind.FULL)
    return Worker(Options(**{"limits": PATIENT} | options), sandbox=sandbox).grade(task, rollout)


@pytest.mark.parametrize(
    ("task", "reason"),
    [
        (Task(task_id="echo", mode=Mode.STDIN), "no test cases"),
        (Task(task_id="echo", mode=Mode.CALL, entry_point="f", cases=(TestCase(0, "{", "1"),)), "not JSON"),
        (echo_task(checker="no-such"), "no-such"),
        (echo_task(checker="value"), "value"),
        (echo_task(grader="no-such"), "no-such"),
        (echo_task(limits={"wall_s": -1.0}), "wall_s"),
        (echo_task(limits={"walls": 1.0}), "walls"),
    ],
)
def test_a_task_that_cannot_be_graded_says_why(sandbox: Sandbox, task: Task, reason: str) -> None:
    grade = graded(sandbox, task, RIGHT)
    assert (grade.verdict, grade.reward) == (Verdict.UNKNOWN, None)
    assert reason in str(grade.error_message)


def test_completions_without_code(sandbox: Sandbox) -> None:
    grade = graded(sandbox, echo_task(), "")
    assert (grade.verdict, grade.reward) == (Verdict.NO_CODE, 0.0)
    assert verdicts(grade) == [Verdict.NOT_RUN] * 3


def verdicts(grade: Grade) -> list[Verdict]:
    return [case.verdict for case in grade.cases]


def test_fail_fast_leaves_the_rest(sandbox: Sandbox) -> None:
    second_is_wrong = "x = int(input())\nprint(x if x != 1 else 'no')"
    grade = graded(sandbox, echo_task(cases=4), second_is_wrong, fail_fast=True)
    assert verdicts(grade) == [Verdict.PASSED, Verdict.WRONG_ANSWER, Verdict.NOT_RUN, Verdict.NOT_RUN]
    assert (grade.verdict, grade.pass_rate) == (Verdict.WRONG_ANSWER, 0.25)
    assert graded(sandbox, echo_task(cases=4), second_is_wrong).pass_rate == 0.75


@pytest.mark.parametrize(("grader", "allowed"), [("tests", 1), ("tests:reward=fraction", 2)])
def test_after_a_time_out_that_decides_or_the_second_the_rest_is_not_run(
    sandbox: Sandbox, grader: str, allowed: int
) -> None:
    code = "x = int(input())\nwhile x in (1, 2): pass\nprint(x)"
    grade = graded(sandbox, echo_task(cases=5, limits={"cpu_s": 0.3}), code, grader=grader)
    rest = [Verdict.TIME_LIMIT] * allowed + [Verdict.NOT_RUN] * (4 - allowed)
    assert verdicts(grade) == [Verdict.PASSED, *rest]
    assert (grade.verdict, grade.pass_rate) == (Verdict.TIME_LIMIT, 0.2)


@pytest.mark.parametrize(("grader", "run"), [("tests", 1), ("tests:reward=fraction", 3)])
def test_so_it_is_after_a_memory_limit_that_decides(sandbox: Sandbox, grader: str, run: int) -> None:
    code = "x = int(input())\nkept = []\nwhile True: kept.append(bytearray(2**24))"
    grade = graded(sandbox, echo_task(limits={"memory_mb": 128}), code, grader=grader)
    assert verdicts(grade) == [Verdict.MEMORY_LIMIT] * run + [Verdict.NOT_RUN] * (3 - run)


def test_a_tasks_own_limits_win(sandbox: Sandbox) -> None:
    short = graded(sandbox, echo_task("short", 1, limits={"wall_s": 0.2}), SLEEPS.format(600))
    long = graded(sandbox, echo_task("long", 1), SLEEPS.format(0.3))
    assert (short.verdict, long.verdict) == (Verdict.TIME_LIMIT, Verdict.PASSED)
    assert (short.limits.wall_s, short.limits.cpu_s) == (0.2, 60)
    assert long.limits == PATIENT
