"""Rewrites a test's asserts, so that they are counted and the sides of a failed one can be reported.

`assert f(x) == 3` becomes `assert @compare(7, '==', f(x), 3)`, then `@done()`; the argument of `assertTrue` likewise.
Each expression is evaluated as often, and in the same order, as before. No name in a program has an `@`.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Sized
from typing import Any, NamedTuple

from evaluator.suites.guest import empty_arrays

OPERATORS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Is: "is",
    ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip
_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "is": operator.is_, "is not": operator.is_not, "in": lambda item, items: item in items,
    "not in": lambda item, items: item not in items,
}  # fmt: skip
_TWO_SIDED = frozenset(
    "allclose isclose array_equal array_equiv isinstance issubclass array_almost_equal assert_almost_equal".split()
)
"""Functions that compare their first two arguments."""
_RAISES = frozenset(("raises", "warns"))
_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
Tree = Any
"""A node of the syntax tree; for mypy its kind would have to be asserted each time."""
Place = tuple[int, int, int, int]
"""Where an expression is in the test: first line, first column, last line, column after its end."""


class Site(NamedTuple):
    """A part of an assert that is true or false by itself: all of it, or an operand of `and` or `or`."""

    source: Place
    op: str
    """The operator between its sides; for a call that compares the function's name; for a value "truth" or "not"."""
    sides: tuple[Place, ...]
    alone: bool
    """Whether it must hold for the assert to hold: it is not in an `or`."""


def place_of(node: Tree) -> Place:
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset


class AssertLog:
    """The functions that rewritten asserts call, by names with an `@`, and what these record."""

    def __init__(self) -> None:
        self.compared_nothing = False
        """Whether an empty array was compared with a non-empty one."""
        self.count = 0
        """How many asserts have held."""
        self.last: tuple[int, tuple[Any, ...]] | None = None
        """The site that was evaluated last in the current assert, and its sides."""

    def names(self) -> dict[str, Any]:
        return {"@compare": self._compare, "@call": self._call, "@distance": self._distance, "@value": self._value,
                "@done": self._done, "@each": self._each}  # fmt: skip

    def _compare(self, site: int, op: str, left: Any, right: Any) -> Any:
        self.last = site, (left, right)
        self.compared_nothing |= empty_arrays.is_vacuous(left, right)
        return _COMPARE[op](left, right)

    def _call(self, site: int, function: Any, left: Any, right: Any, /, *more: Any, **keywords: Any) -> Any:
        self.last = site, (left, right)
        return function(left, right, *more, **keywords)

    def _distance(self, site: int, left: Any, right: Any) -> Any:
        self.last = site, (left, right)
        return abs(left - right)

    def _value(self, site: int, value: Any) -> Any:
        self.last = site, (value,)
        return value

    def _done(self) -> None:
        self._each((None,))

    def _each(self, held: Sized) -> None:
        """Counts a list of results of asserts."""
        self.last = None
        self.count += len(held)


def rewrite(statements: list[ast.stmt], sites: list[Site]) -> None:
    """Rewrites the asserts in these statements in place, at any depth; adds their sites to `sites`."""
    pending: list[Any] = [statements]
    while pending:  # no recursion: a thousand `elif` are nested a thousand levels deep
        body = pending.pop()
        changed: list[Any] = []
        for statement in body:
            changed.append(statement)
            match statement:
                case ast.Assert(test=test):
                    statement.test = _Rewriter(sites).rewritten(test)
                case ast.Expr(value=ast.Call(func=ast.Attribute(attr="assertTrue"), args=[test, *rest]) as call):
                    call.args = [_Rewriter(sites).rewritten(test), *rest]
                case ast.Expr(value=ast.ListComp(elt=inner) as made) if is_assertion(inner):
                    statement.value = _called("@each", [made], made)
            if _decides(statement):
                changed.append(_called("@done", [], statement, expression=False))
            pending.extend(block for name in _BLOCKS if (block := getattr(statement, name, None)))
        body[:] = changed


