"""Small wrong edits of a program, made in its syntax tree: wrong programs that the tests of a task should notice."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from random import Random
from typing import NamedTuple

from evaluator.syntax import tree_of


class Mutant(NamedTuple):
    """A program with one edit."""

    source: str
    edit: str
    """What was done, in a few words."""
    line: int


_MOST_CHARACTERS = 40_000
_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE, ast.NotEq),
    ast.LtE: (ast.Lt, ast.Gt, ast.Eq),
    ast.Gt: (ast.GtE, ast.LtE, ast.NotEq),
    ast.GtE: (ast.Gt, ast.Lt, ast.Eq),
    ast.Eq: (ast.NotEq, ast.LtE, ast.GtE),
    ast.NotEq: (ast.Eq, ast.Lt, ast.Gt),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
_OPERATORS: dict[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Add, ast.FloorDiv),
    ast.Div: (ast.FloorDiv, ast.Mult),
    ast.FloorDiv: (ast.Div, ast.Mult),
    ast.Mod: (ast.FloorDiv, ast.Sub),
    ast.Pow: (ast.Mult,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd, ast.BitXor),
    ast.BitXor: (ast.BitOr, ast.Sub),
    ast.LShift: (ast.RShift,),
    ast.RShift: (ast.LShift,),
}
_CALLS = {
    "min": "max", "max": "min", "any": "all", "all": "any", "sorted": "list", "set": "list", "abs": "+", "sum": "max",
    "reversed": "list", "lower": "upper", "upper": "lower", "lstrip": "rstrip", "rstrip": "lstrip", "strip": "lstrip",
    "isalpha": "isalnum", "isdigit": "isalnum", "isupper": "isalpha", "islower": "isalpha", "isalnum": "isalpha",
    "find": "rfind", "rfind": "find", "index": "rindex", "startswith": "endswith", "endswith": "startswith",
    "append": "extend", "floor": "ceil", "ceil": "floor", "bisect_left": "bisect_right", "round": "int", "int": "round",
    "bisect_right": "bisect_left", "match": "search", "search": "match", "union": "intersection", "title": "capitalize",
    "intersection": "union", "capitalize": "title", "combinations": "permutations", "sqrt": "exp", "zip": "zip",
}  # fmt: skip
_Edit = tuple[str, Callable[[ast.AST], ast.AST]]
"""Its name, and what to put in place of (a copy of) the node."""


def mutants_of(source: str, most: int, rng: Random) -> list[Mutant]:
    """At most so many different mutants, each kind of edit and each line as evenly as can be; none if it is not Python.

    The same for the same state of `rng`.
    """
    tree = tree_of(source) if len(source) <= _MOST_CHARACTERS else None
    if tree is None:
        return []
    places = [(place, edit) for place, node in enumerate(_nodes(tree)) for edit in _edits(node)]
    rng.shuffle(places)
    seen: dict[str, int] = {}
    ranks = []
    for place, edit in places:  # the first of each kind, then the second ones
        seen[edit[0]] = seen.get(edit[0], 0) + 1
        ranks.append((seen[edit[0]], place, edit))
    found: dict[str, Mutant] = {}
    original = ast.unparse(tree)
    for _, place, edit in sorted(ranks, key=lambda rank: rank[0]):
        if len(found) >= most:
            break
        made = _edited(tree, place, edit)
        if made is not None and made.source != original:
            found.setdefault(made.source, made)
    return list(found.values())


def _nodes(tree: ast.AST) -> list[ast.AST]:
    return list(ast.walk(tree))


def _edited(tree: ast.Module, place: int, edit: _Edit) -> Mutant | None:
    changed: ast.AST = copy.deepcopy(tree)
    node = _nodes(changed)[place]
    made = edit[1](node)
    if made is not node:
        changed = _Replacing(node, made).visit(changed)
    try:
        ast.fix_missing_locations(changed)
        text = ast.unparse(changed)
        compile(text, "<mutant>", "exec", ast.PyCF_ONLY_AST)
    except (SyntaxError, ValueError, RecursionError, TypeError):
        return None
    return Mutant(text, edit[0], getattr(node, "lineno", 0))


class _Replacing(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self._old, self._new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return self._new if node is self._old else self.generic_visit(node)


def _set(**fields: object) -> Callable[[ast.AST], ast.AST]:
    def change(node: ast.AST) -> ast.AST:
        for name, value in fields.items():
            setattr(node, name, value)
        return node

    return change


def _edits(node: ast.AST) -> Iterator[_Edit]:
    match node:
        case ast.Compare(ops=[op, *rest]):
            for other in _COMPARISONS.get(type(op), ()):
                yield f"{type(op).__name__} for {other.__name__}", _set(ops=[other(), *rest])
        case ast.BinOp(op=operator) | ast.AugAssign(op=operator):
            for kind in _OPERATORS.get(type(operator), ()):
                yield f"{type(operator).__name__} for {kind.__name__}", _set(op=kind())
            if isinstance(node, ast.BinOp):
                yield "only the left operand", lambda given: given.left  # type: ignore[attr-defined]
                yield "only the right operand", lambda given: given.right  # type: ignore[attr-defined]
                if not isinstance(operator, ast.Add | ast.Mult):
                    yield "operands swapped", _swapped
        case ast.BoolOp(op=joined, values=[_, _, *_]):
            yield "and for or", _set(op=ast.Or() if isinstance(joined, ast.And) else ast.And())
            yield (
                "an operand removed",
                _set(values=node.values[1:])
                if len(node.values) > 2
                else (
                    lambda given: given.values[1]  # type: ignore[attr-defined]
                ),
            )
            yield (
                "the last operand removed",
                _set(values=node.values[:-1])
                if len(node.values) > 2
                else (
                    lambda given: given.values[0]  # type: ignore[attr-defined]
                ),
            )
        case ast.UnaryOp(op=ast.Not() | ast.USub() | ast.Invert()):
            yield "an operator removed", lambda given: given.operand  # type: ignore[attr-defined]
        case ast.Constant():
            yield from _of_constant(node)
        case ast.Subscript():
            yield from _of_subscript(node)
        case ast.Call():
            yield from _of_call(node)
        case ast.comprehension(ifs=[_, *rest]):
            yield "a filter removed", _set(ifs=rest)
        case ast.IfExp():
            yield "the condition's first branch", lambda given: given.body  # type: ignore[attr-defined]
            yield "the condition's other branch", lambda given: given.orelse  # type: ignore[attr-defined]
        case ast.stmt():
            yield from _of_statement(node)


def _nothing(_: ast.AST) -> ast.AST:
    return ast.Pass()


def _swapped(node: ast.AST) -> ast.AST:
    assert isinstance(node, ast.BinOp)
    node.left, node.right = node.right, node.left
    return node


def _of_constant(node: ast.Constant) -> Iterator[_Edit]:
    match node.value:
        case bool(value):
            yield "a constant turned over", _set(value=not value)
        case int(value) | float(value):
            yield "a constant one more", _set(value=value + 1)
            yield "a constant one less", _set(value=value - 1)
            if value not in (0, 1):
                yield "a constant 0", _set(value=0)
        case str(value) if 0 < len(value) <= 60:
            yield "a text without its first character", _set(value=value[1:])
            yield "a text without its last character", _set(value=value[:-1])


def _of_subscript(node: ast.Subscript) -> Iterator[_Edit]:
    match node.slice:
        case ast.Slice() as part:
            given = {"lower": part.lower, "upper": part.upper, "step": part.step}
            for name in (name for name, value in given.items() if value is not None):
                kept = given | {name: None}
                yield f"a slice without {name}", _set(slice=ast.Slice(kept["lower"], kept["upper"], kept["step"]))
        case ast.expr() as index if not isinstance(index, ast.Constant | ast.Tuple):
            for name, kind in (("more", ast.Add), ("less", ast.Sub)):
                yield f"an index one {name}", _set(slice=ast.BinOp(index, kind(), ast.Constant(1)))


def _of_call(node: ast.Call) -> Iterator[_Edit]:
    called = node.func
    name = called.id if isinstance(called, ast.Name) else called.attr if isinstance(called, ast.Attribute) else ""
    other = _CALLS.get(name)
    if other == "+":
        yield f"without {name}", lambda given: given.args[0]  # type: ignore[attr-defined]
    elif other and isinstance(called, ast.Name):
        yield f"{other} for {name}", _set(func=ast.Name(other, ast.Load()))
    elif other and isinstance(called, ast.Attribute):
        yield f"{other} for {name}", _set(func=ast.Attribute(called.value, other, ast.Load()))
    if name in ("sorted", "set", "list", "strip", "lower", "upper", "round", "int", "str", "lstrip", "rstrip", "tuple"):
        if isinstance(called, ast.Attribute) and not node.args:
            yield f"without {name}", lambda given: given.func.value  # type: ignore[attr-defined]
        elif len(node.args) == 1:
            yield f"without {name}", lambda given: given.args[0]  # type: ignore[attr-defined]
    if name == "range" and node.args:
        last = 1 if len(node.args) > 1 else 0
        for words, kind in (("more", ast.Add), ("less", ast.Sub)):
            for place in {0, last}:
                changed: list[ast.expr] = list(node.args)
                changed[place] = ast.BinOp(changed[place], kind(), ast.Constant(1))
                yield f"a range one {words}", _set(args=changed)
    elif len(node.args) == 2:
        yield "arguments swapped", _set(args=node.args[::-1])
    if len(node.args) > 1:
        yield "the last argument removed", _set(args=node.args[:-1])
    if node.keywords:
        yield "a keyword removed", _set(keywords=node.keywords[1:])


def _of_statement(node: ast.stmt) -> Iterator[_Edit]:
    match node:
        case ast.If() | ast.While():
            yield "a condition turned over", _set(test=ast.UnaryOp(ast.Not(), node.test))
            if isinstance(node, ast.If):
                yield "a branch always taken", _set(test=ast.Constant(True))
                yield "a branch removed", _set(test=ast.Constant(False))
        case ast.Return(value=ast.expr()):
            yield "an early return", _nothing
        case ast.Assign() | ast.AugAssign() | ast.Expr(value=ast.Call()) | ast.Continue() | ast.Break():
            yield "a statement removed", _nothing
        case ast.For():
            yield "a loop that ends after its first round", _set(body=[*node.body, ast.Break()])
