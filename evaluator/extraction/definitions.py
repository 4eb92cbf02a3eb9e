"""Which names a text defines, and whether it is Python. Texts are parsed up to `MAX_PARSED` characters, never run."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from evaluator import syntax
from evaluator.model import Mode, Task

MAX_PARSED = 100_000
"""Characters; a longer text is not parsed, and counts as Python if it defines the entry point."""

FILENAME = "<completion>"
_TARGETS = re.compile(r"^(?:import|from)\b[^\n]*|^[^\s=#][^\n=]*(?==(?!=))", re.MULTILINE)
"""What may bind several names: `from m import g as f`, and the left side of `f, g = ...`."""
_SOLUTION = re.compile(r"^class[ \t]+Solution\b", re.MULTILINE)
_NESTING = (ast.If, ast.Try, ast.With, ast.For, ast.While)

# Parsing a completion must not print its warnings (such as an invalid escape) as if they were ours.
for _category in (SyntaxWarning, DeprecationWarning):
    warnings.filterwarnings("ignore", category=_category, module=re.escape(FILENAME))


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
    if not any(patterns.word.search(found.group()) for found in _TARGETS.finditer(text)):
        return False
    tree = _tree(text)
    return tree is not None and any(name in _bound(node) for node in _run_at_once(tree.body))


def _bound(statement: ast.stmt) -> set[str]:
    match statement:
        case ast.Import() | ast.ImportFrom():
            return {alias.asname or alias.name.partition(".")[0] for alias in statement.names}
        case ast.Assign(targets=targets):
            return {node.id for each in targets for node in ast.walk(each) if isinstance(node, ast.Name)}
    return set()


def defines_by_statement(text: str, name: str) -> bool:
    """Whether a `def` or `class` at the top level does, or a method of `class Solution`."""
    patterns = _patterns(name)
    if patterns.top.search(text):
        return True
    if patterns.inner.search(text) is None:
        return False
    return _SOLUTION.search(text) is not None or _defines_when_run(text, name)


def _defines_when_run(text: str, name: str) -> bool:
    """Whether a function is defined inside a statement such as `if` or `try` at the top."""
    tree = _tree(text)
    return tree is not None and any(
        isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name
        for node in _run_at_once(tree.body)
    )


def _run_at_once(statements: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    waiting = list(statements)
    while waiting:
        statement = waiting.pop()
        yield statement
        if isinstance(statement, _NESTING):
            waiting.extend(node for node in ast.iter_child_nodes(statement) if isinstance(node, ast.stmt))
        if isinstance(statement, ast.Try):
            waiting.extend(node for handler in statement.handlers for node in handler.body)


def _tree(text: str) -> ast.Module | None:
    return None if len(text) > MAX_PARSED else syntax.tree_of(text, FILENAME)


def parses(text: str) -> bool:
    """Whether it is Python; a text that is too long to look counts as such."""
    return len(text) > MAX_PARSED or _tree(text) is not None


def fits_and_parses(text: str) -> bool:
    """Whether it is Python, and not too long to know."""
    return _tree(text) is not None


def is_code(text: str) -> bool:
    """Whether a text parses and is more than names and values, unlike an English word or an output."""
    tree = _tree(text)
    return len(text) > MAX_PARSED if tree is None else any(not _is_value(node) for node in tree.body)


def _is_value(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and not any(
        isinstance(part, ast.Call | ast.Await | ast.NamedExpr) for part in ast.walk(node.value)
    )


def acts(text: str) -> bool:
    """Whether it does something when it is run, besides defining functions, classes and constants."""
    tree = _tree(text)
    return tree is not None and any(not _defines_alone(node) for node in tree.body)


def _defines_alone(node: ast.stmt) -> bool:
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() | ast.Import() | ast.ImportFrom() | ast.Pass():
            return True
        case ast.Assign(value=value) | ast.AnnAssign(value=value):
            return value is None or not any(isinstance(part, ast.Call) for part in ast.walk(value))
    return _is_value(node)
