"""Writes a run of many rollouts without grading any: verdicts, messages and lengths like those of real runs."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import evaluator
from evaluator.model import (
    CaseResult,
    Difference,
    Flag,
    Frame,
    Grade,
    Kind,
    Mode,
    Rollout,
    Task,
    TestCase,
    Traceback,
    Verdict,
)
from evaluator.runs.reading import Manifest, RunWriter

TESTS = 7
SAMPLES = 64
_VERDICTS = (
    (Verdict.PASSED, 55),
    (Verdict.WRONG_ANSWER, 25),
    (Verdict.RUNTIME_ERROR, 9),
    (Verdict.TIME_LIMIT, 5),
    (Verdict.COMPILE_ERROR, 3),
    (Verdict.NO_CODE, 2),
    (Verdict.UNKNOWN, 1),
)
_ERRORS = ("KeyError", "IndexError", "TypeError", "NameError", "ZeroDivisionError")
_FILLER = "    # The running total is kept in one variable, which the loop updates.\n"


def write(path: Path, rollouts: int) -> Path:
    """A run of so many rollouts, 64 per task, of 4 models over 20 training steps."""
    draw = random.Random(7)
    tasks = [_task(number) for number in range(-(-rollouts // SAMPLES))]
    manifest = Manifest(
        rollouts="rollouts.jsonl", dataset="tasks.jsonl", evaluator_version=evaluator.__version__, python="3.11.2"
    )
    with RunWriter.create(path, manifest) as writer:
        for task in tasks:
            writer.add_task(task, task.cases)
        for row, (rollout, grade) in enumerate(_graded(tasks, rollouts, draw)):
            writer.add(rollout, grade, row)
        writer.close("finished")
    return path


def _task(number: int) -> Task:
    cases = tuple(TestCase(index, f"{index}\n{number}", str(index + number)) for index in range(TESTS))
    return Task(
        task_id=f"task/{number}", mode=Mode.CALL, entry_point="add", cases=cases, prompt=f"Write add(a, b). #{number}"
    )


def _graded(tasks: list[Task], rollouts: int, draw: random.Random) -> Iterator[tuple[Rollout, Grade]]:
    words, weights = zip(*_VERDICTS, strict=True)
    for number in range(rollouts):
        task, sample = tasks[number // SAMPLES], number % SAMPLES
        verdict = draw.choices(words, weights)[0]
        code = f"def add(a, b):\n{_FILLER * draw.randrange(2, 60)}    return a + b + {draw.randrange(3)}\n"
        yield (
            Rollout(
                task_id=task.task_id,
                sample_id=f"{task.task_id}#{sample}",
                sample_index=sample,
                model=f"policy-{sample % 4}",
                step=sample % 20 * 10,
                completion=f"Here it is.\n\n```python\n{code}```\n",
                given_reward=float(verdict is Verdict.PASSED or draw.random() < 0.02),
            ),
            _grade(task, sample, verdict, code, draw),
        )


def _grade(task: Task, sample: int, verdict: Verdict, code: str, draw: random.Random) -> Grade:
    ran = verdict not in (Verdict.NO_CODE, Verdict.UNKNOWN)
    failing = None if verdict is Verdict.PASSED else draw.randrange(TESTS)
    cases = tuple(_case(case, verdict if case.index == failing else Verdict.PASSED, draw) for case in task.cases)
    first = cases[failing] if ran and failing is not None else None
    return Grade(
        task_id=task.task_id,
        sample_id=f"{task.task_id}#{sample}",
        verdict=verdict,
        reward=None if verdict is Verdict.UNKNOWN else float(verdict is Verdict.PASSED),
        cases=cases if ran else (),
        flags=(Flag("missing_package", draw.choice(("pandas", "torch"))),) if draw.random() < 0.02 else (),
        error_type=first.error_type if first else None,
        error_message=first.error_message if first else None,
        error_line=first.error_line if first else None,
        checker="value",
        grader="tests",
        code=code if ran else None,
        kind=Kind.CHAT,
        line_offset=3,
    )


def _case(case: TestCase, verdict: Verdict, draw: random.Random) -> CaseResult:
    expected, error = case.expected, draw.choice(_ERRORS) if verdict is Verdict.RUNTIME_ERROR else None
    wrong = str(int(expected) + draw.choice((1, -1, 17)))
    took = 10.0 if verdict is Verdict.TIME_LIMIT else draw.lognormvariate(-4, 1)
    return CaseResult(
        index=case.index,
        verdict=verdict,
        expected=expected,
        actual={Verdict.PASSED: expected, Verdict.WRONG_ANSWER: wrong}.get(verdict),
        difference=Difference(f"expected {expected}, got {wrong}", 1, 1) if verdict is Verdict.WRONG_ANSWER else None,
        error_type=error,
        error_message=f"'{draw.randrange(99)}'" if error else None,
        traceback=Traceback(error, "", (Frame(draw.randrange(2, 20), "add", "return a + b"),)) if error else None,
        wall_s=took,
        cpu_s=took,
        memory_mb=draw.uniform(12, 40),
    )
