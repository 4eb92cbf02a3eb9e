"""A check's asserts, rewritten so that they are counted, and that a failed one can still say what its sides were.

`assert f(x) == 3, m` becomes `assert (@0 := f(x)) == 3, m`, then `@done()`, then `del @0`: the values stand in the
function's own frame when the assert fails, and are gone when it has held, so that they live no longer than they would
have. Nothing is evaluated twice, in another order, or where it would not have been. No name in a program has an `@`.
"""

from __future__ import annotations

import ast
import itertools
import operator
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

DONE = "@done"
"""What the rewritten check calls by this name once an assert has held: `Counter.count`."""

_LOAD, _STORE, _DELETE = ast.Load(), ast.Store(), ast.Del()
_TWO_SIDED = frozenset(
    "allclose isclose array_equal array_equiv isinstance issubclass array_almost_equal assert_almost_equal".split()
)
"""Functions that compare their first two arguments."""
_METHODS = frozenset("equals identical startswith endswith issubset issuperset isdisjoint".split())
"""Methods that compare their object with their first argument."""
_OF_ALL = frozenset(("all", "bool"))
_RAISES = frozenset(("raises", "warns"))
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DEFINITIONS = (*_FUNCTIONS, ast.ClassDef)
_OPERATORS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}

Place = tuple[ast.AST, str, int | None]
"""Where an expression stands: its parent, the parent's field, and the position in it if that is a list."""


class Leaf(NamedTuple):
    """A part of a test that is true or false by itself: all of it, or what `and` and `or` join."""

    source: ast.expr
    operators: tuple[str, ...]
    """Between each two sides; the function's name for a call that compares; one, "truth" or "not", for a value."""
    sides: tuple[Place, ...]
    negated: bool


class Counter:
    """How many asserts have held. It counts at C's speed: by how many items an iterator has left."""

    def __init__(self) -> None:
        left = itertools.repeat(None, sys.maxsize)
        self.count = left.__next__
        self._left = left

    def counted(self) -> int:
        return sys.maxsize - operator.length_hint(self._left)


def expression_at(place: Place) -> Any:
    """What stands there, the name under which its value is kept taken off."""
    parent, field, index = place
    node = getattr(parent, field)
    return unwrapped(node if index is None else node[index])


def unwrapped(node: Any) -> Any:
    """The expression itself, whether its value is kept or not."""
    return node.value if kept_as(node) is not None else node


def is_kept(name: str) -> bool:
    """Whether it is one of those under which values are kept."""
    return name[1:].isdigit() and name[0] == "@"


def kept_as(node: Any) -> str | None:
    """The name under which this expression's value is kept."""
    if type(node) is ast.NamedExpr and is_kept(node.target.id):
        return str(node.target.id)
    return None


def name_kept(place: Place) -> str | None:
    """The name under which the value is kept of what stands there."""
    parent, field, index = place
    node = getattr(parent, field)
    return kept_as(node if index is None else node[index])


def leaves(parent: ast.AST, field: str = "test", index: int | None = None) -> Iterator[Leaf]:
    """The leaves of the expression that stands there, in the order in which they are evaluated."""
    place = parent, field, index
    test = expression_at(place)
    if type(test) is ast.BoolOp:
        for position in range(len(test.values)):
            yield from leaves(test, "values", position)
    elif type(test) is ast.UnaryOp and type(test.op) is ast.Not:
        inner = _leaf((test, "operand", None))
        operators = ("not",) if inner.operators == ("truth",) else inner.operators
        yield Leaf(test, operators, inner.sides, not inner.negated)
    else:
        yield _leaf(place)


