"""Finds inputs in a program's code that come with their answers, both as literals.

Only code that the graded function (or the program) reaches counts, so a completion's own tests do not.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any, NamedTuple

from evaluator.flags._parsed_code import is_main_guard

_MOST_NODES = 50_000
"""Nodes of literals that are read in one program."""
_FEWEST = 3
_MOST_LISTS = 6


class Pair(NamedTuple):
    """An input and its answer. `place` is equal for the pairs of one table, or of one function's branches."""

    given: object
    answer: object
    line: int
    place: int


class _NoLiteralError(Exception):
    pass


def literal_pairs(tree: ast.Module, entry_point: str | None) -> list[Pair]:
    """The pairs in the code that `entry_point` reaches; with None, that the whole program reaches."""
    return list(_Reader().pairs(_reached(tree, entry_point)))


class _Reader:
    def __init__(self) -> None:
        self._left = _MOST_NODES

    def pairs(self, statements: list[ast.stmt]) -> Iterator[Pair]:
        lists: list[ast.List | ast.Tuple] = []
        for statement in statements:
            for node in ast.walk(statement):
                match node:
                    case ast.Dict(keys=keys, values=values):
                        for key, value in zip(keys, values, strict=True):
                            yield from self._pair(key, value, id(node))
                    case ast.If(test=test, body=body):
                        yield from self._branch(test, _first_answer(body), id(statement))
                    case ast.IfExp(test=test, body=answer):
                        yield from self._branch(test, answer, id(statement))
                    case ast.Match(cases=cases):
                        for one in cases:
                            if one.guard is None:
                                yield from self._pair(_of_pattern(one.pattern), _first_answer(one.body), id(statement))
                    case ast.Assign(targets=[ast.Subscript(slice=key)], value=value):
                        yield from self._pair(key, value, id(statements))
                    case ast.List(elts=elements) | ast.Tuple(elts=elements) if len(elements) >= _FEWEST:
                        yield from self._rows(elements, id(node))
                        lists.append(node)
        yield from self._side_by_side(lists)

    def _pair(self, given: ast.expr | None, answer: ast.expr | None, place: int) -> Iterator[Pair]:
        if given is None or answer is None:
            return
        try:
            yield Pair(self._value(given), self._value(answer), answer.lineno, place)
        except (_NoLiteralError, TypeError, RecursionError):
            return

    def _branch(self, test: ast.expr, answer: ast.expr | None, place: int) -> Iterator[Pair]:
        match test:
            case ast.BoolOp(op=ast.And(), values=parts):
                compared = list(map(_compared, parts))
            case _:
                compared = [_compared(test)]
        given = [node for node in compared if node is not None]
        if len(given) == len(compared):
            whole = given[0] if len(given) == 1 else ast.List(given, ast.Load())
            yield from self._pair(whole, answer, place)

    def _rows(self, elements: list[ast.expr], place: int) -> Iterator[Pair]:
        """A table of (input, answer) or (argument, argument, answer)."""
        rows = [row.elts for row in elements if isinstance(row, ast.Tuple | ast.List) and len(row.elts) >= 2]
        for *given, answer in rows if len(rows) == len(elements) else ():
            yield from self._pair(given[0] if len(given) == 1 else ast.List(given, ast.Load()), answer, place)

    def _side_by_side(self, lists: list[ast.List | ast.Tuple]) -> Iterator[Pair]:
        """Inputs in one list, their answers in another, at the same positions."""
        if len(lists) > _MOST_LISTS:
            return
        for first in lists:
            for second in lists:
                if first is not second and len(first.elts) == len(second.elts):
                    for given, answer in zip(first.elts, second.elts, strict=True):
                        yield from self._pair(given, answer, id(second))

    def _value(self, node: ast.expr) -> Any:
        self._left -= 1
        if self._left < 0:
            raise _NoLiteralError
        match node:
            case ast.Constant(value=value):
                return value
            case ast.List(elts=items):
                return [self._value(item) for item in items]
            case ast.Tuple(elts=items):
                return tuple(self._value(item) for item in items)
            case ast.Set(elts=items):
                return {self._value(item) for item in items}
            case ast.Dict(keys=keys, values=values) if None not in keys:
                return {
                    self._value(key): self._value(value)
                    for key, value in zip(keys, values, strict=True)
                    if key is not None
                }
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=value)) if isinstance(value, int | float):
                return -value
            case ast.Call(func=ast.Name(id="set" | "list" | "tuple" | "frozenset"), args=[inner], keywords=[]):
                return self._value(inner)
        raise _NoLiteralError


def _compared(node: ast.expr) -> ast.expr | None:
    """The side of an `==` that may be a literal."""
    match node:
        case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
            return right if any(isinstance(part, ast.Name) for part in ast.walk(left)) else left
    return None


def _first_answer(body: list[ast.stmt]) -> ast.expr | None:
    """The first value that is returned, printed or assigned."""
    for statement in body:
        match statement:
            case ast.Return(value=value) | ast.Assign(value=value):
                return value
            case ast.Expr(value=ast.Call(func=ast.Name(id="print") | ast.Attribute(attr="write"), args=[value])):
                return value
            case ast.Expr(value=ast.Call(func=ast.Name(id="print"), args=[_, _, *_] as values)):
                return ast.copy_location(ast.List(values, ast.Load()), statement)
    return None


def _of_pattern(pattern: ast.pattern) -> ast.expr | None:
    match pattern:
        case ast.MatchValue(value=value):
            return value
        case ast.MatchSequence(patterns=parts):
            inner = [_of_pattern(part) for part in parts]
            return None if None in inner else ast.List([part for part in inner if part is not None], ast.Load())
    return None


def _reached(tree: ast.Module, entry_point: str | None) -> list[ast.stmt]:
    """The top-level statements that run for an input, or define names that those use."""
    top = list(_top(tree.body, with_main=entry_point is None))
    waiting: list[ast.stmt] = []
    defined: dict[str, list[ast.stmt]] = {}
    for statement in top:
        for name in _defines(statement):
            defined.setdefault(name, []).append(statement)
        if entry_point is None and not isinstance(statement, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            waiting.append(statement)
    if entry_point is not None:
        waiting += defined.get(entry_point) or defined.get("Solution", [])
    found: dict[int, ast.stmt] = {}
    while waiting:
        statement = waiting.pop()
        if id(statement) in found:
            continue
        found[id(statement)] = statement
        for node in ast.walk(statement):
            if isinstance(node, ast.Name | ast.Attribute):
                waiting += defined.get(node.id if isinstance(node, ast.Name) else node.attr, [])
    return [statement for statement in top if id(statement) in found]


def _top(body: list[ast.stmt], *, with_main: bool) -> Iterator[ast.stmt]:
    """Statements outside functions and classes; those inside `try` and `with` one by one."""
    for statement in body:
        match statement:
            case ast.If() if is_main_guard(statement):
                if with_main:
                    yield statement
            case ast.Try(body=inner) | ast.With(body=inner):
                yield from _top(inner, with_main=with_main)
            case _:
                yield statement


def _defines(statement: ast.stmt) -> Iterator[str]:
    match statement:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Assign(targets=targets):
            for target in targets:
                yield from _names(target)
        case ast.AnnAssign(target=target):
            yield from _names(target)
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="update"))):
            yield name


def _names(target: ast.expr) -> Iterator[str]:
    while isinstance(target, ast.Subscript):
        target = target.value
    for node in ast.walk(target):
        if isinstance(node, ast.Name):
            yield node.id
