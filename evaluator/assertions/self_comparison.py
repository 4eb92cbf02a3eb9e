"""Comparisons of the completion with itself: `candidate([1, 2]) == f([1, 2])`, which prove little."""

from __future__ import annotations

import ast

from evaluator.assertions.reading import CANDIDATE, Reading
from evaluator.assertions.source import walk


def lines_that_compare_with_itself(reading: Reading) -> list[int]:
    """Line numbers in the test, from 1, where both sides make the same call of the completion."""
    own = _Own(reading)
    lines = {
        node.lineno
        for node in reading.nodes
        if isinstance(node, ast.Compare | ast.Call)
        for left, right in _sides(node)
        if own.is_called_in(left) and own.is_called_in(right) and own.form_of(left) == own.form_of(right)
    }
    return sorted(lines)


def _sides(node: ast.Compare | ast.Call) -> list[tuple[ast.expr, ast.expr]]:
    match node:
        case ast.Compare(left=left, ops=[ast.Eq() | ast.Is()], comparators=[right]):
            return [(left, right)]
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=[left, right, *_]):
            lowered = name.lower()
            compares = lowered.startswith("assert") and "equal" in lowered and "not" not in lowered
            return [(left, right)] if compares or "close" in lowered else []
        case _:
            return []


class _Own:
    """Calls of the completion, by any name."""

    def __init__(self, reading: Reading) -> None:
        self._names = reading.completion & {reading.entry_point, CANDIDATE, reading.parameter}

    def is_called_in(self, node: ast.expr) -> bool:
        return any(
            isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and part.func.id in self._names
            for part in walk(node)
        )

    def form_of(self, node: ast.expr) -> str:
        """The expression with a single name for the completion's function."""
        text = ast.dump(node)
        for name in self._names:
            text = text.replace(f"func=Name(id={name!r},", "func=Name(id='',")
        return text
