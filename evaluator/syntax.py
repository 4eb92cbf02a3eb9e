"""Python's parser, safe to use from several grading threads, and lines as it counts them."""

from __future__ import annotations

import ast
import contextlib
import symtable
import sys
import threading
from collections.abc import Iterator

NOT_PYTHON = (SyntaxError, ValueError, RecursionError, MemoryError)
"""What `parse` raises for a text that is not Python."""

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


def names_in(source: str, filename: str) -> symtable.SymbolTable:
    """`symtable.symtable` of a module, by one thread at a time, with the same exceptions as `parse`."""
    with _alone():
        return symtable.symtable(source, filename, "exec")


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


def lines_of(source: str) -> list[str]:
    """The lines as Python's parser counts them: fewer characters end one than for `str.splitlines`."""
    return source.replace("\r\n", "\n").replace("\r", "\n").split("\n")