def _decides(statement: Tree) -> bool:
    """Whether it works like an assert: also `with assertRaises(...)`, `if ...: raise`, `try: ...; assert False`."""
    match statement:
        case ast.Assert():
            return True
        case ast.Expr(value=ast.Await(value=value)) | ast.Expr(value=value):
            return is_assertion(value)
        case ast.With(items=items) | ast.AsyncWith(items=items):
            return any(is_assertion(item.context_expr) for item in items)
        case ast.If(body=[*_, last]):
            return _refuses(last)
        case ast.Try(body=body, orelse=orelse):
            return any(block and _refuses(block[-1]) for block in (body, orelse))
    return False


def is_assertion(node: Tree) -> bool:
    """`self.assertEqual(...)`, `np.testing.assert_allclose(...)`, `pytest.raises(...)`."""
    name = called_name(node)
    return name.startswith("assert") or name in _RAISES


def _refuses(statement: Tree) -> bool:
    """`raise`, `assert False`, `self.fail()`."""
    match statement:
        case ast.Assert(test=ast.Constant(value=value)):
            return not value
        case ast.Expr(value=ast.Call() as call):
            return called_name(call) == "fail"
    return type(statement) is ast.Raise


def called_name(node: Tree) -> str:
    """The last part of the called name: `allclose` for `np.allclose(a, b)`; empty if there is none."""
    match node:
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)):
            return name
    return ""


class _Rewriter:
    """Rewrites a part of an assert's test: all of it, or operands of `and`, `or` and `not`."""

    def __init__(self, sites: list[Site], *, negated: Tree | None = None, alone: bool = True) -> None:
        """`negated`: the `not` around the part; `alone`: whether no `or` is around it."""
        self._sites = sites
        self._negated = negated
        self._alone = alone

    def rewritten(self, node: Tree) -> Tree:
        match node:
            case ast.BoolOp(op=joint, values=values):
                inner = _Rewriter(self._sites, alone=self._alone and type(joint) is ast.And)
                node.values = list(map(inner.rewritten, values))
                return node
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                node.operand = _Rewriter(self._sites, negated=node, alone=self._alone).rewritten(operand)
                return node
            case ast.Compare(left=left, ops=[kind], comparators=[right]):
                return self._compared(node, left, OPERATORS[type(kind)], right)
            case ast.Call(args=[one, other, *_]) if called_name(node) in _TWO_SIDED and not _has_star(one, other):
                site = self._site(node, called_name(node), one, other)
                return _called("@call", [site, node.func, *node.args], node, node.keywords)
            case ast.Call(func=ast.Attribute(value=ast.Compare() as inner, attr="all" | "any") as method):
                method.value = self.rewritten(inner)
                return node
            case ast.Call(args=[ast.Compare() as inner]) if called_name(node) in ("all", "bool"):
                node.args = [self.rewritten(inner)]
                return node
            case ast.Constant():
                return node
        return _called("@value", [self._site(node, "truth", node), node], node)

    def _compared(self, node: Tree, left: Tree, op: str, right: Tree) -> Tree:
        match left:
            case ast.Call(func=ast.Name(id="abs"), args=[ast.BinOp(left=one, op=ast.Sub(), right=other)]):
                node.left = _called("@distance", [self._site(node, op, one, other), one, other], left)
                return node
        return _called("@compare", [self._site(node, op, left, right), ast.Constant(op), left, right], node)

    def _site(self, node: Tree, op: str, *sides: Tree) -> Tree:
        """Adds a site; returns its number."""
        if self._negated is not None:
            op = "not" if op == "truth" else f"not {op}"
        source = place_of(self._negated or node)
        self._sites.append(Site(source, op, tuple(map(place_of, sides)), self._alone))
        return ast.Constant(len(self._sites) - 1)


def _has_star(*nodes: Tree) -> bool:
    return any(type(node) is ast.Starred for node in nodes)


def _called(name: str, arguments: list[Tree], where: Tree, keywords: Any = (), *, expression: bool = True) -> Tree:
    call: Tree = ast.Call(func=ast.Name(id=name, ctx=ast.Load()), args=arguments, keywords=list(keywords))
    call = call if expression else ast.Expr(value=call)
    return ast.fix_missing_locations(ast.copy_location(call, where))
