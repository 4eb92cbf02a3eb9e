"""Writes a run of many rollouts without grading any: verdicts, messages and lengths like those of real runs."""

from __future__ import annotations

import itertools
import random
import sys
from collections import Counter
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
from evaluator.runs.reading import Manifest
from evaluator.runs.schema import columns_of
from evaluator.runs.writing import RunWriter

TESTS = 10
SAMPLES = 200
_VERDICTS = (
    (Verdict.WRONG_ANSWER, 55),
    (Verdict.RUNTIME_ERROR, 20),
    (Verdict.TIME_LIMIT, 11),
    (Verdict.COMPILE_ERROR, 7),
    (Verdict.NO_CODE, 5),
    (Verdict.UNKNOWN, 2),
)
"""Of the rollouts that do not pass."""
_ERRORS = ("KeyError", "IndexError", "TypeError", "NameError", "ZeroDivisionError")
_RAISED = (Verdict.RUNTIME_ERROR, Verdict.COMPILE_ERROR)
_BAD_TASKS = 50
"""One task in so many has a test case that nobody passes."""
_LINES = tuple(
    f"    {name}_{number} = {value}({name}_{number - 1}, {number * 37 % 101})  # {why}\n"
    for number in range(1, 60)
    for name, value, why in (
        ("total", "add", "the running total"), ("best", "max", "the greatest so far"), ("left", "sub", "what is left"),
    )
)  # fmt: skip


def write(path: Path, rollouts: int, samples: int = SAMPLES) -> Path:
    """A run of so many rollouts of ten test cases each, of 4 models over 20 training steps."""
    draw = random.Random(7)
    tasks = [_task(number) for number in range(-(-rollouts // samples))]
    manifest = Manifest(
        rollouts="rollouts.jsonl", dataset="tasks.jsonl", evaluator_version=evaluator.__version__, python="3.11.2"
    )
    with RunWriter.create(path, manifest) as writer:
        for task in tasks:
            writer.add_task(task, task.cases)
        graded = enumerate(_graded(tasks, rollouts, samples, draw))
        while batch := list(itertools.islice(graded, 64)):
            places, pairs = zip(*batch, strict=True)
            completions, grades = zip(*pairs, strict=True)
            verdicts = Counter(grade.verdict.value for grade in grades)
            writer.add_columns(places, columns_of(completions, grades), verdicts)
        writer.close("finished")
    return path


def _task(number: int) -> Task:
    cases = tuple(TestCase(index, f"{index}\n{number}", str(index + number)) for index in range(TESTS))
    return Task(
        task_id=f"task/{number}", mode=Mode.CALL, entry_point="add", cases=cases, prompt=f"Write add(a, b). #{number}"
    )


def _graded(tasks: list[Task], rollouts: int, samples: int, draw: random.Random) -> Iterator[tuple[Rollout, Grade]]:
    words, weights = zip(*_VERDICTS, strict=True)
    for number in range(rollouts):
        place, sample = divmod(number, samples)
        task, is_bad = tasks[place], place % _BAD_TASKS == 0
        passes = not is_bad and draw.random() < (place * 37 % 100 + 1) / 100
        verdict = Verdict.PASSED if passes else draw.choices(words, weights)[0]
        code = f"def add(a, b):\n{''.join(draw.choices(_LINES, k=draw.randrange(2, 36)))}    return a + b\n"
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
            _grade(task, sample, verdict, code, draw, failing=0 if is_bad else draw.randrange(TESTS)),
        )


def _grade(task: Task, sample: int, verdict: Verdict, code: str, draw: random.Random, failing: int) -> Grade:
    ran = verdict not in (Verdict.NO_CODE, Verdict.UNKNOWN)
    first = _case(task.cases[failing], verdict, draw) if ran and verdict is not Verdict.PASSED else None
    cases = tuple(
        first if first and case.index == failing else _case(case, Verdict.PASSED, draw) for case in task.cases
    )
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
    took = 10.0 if verdict is Verdict.TIME_LIMIT else draw.lognormvariate(-4, 1)
    memory, expected = 12 + 28 * draw.random(), case.expected
    if verdict is Verdict.PASSED:
        return CaseResult(
            index=case.index, verdict=verdict, expected=expected, actual=expected, wall_s=took, cpu_s=took,
            memory_mb=memory,
        )  # fmt: skip
    error = draw.choice(_ERRORS) if verdict in _RAISED else None
    wrong = (
        str(int(expected) + draw.choice((1, -1, 17, draw.randrange(1_000))))
        if verdict is Verdict.WRONG_ANSWER
        else None
    )
    line = draw.randrange(2, 20)
    return CaseResult(
        index=case.index,
        verdict=verdict,
        expected=expected,
        actual=wrong,
        difference=Difference(f"expected {expected}, got {wrong}", 1, 1) if wrong else None,
        error_type=error,
        error_message=f"name 'part_{draw.randrange(999)}' in {draw.choice(_LINES)[:20]}" if error else None,
        traceback=Traceback(error, "", (Frame(line, "add", "return a + b"),)) if error else None,
        wall_s=took,
        cpu_s=took,
        memory_mb=memory,
    )


if __name__ == "__main__":
    print(write(Path(sys.argv[1]), int(sys.argv[2])))
