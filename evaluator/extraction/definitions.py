"""Which names a text defines, and whether it is Python. Texts are parsed up to `MAX_PARSED` characters, never run."""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from typing import NamedTuple

from evaluator.model import Mode, Task
from evaluator.syntax import MAX_PARSED, Scopes, completion_tree

_SOLUTION = re.compile(r"^class[ \t]+Solution\b", re.MULTILINE)


class _Patterns(NamedTuple):
    """Patterns that find definitions of one name."""

    top: re.Pattern[str]
    inner: re.Pattern[str]
    assignment: re.Pattern[str]
    word: re.Pattern[str]


@lru_cache(maxsize=4096)
def _patterns(name: str) -> _Patterns:
    escaped = re.escape(name)
    return _Patterns(
        top=re.compile(rf"^(?:(?:async[ \t]+)?def|class)[ \t]+{escaped}\b", re.MULTILINE),
        inner=re.compile(rf"^[ \t]+(?:async[ \t]+)?def[ \t]+{escaped}\b", re.MULTILINE),
        assignment=re.compile(rf"^{escaped}[ \t]*(?::[^=\n]*)?=(?!=)", re.MULTILINE),
        word=re.compile(rf"\b{escaped}\b"),
    )


def called(task: Task) -> str | None:
    """The name of the function that the tests call; None for programs."""
    return None if task.mode is Mode.STDIN else task.entry_point


def defines(text: str, name: str) -> bool:
    """Whether the text defines the name at its top level, in any way."""
    return defines_by_statement(text, name) or binds(text, name)


def binds(text: str, name: str) -> bool:
    """Whether an assignment or an import at the top level binds the name."""
    patterns = _patterns(name)
    if patterns.assignment.search(text):
        return True
    return patterns.word.search(text) is not None and name in names_of(text).defined


def defines_by_statement(text: str, name: str) -> bool:
    """Whether a `def` or `class` at the top level does, or in an `if` or `try` there, or a method of `Solution`."""
    patterns = _patterns(name)
    if patterns.top.search(text):
        return True
    if patterns.inner.search(text) is None:
        return False
    return _SOLUTION.search(text) is not None or name in names_of(text).defined


class Names(NamedTuple):
    """What a text defines at its top level, and what it uses without defining it."""

    defined: frozenset[str] = frozenset()
    free: frozenset[str] = frozenset()


@lru_cache(maxsize=64)
def names_of(text: str) -> Names:
    """Its names; none if it is not Python, or too long to know."""
    if not fits_and_parses(text):
        return Names()
    try:
        scopes = Scopes(text)
    except SyntaxError:
        return Names()
    return Names(scopes.defined(), scopes.free())


def parses(text: str) -> bool:
    """Whether it is Python; a text that is too long to look counts as such."""
    return len(text) > MAX_PARSED or fits_and_parses(text)


def fits_and_parses(text: str) -> bool:
    """Whether it is Python, and not too long to know."""
    return completion_tree(text) is not None


def is_code(text: str) -> bool:
    """Whether a text parses and is more than names and values, unlike an English word or an output."""
    tree = completion_tree(text)
    return len(text) > MAX_PARSED if tree is None else any(not _is_value(node) for node in tree.body)


def _is_value(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and not any(
        isinstance(part, ast.Call | ast.Await | ast.NamedExpr) for part in ast.walk(node.value)
    )


def acts(text: str) -> bool:
    """Whether it does something when it is run, besides defining functions, classes and constants."""
    tree = completion_tree(text)
    return tree is not None and any(not _defines_alone(node) for node in tree.body)


def _defines_alone(node: ast.stmt) -> bool:
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() | ast.Import() | ast.ImportFrom() | ast.Pass():
            return True
        case ast.Assign(value=value) | ast.AnnAssign(value=value):
            return value is None or not any(isinstance(part, ast.Call) for part in ast.walk(value))
    return _is_value(node)
