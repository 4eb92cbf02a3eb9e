"""Test code for the functions in `_functions`: asserts that compare calls with literals, as in datasets."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from random import Random
from typing import Any

import _warm
from _functions import FUNCTIONS, Function

from evaluator import Task
from evaluator.model import Mode

Calls = list[tuple[list[Any], Any]]
"""Arguments and the right result."""


def assert_tasks(asserts: int, *, split: bool) -> list[Task]:
    """A task for each function, with that many asserts.

    `split` adds an import as the first statement, which only prevents extraction.
    """
    return [_assert_task(function, calls, split) for function, calls in _called(asserts)]


def loop_tasks(calls: int) -> list[Task]:
    """A task for each function, with one test case: a loop of that many calls."""
    return [_loop_task(function, made) for function, made in _called(calls)]


def run_alone(calls: int) -> Callable[[], None]:
    """A function that makes that many calls of each function, in this process."""
    made = [(_loaded(function), [given for given, _ in pairs]) for function, pairs in _called(calls)]

    def run() -> None:
        for function, arguments in made:
            for given in arguments:
                function(*given)

    return run


def _loaded(function: Function) -> Any:
    return _warm.loaded(_warm.compiled(function.source), function.name)


def _called(number: int) -> Iterable[tuple[Function, Calls]]:
    for function in FUNCTIONS:
        rng = Random(function.name)
        called = _loaded(function)
        yield function, [(given, called(*given)) for given in (function.make_arguments(rng) for _ in range(number))]


def _assert_task(function: Function, calls: Calls, split: bool) -> Task:
    asserts = [f"assert candidate({', '.join(map(repr, given))}) == {wanted!r}" for given, wanted in calls]
    return _task(function, [*(["import math"] if split else []), *asserts])


def _loop_task(function: Function, calls: Calls) -> Task:
    return _task(function, [f"for given, wanted in {calls!r}:", "    assert candidate(*given) == wanted"])


def _task(function: Function, body: list[str]) -> Task:
    test = "def check(candidate):\n" + "".join(f"    {line}\n" for line in body)
    return Task(
        task_id=function.name,
        mode=Mode.ASSERT,
        entry_point=function.name,
        test=test,
        reference=function.source,
    )
