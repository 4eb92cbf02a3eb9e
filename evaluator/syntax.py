"""Python's parser, safe to use from several grading threads, lines as it counts them, and which names of a module are
its globals, according to its symbol tables. Runs nothing.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import re
import symtable
import sys
import threading
import warnings
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

NOT_PYTHON = (SyntaxError, ValueError, RecursionError, MemoryError)
"""What `parse` raises for a text that is not Python."""

COMPLETION: Final = "<completion>"
"""The filename of texts whose warnings, such as about `"\\d"`, are not ours to print."""
MAX_PARSED: Final = 100_000
"""Characters of a completion that are parsed."""
# Set once: `catch_warnings` is not thread-safe.
warnings.filterwarnings("ignore", module=re.escape(COMPLETION))

_turn = threading.Lock()
_TRIES = 3
_MOST_DIGITS = 50_000
"""Of a whole number, as in the sandbox; Python's own limit is 4,300."""


def parse(source: str, filename: str = "<unknown>") -> ast.Module:
    """`ast.parse`, by one thread at a time, with the same exceptions.

    Before Python 3.11.5 two threads that parse at once can make each other fail with `SystemError` ("AST constructor
    recursion depth mismatch"). Threads that are not ours, such as a page's, do not wait here; hence the retries.
    """
    with _alone():
        for _ in range(_TRIES - 1):
            try:
                return ast.parse(source, filename)
            except SystemError:
                continue
        return ast.parse(source, filename)


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    """One thread at a time, for which whole numbers may be long: that limit is the whole process's."""
    with _turn:
        digits = sys.get_int_max_str_digits()
        if 0 < digits < _MOST_DIGITS:
            sys.set_int_max_str_digits(_MOST_DIGITS)
        try:
            yield
        finally:
            sys.set_int_max_str_digits(digits)


def tree_of(source: str, filename: str = "<unknown>") -> ast.Module | None:
    """The syntax tree of a source; None if it is not Python."""
    try:
        return parse(source, filename)
    except NOT_PYTHON:
        return None


def completion_tree(text: str) -> ast.Module | None:
    """The syntax tree of a completion's text, not to be changed; None if it is not Python, or too long to know."""
    return None if len(text) > MAX_PARSED else _completion_tree(text)


def is_python(text: str) -> bool:
    """Whether a completion's text, of any length, is Python: for whoever needs no tree, most of whose time is saved."""
    try:
        with _alone():
            symtable.symtable(text, COMPLETION, "exec")
    except NOT_PYTHON:  # or Python that contradicts itself, such as two parameters of one name
        return tree_of(text, COMPLETION) is not None
    return True


@lru_cache(maxsize=4)
def _completion_tree(text: str) -> ast.Module | None:
    return tree_of(text, COMPLETION)


def lines_of(source: str) -> list[str]:
    """The lines as Python's parser counts them: fewer characters end one than for `str.splitlines`."""
    return source.replace("\r\n", "\n").replace("\r", "\n").split("\n")


BUILTINS = frozenset(dir(builtins))
_OF_MODULE = frozenset(("__name__", "__file__", "__doc__", "__builtins__", "__annotations__", "__spec__"))


class Scopes:
    """The scopes of one module."""

    def __init__(self, source: str) -> None:
        """Raises `SyntaxError` if a name is used in contradictory ways."""
        try:
            with _alone():
                self._module = symtable.symtable(source, COMPLETION, "exec")
        except NOT_PYTHON as error:
            raise SyntaxError(str(error)) from None

    def defined(self) -> frozenset[str]:
        """Names that the module or a function's `global` assigns."""
        own = (one.get_name() for one in self._module.get_symbols() if one.is_assigned() or one.is_imported())
        declared = (
            one.get_name()
            for table in _inner(self._module)
            for one in table.get_symbols()
            if one.is_declared_global() and one.is_assigned()
        )
        return frozenset((*own, *declared))

    def free(self) -> frozenset[str]:
        """Globals that the module reads and does not define, without builtins."""
        own = {one.get_name() for one in self._module.get_symbols() if one.is_referenced()}
        inner = {
            one.get_name()
            for table in _inner(self._module)
            for one in table.get_symbols()
            if one.is_global() and one.is_referenced()
        }
        return frozenset((own | inner) - self.defined() - BUILTINS - _OF_MODULE)


def _inner(module: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    pending = list(module.get_children())
    while pending:
        table = pending.pop()
        yield table
        pending.extend(table.get_children())
