"""Decides whether a preamble, the dataset's code that precedes every completion, only imports and sets constants.

Such a header of imports runs once for all test cases that share a process (see `guest/header.py`).
"""

from __future__ import annotations

import ast
from functools import lru_cache

from evaluator import syntax
from evaluator.sandbox.guest.header import Import

_LIMITS = frozenset(("setrecursionlimit", "set_int_max_str_digits"))
"""They are restored after each run."""

_MAKES_CONSTANTS = frozenset(("float", "int"))


@lru_cache(64)
def header_of(preamble: str) -> tuple[Import | str, ...] | None:
    """What a header does, in order: its imports, and the text of other statements; None if it is not a header."""
    try:
        steps = tuple(step for statement in syntax.parse(preamble).body for step in _steps(statement))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    imports = [step for step in steps if not isinstance(step, str)]
    if any(bound.startswith("__") or module in _OF_THE_COMPILER for bound, module, _ in imports):
        return None
    return steps


_OF_THE_COMPILER = ("__main__", "__future__")


def _steps(statement: ast.stmt) -> list[Import | str]:
    """Raises `ValueError` for a statement that a header does not have."""
    if isinstance(statement, ast.Import):
        return [_import(name.name, name.asname) for name in statement.names]
    if isinstance(statement, ast.ImportFrom) and not statement.level:
        return [(name.asname or name.name, statement.module or "", name.name) for name in statement.names]
    if not _is_harmless(statement):
        raise ValueError
    return [ast.unparse(statement)]


def _import(module: str, name: str | None) -> Import:
    package, _, last = module.rpartition(".")
    if name and package:  # `import a.b as c` binds b, `import a.b` binds a
        return name, package, last
    return name or module.partition(".")[0], module, ""


def _is_harmless(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Assign):
        is_simple = all(isinstance(target, ast.Name) and not target.id.startswith("__") for target in statement.targets)
        return is_simple and _is_constant(statement.value)
    if isinstance(statement, ast.Expr):
        return _is_constant(statement.value) or _sets_limit(statement.value)
    return isinstance(statement, ast.Pass)


def _sets_limit(value: ast.expr) -> bool:
    """`sys.setrecursionlimit(10**6)` and the like."""
    if not isinstance(value, ast.Call) or value.keywords:
        return False
    match value.func:
        case ast.Attribute(value=ast.Name(id="sys"), attr=name) | ast.Name(id=name):
            return name in _LIMITS and all(map(_is_constant, value.args))
    return False


def _is_constant(value: ast.expr) -> bool:
    """Whether it is immutable and computing it has no effect: `10**9 + 7`, `float("inf")`, `("a", -1)`."""
    match value:
        case ast.Constant():
            return True
        case ast.UnaryOp(operand=operand):
            return _is_constant(operand)
        case ast.BinOp(left=left, right=right):
            return _is_constant(left) and _is_constant(right)
        case ast.Tuple(elts=items):
            return all(map(_is_constant, items))
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
            return name in _MAKES_CONSTANTS and all(map(_is_constant, arguments))
    return False
