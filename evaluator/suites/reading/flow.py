"""Which names of a test are made from which others: by name only, whatever the order or the scope.

Attributes and methods of a test case's `self` count as names, such as `self.x`.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import chain

from evaluator.suites.reading.source import walk

_SELVES = ("self", "cls")


class Flow:
    """What flows into each name, directly or through others. Rather too much than too little."""

    def __init__(self, nodes: Iterable[ast.AST], imported: Container[str], reads: Reads) -> None:
        """`imported`: names of modules, which keep nothing that is passed to their functions."""
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
        """These names, and all names that they flow into."""
        return _closure(names, self._goes_into)

    def reached_from(self, names: Iterable[str]) -> frozenset[str]:
        """These names, and all names that flow into them."""
        return _closure(names, self._made_from)


def names_read(nodes: ast.AST | Iterable[ast.AST]) -> set[str]:
    """Every name that is read, at any depth."""
    names: set[str] = set()
    for node in walk(nodes):
        match node:
            case ast.Attribute(value=ast.Name(id=owner), attr=name) if owner in _SELVES:
                names.add(f"self.{name}")
            case ast.Name(id=name, ctx=ast.Load()) if name not in _SELVES:
                names.add(name)
    return names


class Reads:
    """`names_read`, computed once per node: a list may be most of a test."""

    def __init__(self) -> None:
        self._known: dict[ast.AST, frozenset[str]] = {}

    def __call__(self, node: ast.AST) -> frozenset[str]:
        names = self._known.get(node)
        if names is None:
            match node:
                case ast.Assign(targets=targets, value=value):
                    names = self(value).union(*map(self, targets))
                case ast.Expr(value=value):
                    names = self(value)
                case _:
                    names = frozenset(names_read(node))
            self._known[node] = names
        return names

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
    """The names that a node assigns, and what they are made from."""
    match node:
        case ast.Assign(targets=targets, value=value):
            yield [name for target in targets for name in targets_of(target)], [value]
        case (
            ast.AnnAssign(target=target, value=ast.expr() as value)
            | ast.AugAssign(target=target, value=value)
            | ast.NamedExpr(target=target, value=value)
            | ast.For(target=target, iter=value)
            | ast.AsyncFor(target=target, iter=value)
            | ast.comprehension(target=target, iter=value)
            | ast.withitem(context_expr=value, optional_vars=ast.expr() as target)
        ):
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
    """The parameters of the test's own function that a call sets, and their arguments."""
    match node:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=arguments) if name in functions:
            yield from (
                ([parameter], [argument]) for parameter, argument in zip(functions[name], arguments, strict=False)
            )
            yield from (([one.arg], [one.value]) for one in node.keywords if one.arg in functions[name])


def _closure(names: Iterable[str], edges: Mapping[str, set[str]]) -> frozenset[str]:
    closure = set(names)
    pending = list(closure)
    while pending:
        new = edges.get(pending.pop(), set()) - closure
        closure |= new
        pending += new
    return frozenset(closure)
