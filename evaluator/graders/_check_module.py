"""The module that an assert task calls `test`: its `check`, and what names mean in there. Parsed, never run.

The names that a check may use are those of its parameter, of the entry point, and of the builtin constructors
of values. A name that the preamble, the prompt or the test module itself defines is no longer one of them: it
means the dataset's own helper, never a definition of the completion's.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

from evaluator import syntax
from evaluator.model import Task

MAX_CHARACTERS = 8 * 1024 * 1024
"""A longer test is not parsed."""

_FILE = "<dataset source>"
# `"\d"` in a dataset is not our user's mistake. Set once: `catch_warnings` is not safe among threads.
warnings.filterwarnings("ignore", module=_FILE)


class RefusedError(Exception):
    """The check is not literal. The message is the reason, in one line."""


def refusal(node: ast.stmt | ast.expr, what: str) -> RefusedError:
    return RefusedError(f"line {node.lineno} of the test: {what}")


@dataclass(frozen=True)
class CheckModule:
    """A test whose grade is decided by `check` alone."""

    body: list[ast.stmt]
    """The statements of `check`."""
    callees: frozenset[str]
    """Names that stand for the completion's entry point."""
    shadowed: frozenset[str]
    """Names that do not mean the builtin of that name."""


def read_check(task: Task) -> CheckModule:
    """The check of an assert task. Raises `RefusedError`."""
    if task.test is None:
        raise RefusedError("the task has no test")
    module = _parsed(task.test)
    if module is None:
        raise RefusedError("the test does not parse")
    check, parameter = _check_function(module, task.entry_point)
    of_test = frozenset(_bound(module))
    callees = {parameter}
    if task.entry_point is not None and task.entry_point not in of_test:
        callees.add(task.entry_point)
    outside = [parsed for parsed in map(_parsed, (task.preamble, task.prompt)) if parsed is not None]
    return CheckModule(check.body, frozenset(callees), of_test.union(callees, *map(_bound, outside)))


def _parsed(source: str) -> ast.Module | None:
    """The syntax tree; None where the text is no Python (a prompt may be prose) or too long."""
    if len(source) > MAX_CHARACTERS:
        return None
    try:
        return syntax.parse(source, _FILE)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _check_function(module: ast.Module, entry_point: str | None) -> tuple[ast.FunctionDef, str]:
    """The one `def check(candidate)` and its parameter, where nothing else in the module can fail."""
    found = [node for node in module.body if isinstance(node, ast.FunctionDef) and node.name == "check"]
    if not found:
        raise RefusedError("the test defines no `check(candidate)`")
    check = found[-1]
    if list(_bound(module)).count("check") > 1:
        raise refusal(check, "`check` is defined more than once")
    for node in module.body:
        if not _harmless(node, entry_point):
            raise refusal(node, "a statement outside of `check` that may decide the grade")
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
    """Definitions, imports and assigned metadata; also `check(entry_point)`, which some datasets add."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() | ast.Import() | ast.ImportFrom():
            return True
        case ast.Assign() | ast.AnnAssign() | ast.Pass() | ast.Expr(value=ast.Constant()):
            return True
        case ast.Expr(value=ast.Call(func=ast.Name(id="check"), args=[ast.Name(id=name)], keywords=[])):
            return name == entry_point
        case _:
            return False


def _bound(module: ast.Module) -> Iterator[str]:
    """Names that a module's own statements define, at any depth but inside of functions and classes."""
    pending: list[ast.AST] = list(module.body)
    while pending:
        node = pending.pop()
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
                continue
            case ast.alias(name=name, asname=renamed):
                yield renamed or name.partition(".")[0]
            case ast.Name(id=name, ctx=ast.Store()) | ast.ExceptHandler(name=str(name)):
                yield name
            case ast.Lambda():
                continue
        pending.extend(ast.iter_child_nodes(node))
