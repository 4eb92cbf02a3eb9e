"""Tasks and distinct completions for the benchmarks, made from `_functions` and `_stdin_programs`."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from itertools import count, islice
from random import Random

import _warm
import msgspec
from _functions import FUNCTIONS, Function
from _stdin_programs import HEADER, STDIN_PROGRAMS, StdinProgram

from evaluator import Rollout, Task
from evaluator.model import Kind, Mode, TestCase

_numbers = count(1)
_RUN = secrets.token_hex(4)


def distinct(source: str) -> str:
    """The same program, with a text that no other completion has, so that no grade of an earlier one is reused."""
    return f"# sample {_RUN}-{next(_numbers)}\n{source.strip()}\n"


def call_tasks(tests: int) -> list[Task]:
    """A task for each function, with that many test cases."""
    return [_call_task(function, tests) for function in FUNCTIONS]


def stdin_tasks(tests: int) -> list[Task]:
    """A task for each program, with that many test cases."""
    return [_stdin_task(program, tests) for program in STDIN_PROGRAMS]


def under_header(tasks: list[Task]) -> list[Task]:
    """The same tasks with the import header that contest graders put before every completion."""
    return [msgspec.structs.replace(task, preamble=HEADER) for task in tasks]


def completions(tasks: list[Task], number: int) -> Iterator[Rollout]:
    """That many distinct, right completions, generated one by one; the tasks take turns."""
    turns = (tasks[turn % len(tasks)] for turn in count())
    for turn, task in enumerate(islice(turns, number)):
        source = distinct(task.reference or "")
        yield Rollout(task_id=task.task_id, completion=source, sample_id=f"sample-{turn}", kind=Kind.FULL)


def _call_task(function: Function, tests: int) -> Task:
    rng = Random(function.name)
    called = _warm.loaded(_warm.compiled(function.source), function.name)
    cases = []
    for index in range(tests):
        arguments = function.make_arguments(rng)
        given = "\n".join(json.dumps(argument) for argument in arguments)
        cases.append(TestCase(index, given, json.dumps(called(*arguments))))
    return Task(
        task_id=f"call-{function.name}-{tests}",
        mode=Mode.CALL,
        entry_point=function.name,
        cases=tuple(cases),
        reference=function.source,
    )


def _stdin_task(program: StdinProgram, tests: int) -> Task:
    rng = Random(program.name)
    code = _warm.compiled(program.source)
    inputs = [program.make_input(rng) for _ in range(tests)]
    cases = tuple(TestCase(index, given, _warm.run(code, given)) for index, given in enumerate(inputs))
    return Task(task_id=f"stdin-{program.name}-{tests}", mode=Mode.STDIN, cases=cases, reference=program.source)
