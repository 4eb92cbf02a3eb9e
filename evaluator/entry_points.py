"""Finds the function that asserts test, from their source. Runs nothing."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator

from evaluator import syntax
from evaluator.task_parts import RecordError

_OF_TESTS = frozenset(("candidate", "check"))


def names_called(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Every name that is called in these nodes or below, once per call."""
    for node in nodes:
        for part in ast.walk(node):
            if isinstance(part, ast.Call) and isinstance(part.func, ast.Name):
                yield part.func.id


def entry_point_of(test: str, preamble: str) -> str | None:
    """The only name that the test's asserts call and neither Python nor the dataset defines; None if there is none.

    Raises `RecordError` if there are several.
    """
    try:
        trees = [syntax.parse(test), syntax.parse(preamble)]
        parts = [part for tree in trees for part in ast.walk(tree)]
        asserts = [part for part in ast.walk(trees[0]) if isinstance(part, ast.Assert)]
        called = dict.fromkeys(names_called(asserts))
    except syntax.NOT_PYTHON:
        return None
    known = _OF_TESTS.union(dir(builtins), *map(names_bound, parts))
    names = [name for name in called if name not in known]
    if len(names) > 1:
        raise RecordError(f"entry_point is missing, and the asserts call {', '.join(names)}: name the function to test")
    return names[0] if names else None


def names_bound(node: ast.AST) -> Iterator[str]:
    """The names that a node itself binds; `*` for an import that does not say which."""
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name) | ast.arg(arg=name):
            yield name
        case ast.Name(id=name, ctx=ast.Store()):
            yield name
        case ast.alias(name=name, asname=renamed):
            yield renamed or name.partition(".")[0]
