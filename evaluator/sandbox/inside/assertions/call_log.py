"""A test's calls of the completion, rewritten so that their arguments and results are noted where they are plain data.

`candidate(x)` becomes `@log('candidate', candidate, x)`. Two runs of one test that note different things have been
answered differently. What is not plain data is noted as such, and so is an exception: a proxy may be to blame.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Callable, Iterable
from typing import Any

from evaluator.sandbox.inside import encode

CALL = "@log"
"""What the rewritten test calls by this name: `Calls.call`."""
_MOST, _ROOM, _DEPTH = 1000, 64 * 1024, 20
_NOT_DATA = "-"
_SCALARS = (type(None), bool, int, float, str, bytes, complex)


class Calls:
    """What is noted of each call: its name, and short digests of the arguments and of the result."""

    def __init__(self) -> None:
        self._noted: list[str] = []

    def call(self, name: str, function: Callable[..., Any], /, *arguments: Any, **keywords: Any) -> Any:
        place = len(self._noted)
        if place >= _MOST:
            return function(*arguments, **keywords)
        given = _digest((arguments, keywords))
        self._noted.append(f"{name} {given} {_NOT_DATA}")
        result = function(*arguments, **keywords)
        self._noted[place] = f"{name} {given} {_digest(result)}"
        return result

    def taken(self) -> list[str]:
        """Those since this was last asked."""
        noted, self._noted = self._noted, []
        return noted


def rewrite(tree: ast.Module, names: Iterable[str]) -> None:
    """Rewrites the calls of these names in place."""
    wanted = frozenset(names)
    for node in list(ast.walk(tree)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in wanted:
            function = node.func
            node.args = [ast.copy_location(ast.Constant(value=function.id), function), function, *node.args]
            node.func = ast.copy_location(ast.Name(id=CALL, ctx=ast.Load()), function)


def _digest(value: Any) -> str:
    if not _is_plain(value, _DEPTH):
        return _NOT_DATA
    try:
        return hashlib.blake2b(encode.encode(value, _ROOM), digest_size=8).hexdigest()
    except encode.TooLargeError:
        return _NOT_DATA


def _is_plain(value: Any, depth: int) -> bool:
    kind = type(value)
    if kind in _SCALARS:
        return True
    if kind in (list, tuple, set, frozenset) and depth:
        return len(value) < _ROOM and all(_is_plain(item, depth - 1) for item in value)
    return kind is dict and depth > 0 and all(_is_plain(part, depth - 1) for pair in value.items() for part in pair)
