"""Small wrong edits of a program, made in its syntax tree: wrong programs that the tests of a task should notice."""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any, Final

from evaluator.syntax import tree_of

_MOST_CHARACTERS: Final = 40_000
_LONGEST: Final = 60
"""Of a text that is no docstring."""
_OPERATORS: Final[dict[type[ast.AST], tuple[type[ast.AST], ...]]] = {
    ast.Lt: (ast.LtE, ast.GtE, ast.NotEq), ast.LtE: (ast.Lt, ast.Gt, ast.Eq), ast.Gt: (ast.GtE, ast.LtE, ast.NotEq),
    ast.GtE: (ast.Gt, ast.Lt, ast.Eq), ast.Eq: (ast.NotEq, ast.LtE, ast.GtE), ast.NotEq: (ast.Eq, ast.Lt, ast.Gt),
    ast.In: (ast.NotIn,), ast.NotIn: (ast.In,), ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,), ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,), ast.Mult: (ast.Add, ast.FloorDiv), ast.Div: (ast.FloorDiv, ast.Mult), ast.Pow: (ast.Mult,),
    ast.FloorDiv: (ast.Div, ast.Mult), ast.Mod: (ast.FloorDiv, ast.Sub), ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd, ast.BitXor), ast.BitXor: (ast.BitOr, ast.Sub), ast.LShift: (ast.RShift,),
    ast.RShift: (ast.LShift,), ast.And: (ast.Or,), ast.Or: (ast.And,),
}  # fmt: skip
_PAIRS: Final = """min max, any all, lower upper, lstrip rstrip, find rfind, startswith endswith, floor ceil, round int,
    bisect_left bisect_right, match search, union intersection, title capitalize, append extend"""
_CALLS: Final = {
    "sorted": "list", "set": "list", "sum": "max", "reversed": "list", "strip": "lstrip", "isalpha": "isalnum",
    "isdigit": "isalnum", "isupper": "isalpha", "islower": "isalpha", "isalnum": "isalpha", "index": "rindex",
    "combinations": "permutations",
} | {one: other for pair in _PAIRS.split(",") for one, other in (pair.split(), pair.split()[::-1])}  # fmt: skip
_LEFT_OUT: Final = frozenset("abs sorted set list strip lower upper round int str lstrip rstrip tuple".split())
_Edit = tuple[str, ast.AST]
"""Its name, and what stands in place of the node."""


def mutants_of(source: str, rng: Random) -> Iterator[str]:
    """Different mutants, the first ones of all kinds of edit; none if it is not Python.

    The same for the same state of `rng`.
    """
    tree = tree_of(source) if len(source) <= _MOST_CHARACTERS else None
    if tree is None:
        return
    edits = [(place, edit) for place in _places(tree) for edit in _edits(place[2])]
    rng.shuffle(edits)
    seen: Counter[str] = Counter()
    ranks = []
    for number, (_, (name, _)) in enumerate(edits):  # the first of each kind, then the second ones
        seen[name] += 1
        ranks.append((seen[name], number))
    made = {ast.unparse(tree)}
    for _, number in sorted(ranks):
        place, (_, new) = edits[number]
        if (text := _edited(tree, place, new)) is not None and text not in made:
            made.add(text)
            yield text


_Place = tuple[list[Any] | dict[str, Any], Any, ast.AST]
"""Where a node is held, and under which key."""


def _places(tree: ast.Module) -> Iterator[_Place]:
    for parent in ast.walk(tree):
        for name, value in ast.iter_fields(parent):
            if isinstance(value, ast.AST):
                yield vars(parent), name, value
            elif isinstance(value, list):
                yield from ((value, place, node) for place, node in enumerate(value) if isinstance(node, ast.AST))


def _edited(tree: ast.Module, place: _Place, new: ast.AST) -> str | None:
    """The source with one node replaced; the tree is as before then."""
    holder, key, old = place
    holder[key] = ast.copy_location(new, old) if new is not old and hasattr(old, "lineno") else new
    try:
        text = ast.unparse(ast.fix_missing_locations(tree))
        return text if tree_of(text) is not None else None
    except (ValueError, RecursionError, TypeError, AttributeError):
        return None
    finally:
        holder[key] = old