def _leaf(place: Place) -> Leaf:
    node = expression_at(place)
    if type(node) is ast.Compare:
        return Leaf(node, tuple(_OPERATORS[type(one)] for one in node.ops), _sides_of_comparison(node), negated=False)
    if type(node) is ast.Call:
        name, several = called_name(node), not any(type(argument) is ast.Starred for argument in node.args[:2])
        if name in _TWO_SIDED and len(node.args) > 1 and several:
            return Leaf(node, (name,), ((node, "args", 0), (node, "args", 1)), negated=False)
        if name in _METHODS and type(node.func) is ast.Attribute and node.args and several:
            return Leaf(node, (name,), ((node.func, "value", None), (node, "args", 0)), negated=False)
        inner = _compared_throughout(node)
        if inner is not None:
            operators = tuple(_OPERATORS[type(one)] for one in inner.ops)
            return Leaf(node, operators, _sides_of_comparison(inner), negated=False)
    return Leaf(node, ("truth",), (place,), negated=False)


def called_name(call: ast.Call) -> str:
    """The last part of what is called: `allclose` for `np.allclose(a, b)`."""
    if type(call.func) is ast.Attribute:
        return call.func.attr
    return call.func.id if type(call.func) is ast.Name else ""


def _sides_of_comparison(node: ast.Compare) -> tuple[Place, ...]:
    """Of `abs(a - b) < small` the two that are held to be close; else the operands."""
    match node:
        case ast.Compare(
            left=ast.Call(func=ast.Name(id="abs"), args=[argument], keywords=[]), ops=[ast.Lt() | ast.LtE()]
        ) if type(argument) is ast.BinOp and type(argument.op) is ast.Sub:
            return (argument, "left", None), (argument, "right", None)
    return (node, "left", None), *((node, "comparators", position) for position in range(len(node.comparators)))


def _compared_throughout(node: ast.Call) -> ast.Compare | None:
    """The comparison in `all(a == b)`, `np.all(a == b)`, `bool(a == b)` and `(a == b).all()`."""
    if called_name(node) not in _OF_ALL:
        return None
    inner: Any = node.args[0] if node.args else getattr(node.func, "value", None)
    return inner if type(inner) is ast.Compare and len(inner.ops) == 1 else None


def rewrite(statements: list[ast.stmt]) -> None:
    """Rewrites the asserts in these statements, and in all functions in them, in place.

    Those that stand in a class, and in no function of it, are left as they are: a value kept would be an attribute.
    """
    pending = [(statements, False)]
    while pending:  # no recursion: `elif` a thousand times over is nested a thousand levels deep
        body, in_class = pending.pop()
        changed: list[ast.stmt] | None = None
        for position, statement in enumerate(body):
            kind = type(statement)
            after: tuple[ast.stmt, ...] = ()
            if kind is ast.Assert:
                after = () if in_class else _rewritten(statement)
            elif kind is ast.Expr:
                after = _COUNTED if _is_assertion(statement.value) else ()  # type: ignore[attr-defined]
            elif kind in _DEFINITIONS:
                pending.append((statement.body, kind is ast.ClassDef))  # type: ignore[attr-defined]
            elif kind in _BODIES:
                pending.extend((inner, in_class) for inner in _BODIES[kind](statement))
                after = _COUNTED if _decides(statement) else ()
            if after and changed is None:
                changed = body[:position]
            if changed is not None:
                changed.append(statement)
                changed.extend(after)
        if changed is not None:
            body[:] = changed


def _is_assertion(node: Any) -> bool:
    """`self.assertEqual(...)`, `np.testing.assert_allclose(...)`, `pytest.raises(...)`, awaited, or a list of such."""
    if type(node) is ast.Await:
        return _is_assertion(node.value)
    if type(node) is ast.ListComp:
        return _is_assertion(node.elt)
    if type(node) is not ast.Call:
        return False
    name = called_name(node)
    return name.startswith("assert") or name in _RAISES


