"""Which names in a test mean the completion, or what has come of it. More rather than fewer: it is only shown."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Any

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_LITERALS = (ast.List, ast.Tuple, ast.Set, ast.Dict)
_LONG = 100
"""Items of a literal that is data, and no place in which the completion is called."""

Binding = tuple[set[str], set[str]]
"""Names that a statement binds, and those that it reads for that."""


class Origins:
    """What the names in a test's module come from."""

    def __init__(self, tree: ast.Module, seeds: Iterable[str]) -> None:
        self._seeds = {"candidate", *seeds}
        functions = [node for node in tree.body if isinstance(node, _FUNCTIONS)]
        for function in functions:
            if function.name == "check":
                self._seeds.update(one.arg for one in function.args.args[:1])
        others = [node for node in tree.body if not isinstance(node, (*_FUNCTIONS, ast.ClassDef))]
        self._of_module = [*_bindings(others), *map(_of_definition, functions)]
        self._known: dict[ast.AST, set[str]] = {}

    def of_completion(self, node: ast.AST, where: ast.AST) -> bool:
        """Whether the completion has part in the expression, which stands in this statement of the module's."""
        return not self._names_in(where).isdisjoint(names_read(node))

    def _names_in(self, where: ast.AST) -> set[str]:
        found = self._known.get(where)
        if found is None:
            bindings = [*self._of_module, *_bindings([where])]
            found = self._known[where] = set(self._seeds)
            before = 0
            while len(found) != before:
                before = len(found)
                for bound, read in bindings:
                    if not found.isdisjoint(read):
                        found |= bound
        return found


def names_read(root: ast.AST | None) -> Iterator[str]:
    """Names in an expression or definition; of `self.x` ".x". Long literals are passed over."""
    pending = [root]
    while pending:
        node: Any = pending.pop()
        if isinstance(node, ast.Name):
            yield node.id
        elif _is_own(node):
            yield f".{node.attr}"
        elif node is not None and not (isinstance(node, _LITERALS) and _length(node) > _LONG):
            pending.extend(ast.iter_child_nodes(node))


def _is_own(node: Any) -> bool:
    """`self.x` or `cls.x`."""
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")


def _length(node: Any) -> int:
    return len(node.values if isinstance(node, ast.Dict) else node.elts)


def _bindings(nodes: Iterable[ast.AST]) -> Iterator[Binding]:
    pending = list(nodes)
    while pending:
        node = pending.pop()
        targets, values = _binding(node)
        if targets:
            bound = {name for target in targets for name in _bound_by(target)}
            yield bound, {name for value in values for name in names_read(value)}
        elif isinstance(node, _FUNCTIONS):
            yield _of_definition(node)
        if isinstance(node, ast.stmt | ast.ExceptHandler | ast.match_case):
            pending.extend(child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.expr))


def _of_definition(node: Any) -> Binding:
    return {node.name, f".{node.name}"}, set(names_read(node))


def _binding(node: Any) -> tuple[list[Any], list[Any]]:
    """What is bound there, or changed by a method's call, and what it is made of."""
    match node:
        case ast.Assign(targets=targets, value=value):
            return targets, [value]
        case ast.AugAssign(target=target, value=value) | ast.AnnAssign(target=target, value=value):
            return [target], [value]
        case ast.For(target=target, iter=value) | ast.AsyncFor(target=target, iter=value):
            return [target], [value]
        case ast.withitem(context_expr=value, optional_vars=target) if target is not None:
            return [target], [value]
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=target), args=[_, *_] as values)):
            return ([] if isinstance(target, ast.Name) and target.id in ("self", "cls") else [target]), values
    return [], []


def _bound_by(target: Any) -> Iterator[str]:
    pending = [target]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Name):
            yield node.id
        elif _is_own(node):
            yield f".{node.attr}"
        elif isinstance(node, ast.Tuple | ast.List):
            pending.extend(node.elts)
        elif isinstance(node, ast.Starred | ast.Subscript | ast.Attribute):
            pending.append(node.value)
