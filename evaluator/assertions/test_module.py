"""The test module of an assert task: its `check`, and the meaning of names in it. Parsed, never run.

A literal check may use its parameter, the entry point, and the builtin constructors of values. A name that the
preamble, the prompt or the test module defines means the dataset's own helper, never the completion's.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from evaluator.assertions.source import binds, parsed
from evaluator.assertions.ungradable import Refusal
from evaluator.model import Task


class RefusedError(Exception):
    """The check is not literal. The message is the reason, in one line."""


def refusal(node: ast.stmt | ast.expr, what: str) -> RefusedError:
    return RefusedError(f"line {node.lineno} of the test: {what}")


@dataclass(frozen=True)
class CheckModule:
    """A test whose `check` alone decides the grade."""

    body: list[ast.stmt]
    """The statements of `check`."""
    callees: frozenset[str]
    """Names of the completion's entry point."""
    shadowed: frozenset[str]
    """Names that do not mean the builtin."""


def read_check(task: Task) -> CheckModule:
    """The check of an assert task. Raises `RefusedError`."""
    if task.test is None:
        raise RefusedError("the task has no test")
    module = parsed(task.test)
    if module is None:
        raise RefusedError("the test does not parse")
    check, parameter = _check_function(module, task.entry_point)
    of_test = binds(module.body)
    callees = {parameter}
    if task.entry_point is not None and task.entry_point not in of_test:
        callees.add(task.entry_point)
    outside = [module for module in map(parsed, (task.preamble, task.prompt)) if module is not None]
    return CheckModule(check.body, frozenset(callees), of_test.union(callees, *(binds(each.body) for each in outside)))


def _check_function(module: ast.Module, entry_point: str | None) -> tuple[ast.FunctionDef, str]:
    """The only `def check(candidate)` and its parameter, if nothing else in the module can fail."""
    checks = [node for node in module.body if isinstance(node, ast.FunctionDef) and node.name == "check"]
    if not checks:
        raise RefusedError("the test defines no `check(candidate)`")
    check = checks[-1]
    if len(checks) > 1 or "check" in binds(node for node in module.body if node not in checks):
        raise refusal(check, "`check` is defined more than once")
    for node in module.body:
        if not _harmless(node, entry_point):
            raise refusal(node, Refusal.OUTSIDE_CHECK)
    match check:
        case ast.FunctionDef(
            decorator_list=[],
            args=ast.arguments(
                posonlyargs=[], args=[ast.arg(arg=name)], vararg=None, kwonlyargs=[], kwarg=None, defaults=[]
            ),
        ):
            return check, name
        case _:
            raise refusal(check, "`check` is not a plain function of one argument")


def _harmless(node: ast.stmt, entry_point: str | None) -> bool:
    """Whether it is a definition, an import, assigned metadata, or `check(entry_point)`, which some datasets add."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() | ast.Import() | ast.ImportFrom():
            return True
        case ast.Assign() | ast.AnnAssign() | ast.Pass() | ast.Expr(value=ast.Constant()):
            return True
        case ast.Expr(value=ast.Call(func=ast.Name(id="check"), args=[ast.Name(id=name)], keywords=[])):
            return name == entry_point
        case _:
            return False
