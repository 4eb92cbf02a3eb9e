"""Decides whether a preamble, the dataset's code that precedes every completion, only imports and sets constants.

Such a header of imports runs once for all test cases that share a process (see `inside/header.py`).
"""

from __future__ import annotations

import ast
from functools import lru_cache

from evaluator import syntax
from evaluator.sandbox.inside.header import Import

_LIMITS = frozenset(("setrecursionlimit", "set_int_max_str_digits"))
"""They are restored after each run."""

_MAKES_CONSTANTS = frozenset(("float", "int"))


@lru_cache(64)
def imports_of(preamble: str) -> tuple[Import, ...] | None:
    """What a header imports, in order; None for a preamble that does more than a header."""
    try:
        body = syntax.parse(preamble).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    imports: list[Import] = []
    for statement in body:
        if isinstance(statement, ast.Import):
            imports += [(name.asname or name.name.partition(".")[0], name.name, "") for name in statement.names]
        elif isinstance(statement, ast.ImportFrom) and not statement.level:
            imports += [(name.asname or name.name, statement.module or "", name.name) for name in statement.names]
        elif not _is_harmless(statement):
            return None
    if any(bound.startswith("__") or module == "__main__" for bound, module, _ in imports):
        return None
    return tuple(imports)


def _is_harmless(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Assign):
        plain = all(isinstance(target, ast.Name) and not target.id.startswith("__") for target in statement.targets)
        return plain and _is_constant(statement.value)
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