def _like(node: Any, **fields: object) -> Any:
    made = copy.copy(node)
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def _moved(node: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    yield "one more", ast.BinOp(node, ast.Add(), ast.Constant(1))
    yield "one less", ast.BinOp(node, ast.Sub(), ast.Constant(1))


def _edits(node: Any) -> Iterator[_Edit]:
    for other in _OPERATORS.get(type(node), ()):
        yield f"{other.__name__} for {type(node).__name__}", other()
    match node:
        case ast.BinOp(left=left, right=right):
            yield from (("only the left operand", left), ("only the right operand", right))
            if not isinstance(node.op, ast.Add | ast.Mult):
                yield "operands swapped", _like(node, left=right, right=left)
        case ast.BoolOp(values=[first, *rest]):
            yield "the first operand removed", rest[0] if len(rest) == 1 else _like(node, values=rest)
            yield "the last operand removed", first if len(rest) == 1 else _like(node, values=node.values[:-1])
        case ast.UnaryOp(op=ast.Not() | ast.USub() | ast.Invert(), operand=operand):
            yield "an operator removed", operand
        case ast.Constant(value=bool(value)):
            yield "a constant turned over", ast.Constant(not value)
        case ast.Constant(value=int(value) | float(value)):
            yield from (
                ("a constant one more", ast.Constant(value + 1)),
                ("a constant one less", ast.Constant(value - 1)),
            )
            yield "a constant 0", ast.Constant(0)
        case ast.Constant(value=str(value)) if 0 < len(value) <= _LONGEST:
            yield "a text without its first character", ast.Constant(value[1:])
            yield "a text without its last character", ast.Constant(value[:-1])
        case ast.Slice():
            for name in ("lower", "upper", "step"):
                if getattr(node, name) is not None:
                    yield f"a slice without {name}", _like(node, **{name: None})
        case ast.Subscript(slice=ast.expr() as index) if not isinstance(index, ast.Constant | ast.Tuple | ast.Slice):
            yield from ((f"an index {words}", _like(node, slice=moved)) for words, moved in _moved(index))
        case ast.Call():
            yield from _of_call(node)
        case ast.comprehension(ifs=[_, *rest]):
            yield "a filter removed", _like(node, ifs=rest)
        case ast.IfExp():
            yield from (("the first choice", node.body), ("the other choice", node.orelse))
        case ast.If() | ast.While():
            yield "a condition turned over", _like(node, test=ast.UnaryOp(ast.Not(), node.test))
            if isinstance(node, ast.If):
                yield "a branch always taken", _like(node, test=ast.Constant(True))
                yield "a branch removed", _like(node, test=ast.Constant(False))
        case ast.Return(value=ast.expr()):
            yield "a return removed", ast.Pass()
        case ast.Assign() | ast.AugAssign() | ast.Expr(value=ast.Call()) | ast.Continue() | ast.Break():
            yield "a statement removed", ast.Pass()
        case ast.For(body=body):
            yield "a loop that ends after its first round", _like(node, body=[*body, ast.Break()])


def _of_call(node: ast.Call) -> Iterator[_Edit]:
    called, given = node.func, node.args
    name = called.id if isinstance(called, ast.Name) else called.attr if isinstance(called, ast.Attribute) else ""
    if other := _CALLS.get(name):
        field = {"id": other} if isinstance(called, ast.Name) else {"attr": other}
        yield f"{other} for {name}", _like(node, func=_like(called, **field))
    if name in _LEFT_OUT and isinstance(called, ast.Attribute) and not given:
        yield f"without {name}", called.value
    elif name in _LEFT_OUT and len(given) == 1:
        yield f"without {name}", given[0]
    if name == "range":
        for place in {0, min(1, len(given) - 1)} if given else ():
            for words, moved in _moved(given[place]):
                yield f"a range {words}", _like(node, args=[*given[:place], moved, *given[place + 1 :]])
    elif len(given) == 2:
        yield "arguments swapped", _like(node, args=given[::-1])
    if len(given) > 1:
        yield "the last argument removed", _like(node, args=given[:-1])
    if node.keywords:
        yield "a keyword removed", _like(node, keywords=node.keywords[1:])
