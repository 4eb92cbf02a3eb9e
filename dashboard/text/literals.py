"""Python values written in one way, so that spaces, quotes and line breaks make no difference."""

from __future__ import annotations

import ast
from functools import lru_cache

from evaluator.syntax import tree_of

_LONGEST = 20_000
_PARTS = (ast.Constant, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.UnaryOp, ast.USub, ast.expr_context)


def alike(expected: str, actual: str) -> tuple[str, str]:
    """Both as Python writes them; as they are where one is not a literal, or where nothing would be left to see."""
    ours, theirs = written(expected), written(actual)
    if ours is None or theirs is None or ours == theirs:
        return expected, actual
    return ours, theirs


def same(one: str, other: str) -> bool:
    """Whether they are the same text, or the same literal."""
    return one == other or (written(one) is not None and written(one) == written(other))


@lru_cache(maxsize=1_000)
def written(text: str) -> str | None:
    """`[1, 'a']` for `[1,"a"]`. None if the text is not a literal, or very long. Nothing is evaluated."""
    tree = tree_of(text.strip()) if len(text) <= _LONGEST else None
    if tree is None or len(tree.body) != 1:
        return None
    (only,) = tree.body
    if not isinstance(only, ast.Expr) or not all(isinstance(node, _PARTS) for node in ast.walk(only.value)):
        return None
    return ast.unparse(only.value)
