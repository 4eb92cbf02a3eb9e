"""Makes a task from the test code that an evaluation harness runs after a program."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from evaluator import syntax
from evaluator.formats import mbpp
from evaluator.formats._code_fields import mode_of_test
from evaluator.model import Mode, RecordError, Task


def task_of_code(test: str, task_id: str, *, entry_point: str | None = None, prompt: str = "") -> Task:
    """The task of test code: asserts, `check(candidate)` with or without its call, `unittest` classes, or statements.

    `entry_point`: the function to test; None: the one that the code passes to `check`, or that its asserts call. Code
    that names none runs as it is, after the program. `prompt`: what a completion may continue, and whose helpers the
    test may use. Raises `RecordError` if the code is empty or not Python.

    >>> task_of_code("assert add(1, 2) == 3", "sums").entry_point
    'add'
    """
    if not test.strip():
        raise RecordError("the test code is empty: give what decides whether a program passes")
    try:
        body = syntax.parse(test).body
    except syntax.NOT_PYTHON as error:
        where = f"line {error.lineno}: {error.msg}" if isinstance(error, SyntaxError) else error
        raise RecordError(f"the test code is not valid Python: {where}") from None
    mode = mode_of_test(test)
    name = entry_point or next(_names_checked(body), None)
    task = _task_of_asserts(test, body, task_id) if mode is Mode.ASSERT else None
    if task is None:
        task = Task(task_id=task_id, mode=mode, test=test, entry_point=name)
    task.entry_point = name or task.entry_point
    task.prompt, task.source = prompt, ""
    return task


def _names_checked(body: list[ast.stmt]) -> Iterator[str]:
    """The names in calls `check(NAME)` at the top level, last first."""
    for node in reversed(body):
        match node:
            case ast.Expr(value=ast.Call(func=ast.Name(id="check"), args=[ast.Name(id=name)], keywords=[])):
                yield name


def _task_of_asserts(test: str, body: list[ast.stmt], task_id: str) -> Task | None:
    """The task of imports and then asserts alone; None for anything else, or if they call no function."""
    imports = [node for node in body if isinstance(node, ast.Import | ast.ImportFrom)]
    asserts = body[len(imports) :]
    if not asserts or not all(isinstance(node, ast.Assert) for node in asserts):
        return None
    fields = {
        "task_id": task_id,
        "test_imports": [ast.get_source_segment(test, node) for node in imports],
        "test_list": [ast.get_source_segment(test, node) for node in asserts],
    }
    try:
        return mbpp.read_task(fields)
    except RecordError:  # such as `assert LIMIT == 3`
        return None
