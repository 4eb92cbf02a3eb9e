"""Python's parser, safe to use from several grading threads, and lines as it counts them."""

from __future__ import annotations

import ast
import threading

NOT_PYTHON = (SyntaxError, ValueError, RecursionError, MemoryError)
"""What `parse` raises for a text that is not Python."""

_turn = threading.Lock()
_TRIES = 3


def parse(source: str, filename: str = "<unknown>") -> ast.Module:
    """`ast.parse`, by one thread at a time, with the same exceptions.

    Before Python 3.11.5 two threads that parse at once can make each other fail with `SystemError` ("AST constructor
    recursion depth mismatch"). Threads that are not ours, such as a page's, do not wait here; hence the retries.
    """
    with _turn:
        for _ in range(_TRIES - 1):
            try:
                return ast.parse(source, filename)
            except SystemError:
                continue
        return ast.parse(source, filename)


def tree_of(source: str, filename: str = "<unknown>") -> ast.Module | None:
    """The syntax tree of a source; None if it is not Python."""
    try:
        return parse(source, filename)
    except NOT_PYTHON:
        return None


def lines_of(source: str) -> list[str]:
    """The lines as Python's parser counts them: fewer characters end one than for `str.splitlines`."""
    return source.replace("\r\n", "\n").replace("\r", "\n").split("\n")
