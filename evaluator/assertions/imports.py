"""What the names of a dataset's source were imported from."""

from __future__ import annotations

import ast
import importlib
from collections import Counter
from collections.abc import Iterable
from functools import cache

_STARRED = frozenset(
    """bisect cmath collections copy dataclasses datetime decimal enum fractions functools heapq itertools json math
    operator os random re statistics string sys time typing unittest unittest.mock""".split()
)
"""Modules whose names are known where they are imported by `*`. No other is imported here to look at them."""
_ALIASES = {"np": "numpy", "pd": "pandas", "plt": "matplotlib.pyplot"}
"""Names that mean these modules wherever they are not defined."""


class Imports:
    """The imports among nodes, whatever scope they stand in."""

    def __init__(self, nodes: Iterable[ast.AST]) -> None:
        self.origins: dict[str, str] = {}
        """Name -> dotted name of what was imported under it."""
        self.starred: set[str] = set()
        """Names that came by `*`, where the module is known."""
        for node in nodes:
            match node:
                case ast.Import(names=names):
                    for alias in names:
                        whole = alias.name if alias.asname else alias.name.partition(".")[0]
                        self.origins[alias.asname or whole] = whole
                case ast.ImportFrom(module=str(module), names=[ast.alias(name="*")]):
                    found = names_of(module)
                    self.starred |= found
                    self.origins |= {name: f"{module}.{name}" for name in found if name not in self.origins}
                case ast.ImportFrom(module=module, names=names, level=level):
                    start = "." * level + (module or "")
                    self.origins |= {alias.asname or alias.name: f"{start}.{alias.name}" for alias in names}

    def dotted(self, node: ast.expr) -> str:
        """The dotted name of what a name, or an attribute of one, stands for; empty where it is nothing imported."""
        attributes: list[str] = []
        while isinstance(node, ast.Attribute):
            attributes.append(node.attr)
            node = node.value
        origin = self.origins.get(node.id, "") if isinstance(node, ast.Name) else ""
        return ".".join((origin, *reversed(attributes))) if origin else ""


def left_out(nodes: Iterable[ast.AST], free: frozenset[str]) -> dict[str, str]:
    """Free names that are used as modules only, with their imports, which a test has left to the completion.

    Those are the dataset's: a completion that makes something else of `math` would decide its own grade.
    """
    seen: dict[str, set[str]] = {name: set() for name in free if name in _STARRED or name in _ALIASES}
    uses = Counter[str]()
    for node in nodes:
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name in seen:
                seen[name].add(attribute)
                uses[name] += 1
            case ast.Name(id=name) if name in seen:
                uses[name] -= 1
    found = {name for name in seen if uses[name] == 0 and (name in _ALIASES or _has_all(name, seen[name]))}
    return {name: f"import {_ALIASES[name]} as {name}" if name in _ALIASES else f"import {name}" for name in found}


def _has_all(module: str, attributes: set[str]) -> bool:
    found = importlib.import_module(module)
    return all(hasattr(found, attribute) for attribute in attributes)


@cache
def names_of(module: str) -> frozenset[str]:
    """What `from module import *` defines, as far as it is known."""
    if module not in _STARRED:
        return frozenset()
    found = importlib.import_module(module)
    return frozenset(getattr(found, "__all__", None) or [name for name in vars(found) if not name.startswith("_")])


def is_among(dotted: str, names: Iterable[str]) -> bool:
    """Whether it is one of these dotted names, or stands below one."""
    return any(dotted == name or dotted.startswith(f"{name}.") for name in names)