def _decides(statement: Any) -> bool:
    """Whether it does an assert's work: `with assertRaises(...)`, `if ...: raise`, `try: ...; assert False`."""
    kind = type(statement)
    if kind in _WITHS:
        return any(_is_assertion(item.context_expr) for item in statement.items)
    if kind is ast.If:
        return _refuses(statement.body[-1])
    return kind is ast.Try and any(body and _refuses(body[-1]) for body in (statement.body, statement.orelse))


def _refuses(statement: Any) -> bool:
    """`raise`, `assert False`, `self.fail()`."""
    if type(statement) is ast.Assert:
        return type(statement.test) is ast.Constant and not statement.test.value
    if type(statement) is ast.Expr:
        return type(statement.value) is ast.Call and called_name(statement.value) == "fail"
    return type(statement) is ast.Raise


def _rewritten(statement: Any) -> tuple[ast.stmt, ...]:
    """Keeps the values of the sides; what has to follow the assert."""
    kept, parts, sides = 0, 0, 0
    for leaf in tuple(leaves(statement)):
        parts += 1
        sides = max(sides, len(leaf.sides))
        for place in leaf.sides:
            kept += _keep(place, kept, even_constants=len(leaf.sides) > 2)
    return _ends(kept, parts == 1 and sides <= 2)


def _keep(place: Place, number: int, even_constants: bool) -> bool:
    """Whether it was kept: what a constant is, is known, and only in a chain not whether it was come to."""
    parent, field, index = place
    held = getattr(parent, field)
    node = held if index is None else held[index]
    if type(node) is ast.Constant and not even_constants:
        return False
    wrapped = ast.NamedExpr(
        target=ast.Name(id=f"@{number}", ctx=_STORE, **_NOWHERE),
        value=node,
        lineno=node.lineno,
        col_offset=node.col_offset,
        end_lineno=node.end_lineno,
        end_col_offset=node.end_col_offset,
    )
    if index is None:
        setattr(parent, field, wrapped)
    else:
        held[index] = wrapped
    return True


def _ends(kept: int, surely: bool) -> tuple[ast.stmt, ...]:
    """What follows an assert with so many kept values; with `surely` each has been evaluated if the assert held."""
    found = _ENDS.get((kept, surely))
    if found is None:
        found = _COUNTED
        names = [f"@{number}" for number in range(kept)]
        if names and not surely:
            targets: list[ast.expr] = [ast.Name(id=name, ctx=_STORE, **_NOWHERE) for name in names]
            found += (ast.Assign(targets=targets, value=ast.Constant(value=None, **_NOWHERE), **_NOWHERE),)
        if names:
            found += (ast.Delete(targets=[ast.Name(id=one, ctx=_DELETE, **_NOWHERE) for one in names], **_NOWHERE),)
        _ENDS[kept, surely] = found
    return found


# What we add stands at the first line's beginning and has no length: whoever looks for a place does not find it.
_NOWHERE: dict[str, Any] = {"lineno": 1, "col_offset": 0, "end_lineno": 1, "end_col_offset": 0}
_CALL = ast.Call(func=ast.Name(id=DONE, ctx=_LOAD, **_NOWHERE), args=[], keywords=[], **_NOWHERE)
_COUNTED: tuple[ast.stmt, ...] = (ast.Expr(value=_CALL, **_NOWHERE),)
_ENDS: dict[tuple[int, bool], tuple[ast.stmt, ...]] = {}
"""Statements are shared among all asserts: to make one costs more than to compile it."""

_WITHS = (ast.With, ast.AsyncWith)
_BODIES: dict[type[ast.stmt], Any] = {
    **dict.fromkeys((ast.If, ast.For, ast.AsyncFor, ast.While), lambda node: (node.body, node.orelse)),
    **dict.fromkeys(_WITHS, lambda node: (node.body,)),
    **dict.fromkeys(
        (ast.Try, ast.TryStar),
        lambda node: (node.body, *(one.body for one in node.handlers), node.orelse, node.finalbody),
    ),
    ast.Match: lambda node: tuple(case.body for case in node.cases),
}
