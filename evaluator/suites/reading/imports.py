"""Where the names of a dataset's source are imported from."""

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
"""Modules whose names are known if they are imported by `*`. No others are imported here to find their names."""
_ALIASES = {"np": "numpy", "pd": "pandas", "plt": "matplotlib.pyplot"}
"""Names that mean these modules if they are not defined."""
_OF_MODULES = {
    "Counter": "collections", "OrderedDict": "collections", "defaultdict": "collections", "deque": "collections",
    "namedtuple": "collections", "deepcopy": "copy", "Decimal": "decimal", "Fraction": "fractions", "isclose": "math",
    "isnan": "math",
}  # fmt: skip
"""Names that mean these modules' if they are not defined: no task asks for a function of such a name."""


class Imports:
    """The imports among nodes, in any scope."""

    def __init__(self, nodes: Iterable[ast.AST]) -> None:
        self.origins: dict[str, str] = {}
        """Name -> dotted name of its origin."""
        self.starred: set[str] = set()
        """Names imported by `*` from known modules."""
        for node in nodes:
            match node:
                case ast.Import(names=names):
                    for alias in names:
                        whole = alias.name if alias.asname else alias.name.partition(".")[0]
                        self.origins[alias.asname or whole] = whole
                case ast.ImportFrom(module=str(module), names=[ast.alias(name="*")]):
                    known = names_of(module)
                    self.starred |= known
                    self.origins |= {name: f"{module}.{name}" for name in known if name not in self.origins}
                case ast.ImportFrom(module=module, names=names, level=level):
                    start = "." * level + (module or "")
                    self.origins |= {alias.asname or alias.name: f"{start}.{alias.name}" for alias in names}

    def dotted(self, node: ast.expr) -> str:
        """The full dotted name of a name, or of an attribute of one; empty if it is not imported."""
        attributes: list[str] = []
        while isinstance(node, ast.Attribute):
            attributes.append(node.attr)
            node = node.value
        origin = self.origins.get(node.id, "") if isinstance(node, ast.Name) else ""
        return ".".join((origin, *reversed(attributes))) if origin else ""


def missing_imports(nodes: Iterable[ast.AST], free: frozenset[str]) -> dict[str, str]:
    """Free names of the standard library, or used only as modules, with the imports that a test left to the completion.

    They belong to the dataset: otherwise a completion could redefine `math` or `isclose`, and decide its own grade.
    """
    standard = {name: f"from {_OF_MODULES[name]} import {name}" for name in free & _OF_MODULES.keys()}
    seen: dict[str, set[str]] = {name: set() for name in free if name in _STARRED or name in _ALIASES}
    uses = Counter[str]()
    for node in nodes:
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name in seen:
                seen[name].add(attribute)
                uses[name] += 1
            case ast.Name(id=name) if name in seen:
                uses[name] -= 1
    modules = {name for name in seen if uses[name] == 0 and (name in _ALIASES or _has_all(name, seen[name]))}
    whole = {name: f"import {_ALIASES[name]} as {name}" if name in _ALIASES else f"import {name}" for name in modules}
    return whole | standard


def _has_all(name: str, attributes: set[str]) -> bool:
    module = importlib.import_module(name)
    return all(hasattr(module, attribute) for attribute in attributes)


@cache
def names_of(name: str) -> frozenset[str]:
    """What `from name import *` defines; nothing for an unknown module."""
    if name not in _STARRED:
        return frozenset()
    module = importlib.import_module(name)
    return frozenset(getattr(module, "__all__", None) or [each for each in vars(module) if not each.startswith("_")])


def is_among(dotted: str, names: Iterable[str]) -> bool:
    """Whether it is one of these dotted names, or below one."""
    return any(dotted == name or dotted.startswith(f"{name}.") for name in names)
