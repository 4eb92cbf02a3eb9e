"""Which names of a test are made from which others: by name alone, whatever the order or the scope.

An attribute of a test case's `self` counts as a name, `self.x`; so do its methods.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import chain

from evaluator.assertions.source import walk

_SELVES = ("self", "cls")


class Flow:
    """What goes into each name, directly and by way of others. Rather too much than too little."""

    def __init__(self, nodes: Iterable[ast.AST], imported: Container[str], reads: Reads) -> None:
        """`imported`: names of modules, which hold nothing of what is given to their functions."""
        self._made_from: dict[str, set[str]] = defaultdict(set)
        self._goes_into: dict[str, set[str]] = defaultdict(set)
        nodes = list(nodes)
        parameters = {node.name: _parameters(node) for node in nodes if isinstance(node, ast.FunctionDef)}
        for node in nodes:
            for targets, parts in chain(_made(node), _passed(node, parameters)):
                names = reads.of_all(parts)
                for target in targets:
                    if target in imported:
                        continue
                    self._made_from[target] |= names
                    for name in names:
                        self._goes_into[name].add(target)

    def reaching(self, names: Iterable[str]) -> frozenset[str]:
        """These names, and all that something of theirs goes into."""
        return _closure(names, self._goes_into)

    def reached_from(self, names: Iterable[str]) -> frozenset[str]:
        """These names, and all that goes into them."""
        return _closure(names, self._made_from)


def names_read(nodes: ast.AST | Iterable[ast.AST]) -> set[str]:
    """Every name that is read, at any depth."""
    found: set[str] = set()
    for node in walk(nodes):
        match node:
            case ast.Attribute(value=ast.Name(id=owner), attr=name) if owner in _SELVES:
                found.add(f"self.{name}")
            case ast.Name(id=name, ctx=ast.Load()) if name not in _SELVES:
                found.add(name)
    return found


class Reads:
    """`names_read`, each node looked into once: a list may be most of a test."""

    def __init__(self) -> None:
        self._known: dict[ast.AST, frozenset[str]] = {}

    def __call__(self, node: ast.AST) -> frozenset[str]:
        found = self._known.get(node)
        if found is None:
            match node:
                case ast.Assign(targets=targets, value=value):
                    found = self(value).union(*map(self, targets))
                case ast.Expr(value=value):
                    found = self(value)
                case _:
                    found = frozenset(names_read(node))
            self._known[node] = found
        return found

    def of_all(self, nodes: Iterable[ast.AST]) -> frozenset[str]:
        return frozenset[str]().union(*map(self, nodes))


def targets_of(node: ast.expr) -> Iterator[str]:
    """The names that an assignment to this changes."""
    match node:
        case ast.Name(id=name):
            yield name
        case ast.Attribute(value=ast.Name(id=owner), attr=name) if owner in _SELVES:
            yield f"self.{name}"
        case ast.Attribute(value=inner) | ast.Subscript(value=inner) | ast.Starred(value=inner):
            yield from targets_of(inner)
        case ast.Tuple(elts=items) | ast.List(elts=items):
            for item in items:
                yield from targets_of(item)


def _made(node: ast.AST) -> Iterator[tuple[list[str], Sequence[ast.AST]]]:
    """What a node gives a value, and what that is made from."""
    match node:
        case ast.Assign(targets=targets, value=value):
            yield [name for target in targets for name in targets_of(target)], [value]
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            yield list(targets_of(target)), [value]
        case ast.AugAssign(target=target, value=value) | ast.NamedExpr(target=target, value=value):
            yield list(targets_of(target)), [value]
        case ast.For(target=target, iter=value) | ast.AsyncFor(target=target, iter=value):
            yield list(targets_of(target)), [value]
        case ast.comprehension(target=target, iter=value):
            yield list(targets_of(target)), [value]
        case ast.withitem(context_expr=value, optional_vars=ast.expr() as target):
            yield list(targets_of(target)), [value]
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            yield [name], [node]
        case ast.ClassDef(name=name, body=body):
            yield [name], [node]
            for method in body:
                if isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef):
                    yield [f"self.{method.name}"], [method]
        case ast.Call(func=ast.Attribute(value=owner), args=arguments, keywords=keywords) if arguments or keywords:
            yield list(targets_of(owner)), [*arguments, *keywords]


def _parameters(function: ast.FunctionDef) -> list[str]:
    names = [one.arg for one in (*function.args.posonlyargs, *function.args.args)]
    return names[1:] if names[:1] == ["self"] else names


def _passed(node: ast.AST, functions: Mapping[str, list[str]]) -> Iterator[tuple[list[str], Sequence[ast.AST]]]:
    """What a call of a function of the test's own gives to its parameters."""
    match node:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=arguments) if name in functions:
            yield from (
                ([parameter], [argument]) for parameter, argument in zip(functions[name], arguments, strict=False)
            )
            yield from (([one.arg], [one.value]) for one in node.keywords if one.arg in functions[name])


def _closure(names: Iterable[str], edges: Mapping[str, set[str]]) -> frozenset[str]:
    found = set(names)
    pending = list(found)
    while pending:
        for name in edges.get(pending.pop(), set()) - found:
            found.add(name)
            pending.append(name)
    return frozenset(found)
