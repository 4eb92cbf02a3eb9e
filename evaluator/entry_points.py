"""The function that asserts test, found in their source. Nothing is run."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator

from evaluator import syntax
from evaluator.task_parts import RecordError

_NOT_PYTHON = (SyntaxError, ValueError, RecursionError, MemoryError)
_OF_TESTS = frozenset(("candidate", "check"))


def names_called(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Every name that is called in these nodes or below, as often as it is."""
    for node in nodes:
        for part in ast.walk(node):
            if isinstance(part, ast.Call) and isinstance(part.func, ast.Name):
                yield part.func.id


def entry_point_of(test: str, preamble: str) -> str | None:
    """The one name that the test's asserts call and neither Python nor the dataset defines; None where there is none.

    Raises `RecordError` where there are several.
    """
    try:
        trees = [syntax.parse(test), syntax.parse(preamble)]
        parts = [part for tree in trees for part in ast.walk(tree)]
        asserts = [part for part in ast.walk(trees[0]) if isinstance(part, ast.Assert)]
        called = dict.fromkeys(names_called(asserts))
    except _NOT_PYTHON:
        return None
    known = _OF_TESTS.union(dir(builtins), *map(_defined, parts))
    found = [name for name in called if name not in known]
    if len(found) > 1:
        several = ", ".join(found)
        raise RecordError(f"entry_point is missing, and the asserts call {several}: name the function they are about")
    return found[0] if found else None


def _defined(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name) | ast.arg(arg=name):
            yield name
        case ast.Name(id=name, ctx=ast.Store()):
            yield name
        case ast.alias(name=name, asname=renamed):
            yield renamed or name.partition(".")[0]
