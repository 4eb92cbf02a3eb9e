"""Rewrites a test's calls of the completion, so that their arguments and results are recorded if they are plain data.

`candidate(x)` becomes `@log('candidate', candidate, x)`. If two runs of one test have different records, the completion
answered differently. Other values and exceptions are recorded as such, because a proxy may have caused them.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Callable, Iterable
from typing import Any

from evaluator.sandbox.guest import encode

CALL = "@log"
"""The name by which the rewritten test calls `Calls.call`."""
_MOST, _ROOM, _DEPTH = 1000, 64 * 1024, 20
_NOT_DATA = "-"
_SCALARS = (type(None), bool, int, float, str, bytes, complex)


class Calls:
    """A record of each call: its name, and short digests of the arguments and the result."""

    def __init__(self) -> None:
        self._records: list[str] = []

    def call(self, name: str, function: Callable[..., Any], /, *arguments: Any, **keywords: Any) -> Any:
        place = len(self._records)
        if place >= _MOST:
            return function(*arguments, **keywords)
        digest = _digest((arguments, keywords))
        self._records.append(f"{name} {digest} {_NOT_DATA}")
        result = function(*arguments, **keywords)
        self._records[place] = f"{name} {digest} {_digest(result)}"
        return result

    def take(self) -> list[str]:
        """The records since the last call of this."""
        records, self._records = self._records, []
        return records


def rewrite(tree: ast.Module, names: Iterable[str]) -> None:
    """Rewrites the calls of these names in place."""
    called = frozenset(names)
    for node in list(ast.walk(tree)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in called:
            function = node.func
            node.args = [ast.copy_location(ast.Constant(value=function.id), function), function, *node.args]
            node.func = ast.copy_location(ast.Name(id=CALL, ctx=ast.Load()), function)


def _digest(value: Any) -> str:
    if not _is_data(value, _DEPTH):
        return _NOT_DATA
    try:
        return hashlib.blake2b(encode.encode(value, _ROOM), digest_size=8).hexdigest()
    except encode.TooLargeError:
        return _NOT_DATA


def _is_data(value: Any, depth: int) -> bool:
    kind = type(value)
    if kind in _SCALARS:
        return True
    if kind in (list, tuple, set, frozenset) and depth:
        return len(value) < _ROOM and all(_is_data(item, depth - 1) for item in value)
    return kind is dict and depth > 0 and all(_is_data(part, depth - 1) for pair in value.items() for part in pair)
