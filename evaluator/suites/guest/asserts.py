"""A test's asserts: rewritten, so that they are counted and their sides recorded; and the report of one that failed.

`assert f(x) == 3` becomes `assert @compare(7, '==', f(x), 3)`, then `@done()`; `self.assertEqual(f(x), 3)` becomes
`@call(8, self.assertEqual, f(x), 3)`. Each expression is evaluated as often, and in the same order, as before. No name
in a program has an `@`.
"""

from __future__ import annotations

import ast
import functools
import operator
import sys
from collections.abc import Callable, Sized
from types import FrameType
from typing import Any, NamedTuple

from evaluator.sandbox.guest import failures

FILE = "<test>"
"""The file name of a test's code in tracebacks."""
_OPERATORS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Is: "is",
    ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip
_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "is": operator.is_, "is not": operator.is_not, "in": lambda item, items: item in items,
    "not in": lambda item, items: item not in items,
}  # fmt: skip
_TWO_SIDED = frozenset("allclose isclose array_equal array_equiv isinstance issubclass".split())
"""Functions that compare their first two arguments, besides those whose names begin with `assert`."""
_ONE_SIDED = frozenset("assertFalse assertIsNone assertIsNotNone".split())
_NO_SIDES = ("assert_any_", "assert_awaited", "assert_called", "assert_has_", "assert_not_")
"""How the names of a mock's asserts begin."""
_RAISING = frozenset("raises warns assertRaises assertRaisesRegex assertWarns assertWarnsRegex".split())
_NOTHING_RAISED = ("not raised", "did not raise", "not triggered", "did not warn")
_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
_SOURCE_CAP = 2000
_MOST_NAMES = 6
_DATA = frozenset((bool, int, float, complex, str, bytes, bytearray, list, tuple, dict, set, frozenset))
Tree = Any
"""A node of the syntax tree; for mypy its kind would have to be asserted each time."""


class Site(NamedTuple):
    """A part of an assert that is true or false by itself: all of it, or an operand of `and` or `or`."""

    first: int
    """The first and the last line of its statement."""
    last: int
    source: str
    op: str
    """The operator between its sides; for a call that compares the function's name; "distance" for `abs(a - b) < c`,
    whose sides are `a` and `b`; for a value "truth" or "not"."""
    actual: int
    """The side that is the completion's: the first, unless only the second depends on the completion."""
    decides: bool
    """Whether it must hold for the assert to hold: it is not in an `or`."""
    names: tuple[str, ...]
    """Names that are a whole side."""


class AssertLog:
    """The functions that rewritten asserts call, by names with an `@`, and what these record."""

    def __init__(self) -> None:
        self.compared_nothing = False
        """Whether an empty array was compared with a non-empty one, which numpy finds equal if the shape fits."""
        self.count = 0
        """How many asserts have held."""
        self.last: tuple[int, tuple[Any, ...]] | None = None
        """The site that was evaluated last in the current assert, and its sides."""

    def names(self) -> dict[str, Any]:
        return {"@compare": self._compare, "@call": self._call, "@distance": self._distance, "@value": self._value,
                "@done": self._done, "@each": self._each}  # fmt: skip

    def _compare(self, site: int, op: str, left: Any, right: Any) -> Any:
        self.last = site, (left, right)
        self.compared_nothing |= _is_vacuous(left, right)
        return _COMPARE[op](left, right)

    def _call(self, site: int, function: Any, /, *arguments: Any, **keywords: Any) -> Any:
        own = self.last = site, (*arguments, *keywords.values())[:2]
        try:
            return function(*arguments, **keywords)
        except AssertionError:
            if self.last is None or len(self.last[1]) < 2:  # `assert exact_match` in `assertion(out, exp, atol)`
                self.last = own
            raise

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

    def watch_arrays(self) -> None:
        """Makes numpy's own comparing functions note an empty array, too."""
        import numpy.testing  # the test needs it anyway

        for module, names in _COMPARING.items():
            for name in names:
                setattr(sys.modules[module], name, self._watching(getattr(sys.modules[module], name)))
        del numpy

    def _watching(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def compare(*arguments: Any, **keywords: Any) -> Any:
            self.compared_nothing |= _is_vacuous(*[*arguments, *keywords.values()][:2])
            return function(*arguments, **keywords)

        return compare


_COMPARING = {
    "numpy": ("allclose", "isclose", "array_equiv"),
    "numpy.testing": (
        "assert_allclose", "assert_array_equal", "assert_array_almost_equal", "assert_equal", "assert_almost_equal",
    ),
}  # fmt: skip


def _is_vacuous(one: Any, other: Any) -> bool:
    """Whether one of the two is an empty array and the other is not empty."""
    if "ndarray" not in (type(one).__name__, type(other).__name__) or "numpy" not in sys.modules:
        return False
    return {_is_empty(one), _is_empty(other)} == {True, False}


def _is_empty(value: Any) -> bool:
    try:
        return bool(sys.modules["numpy"].size(value) == 0)
    except Exception:  # not an array
        return False


class _Text:
    """A test's source by lines; offsets in a line are in bytes."""

    def __init__(self, source: str) -> None:
        self._lines = [line.encode() for line in failures.lines_of(source)]

    def of(self, node: Tree) -> str:
        if not hasattr(node, "lineno"):
            return ""
        lines = self._lines[node.lineno - 1 : node.end_lineno]
        lines[-1] = lines[-1][: node.end_col_offset]
        lines[0] = lines[0][node.col_offset :]
        text = b"\n".join(lines).decode("utf-8", "replace")
        return text if len(text) <= _SOURCE_CAP else text[:_SOURCE_CAP] + "..."


class Rewriter:
    """Rewrites a test's asserts in place."""

    def __init__(self, source: str, touched: frozenset[str]) -> None:
        """`touched`: names whose values may depend on the completion."""
        self._text = _Text(source)
        self._touched = touched
        self.sites: list[Site] = []
        self._statement: Tree = None

    def rewrite(self, statements: list[ast.stmt]) -> None:
        """Rewrites the asserts in these statements, at any depth."""
        pending: list[Any] = [statements]
        while pending:  # no recursion: a thousand `elif` are nested a thousand levels deep
            body = pending.pop()
            changed: list[Any] = []
            for statement in body:
                changed.append(statement)
                match statement:
                    case ast.Expr(value=ast.ListComp(elt=inner) as made) if _is_assertion(inner):
                        statement.value = _called("@each", [made], made)
                    case _ if _decides(statement):
                        self._statement = statement
                        self._rewrite(statement)
                        changed.append(_called("@done", [], statement, expression=False))
                pending.extend(block for name in _BLOCKS if (block := getattr(statement, name, None)))
            body[:] = changed

    def _rewrite(self, statement: Tree) -> None:
        match statement:
            case ast.Assert(test=test):
                statement.test = self._part(test)
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr="assertTrue"), args=[test, *rest]) as call):
                call.args = [self._part(test), *rest]
            case ast.Expr(value=ast.Call() as call) if not (name := _called_name(call)).startswith(_NO_SIDES):
                if name not in _RAISING:
                    statement.value = self._of_call(call, name, call, alone=True)

    def _part(self, node: Tree, *, negated: Tree | None = None, alone: bool = True) -> Tree:
        """All of an assert's test, or an operand. `negated`: the `not` around it; `alone`: no `or` is around it."""
        name, whole = _called_name(node), negated or node
        match node:
            case ast.BoolOp(op=joint, values=values):
                node.values = [self._part(value, alone=alone and type(joint) is ast.And) for value in values]
                return node
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                node.operand = self._part(operand, negated=node, alone=alone)
                return node
            case ast.Compare(left=left, ops=[kind], comparators=[right]):
                op = _OPERATORS[type(kind)]
                shown = op if negated is None else f"not {op}"
                match left:
                    case ast.Call(func=ast.Name(id="abs"), args=[ast.BinOp(left=one, op=ast.Sub(), right=other)]):
                        site = self._site(whole, "distance", [one, other], alone=alone)
                        node.left = _called("@distance", [site, one, other], left)
                        return node
                site = self._site(whole, shown, [left, right], alone=alone)
                return _called("@compare", [site, ast.Constant(op), left, right], node)
            case ast.Call(args=[_, _, *_]) if name in _TWO_SIDED or name.startswith("assert"):
                return self._of_call(node, name if negated is None else f"not {name}", whole, alone=alone)
            case ast.Call(func=ast.Attribute(value=ast.Compare() as inner, attr="all" | "any") as method):
                method.value = self._part(inner, negated=negated, alone=alone)
                return node
            case ast.Call(args=[ast.Compare() as inner]) if name in ("all", "bool"):
                node.args = [self._part(inner, negated=negated, alone=alone)]
                return node
            case ast.Constant():
                return node
        op = "truth" if negated is None else "not"
        return _called("@value", [self._site(whole, op, [node], alone=alone), node], node)

    def _of_call(self, call: Tree, op: str, whole: Tree, *, alone: bool) -> Tree:
        sides = [*call.args, *(keyword.value for keyword in call.keywords)][: 1 if op in _ONE_SIDED else 2]
        return _called("@call", [self._site(whole, op, sides, alone=alone), call.func, *call.args], call, call.keywords)

    def _site(self, whole: Tree, op: str, sides: list[Tree], *, alone: bool) -> Tree:
        """Adds a site; returns its number."""
        statement = self._statement
        first = len(sides) < 2 or self._depends(sides[0])
        site = Site(
            first=statement.lineno,
            last=statement.end_lineno,
            source=self._text.of(whole if alone else _head(statement)),
            op=op,
            actual=int(not first and self._depends(sides[1])),
            decides=alone and len(sides) == 2,
            names=tuple(side.id for side in sides if isinstance(side, ast.Name)),
        )
        self.sites.append(site)
        return ast.Constant(len(self.sites) - 1)

    def _depends(self, node: Tree) -> bool:
        """Whether its value may depend on the completion."""
        return any(_name_of(part) in self._touched for part in ast.walk(node))


def _decides(statement: Tree) -> bool:
    """Whether it works like an assert: also `with assertRaises(...)`, `if ...: raise`, `try: ...; assert False`."""
    match statement:
        case ast.Assert():
            return True
        case ast.Expr(value=ast.Await(value=value)) | ast.Expr(value=value):
            return _is_assertion(value)
        case ast.With(items=items) | ast.AsyncWith(items=items):
            return any(_is_assertion(item.context_expr) for item in items)
        case ast.If(body=[*_, last]):
            return _refuses(last)
        case ast.Try(body=body, orelse=orelse):
            return any(block and _refuses(block[-1]) for block in (body, orelse))
    return False


def _is_assertion(node: Tree) -> bool:
    """`self.assertEqual(...)`, `np.testing.assert_allclose(...)`, `pytest.raises(...)`."""
    name = _called_name(node)
    return name.startswith("assert") or name in _RAISING


def _refuses(statement: Tree) -> bool:
    """`raise`, `assert False`, `self.fail()`."""
    match statement:
        case ast.Assert(test=ast.Constant(value=value)):
            return not value
        case ast.Expr(value=ast.Call() as call):
            return _called_name(call) == "fail"
    return type(statement) is ast.Raise


def _called_name(node: Tree) -> str:
    """The last part of the called name: `allclose` for `np.allclose(a, b)`; empty if there is none."""
    match node:
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)):
            return name
    return ""


def _name_of(node: ast.AST) -> str:
    """A name; "self.x" for `self.x`, as in the plan of a test."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name):
            return f"self.{name}"
    return ""


def _called(name: str, arguments: list[Tree], where: Tree, keywords: Any = (), *, expression: bool = True) -> Tree:
    call: Tree = ast.Call(func=ast.Name(id=name, ctx=ast.Load()), args=arguments, keywords=list(keywords))
    call = call if expression else ast.Expr(value=call)
    return ast.fix_missing_locations(ast.copy_location(call, where))


class Reporter:
    """Reports a test's failures: the line, the expression, the values of its two sides. Nothing is evaluated again."""

    def __init__(self, sites: list[Site], source: str, show: Callable[[Any], str]) -> None:
        self._tree, self._text = ast.parse(source), _Text(source)
        self._sites = sites
        self._show = show

    def of(
        self, error: BaseException, message: str, last: tuple[int, tuple[Any, ...]] | None, *, failed: bool
    ) -> dict[str, Any]:
        """`line` and `source`; if the test `failed` also `op`, `actual`, `expected`, `names`, and `message` if it is
        ours. `last`: the site and the sides of the assert that was evaluated last."""
        own = _own_frames(error)
        if not own:
            return {}
        line = own[-1][1]
        statement = _statement_at(self._tree, line)
        report: dict[str, Any] = {"line": line, "source": self._text.of(_head(statement))}
        if not failed:
            return report
        sides: tuple[str, ...] = ()
        site = self._sites[last[0]] if last is not None else None
        if site is not None and last is not None and any(site.first <= place <= site.last for _, place in own[-2:]):
            report |= {"source": site.source, **self._values(site, last[1])}
            sides = site.names
            if _called_name(_head(statement)) == "assertTrue":  # "False is not true", and then what the test adds
                report["message"] = message.partition(" : ")[2]
        else:
            report |= self._of_call(statement, message)
        return report | {"names": self._names(own[-2:], sides)}

    def _values(self, site: Site, values: tuple[Any, ...]) -> dict[str, Any]:
        shown = list(map(self._show, values))
        expected = shown[1 - site.actual] if site.decides and len(shown) > 1 else None
        return {"op": site.op, "actual": shown[site.actual] if shown else None, "expected": expected}

    def _of_call(self, statement: Tree, message: str) -> dict[str, Any]:
        """For an exception that was not raised, and for the asserts of a mock."""
        calls = [node for node in ast.walk(statement) if isinstance(node, ast.Call)]
        raising = next((call for call in calls if _called_name(call) in _RAISING), None)
        if raising is not None and any(text in message.lower() for text in _NOTHING_RAISED):
            kind = self._text.of(raising.args[0]) if raising.args else "an exception"
            said = f"expected {kind}, nothing was raised"
            return {"source": self._text.of(raising), "op": "raises", "message": said}
        called = next((name for name in map(_called_name, calls) if name.startswith("assert")), "")
        return {"op": called} if called else {}

    def _names(self, frames: list[tuple[FrameType, int]], sides: tuple[str, ...]) -> list[tuple[str, str]]:
        """The names that these frames' statements read, except sides, with their values if they are data."""
        texts: dict[str, str] = {}
        for frame, line in reversed(frames):
            statement = _statement_at(self._tree, line)
            root = statement if type(statement) is ast.Assert else _head(statement)
            read = [node for node in ast.walk(root) if isinstance(node, ast.Name)]
            names = [node.id for node in sorted(read, key=lambda node: (node.lineno, node.col_offset))]
            if len(frames) > 1 and frame is frames[-1][0]:  # a function of the test: its arguments
                names += frame.f_code.co_varnames[: frame.f_code.co_argcount]
            for name in names:
                if name not in sides and name not in texts and type(frame.f_locals.get(name)) in _DATA:
                    texts[name] = self._show(frame.f_locals[name])
        return list(texts.items())[:_MOST_NAMES]


def _own_frames(error: BaseException) -> list[tuple[FrameType, int]]:
    """The frames of the test's own code, and their lines."""
    frames, traceback = [], error.__traceback__
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == FILE:
            frames.append((traceback.tb_frame, traceback.tb_lineno or 1))
        traceback = traceback.tb_next
    return frames


def _statement_at(tree: ast.Module, line: int) -> Tree:
    """The innermost statement on that line."""
    statement: Tree = tree
    inside: list[Tree] = [tree]
    while inside:
        statement = inside[0]
        blocks = [child for name in _BLOCKS for child in getattr(statement, name, ())]
        inside = [node for node in _flat(blocks) if node.lineno <= line <= (node.end_lineno or line)]
    return statement


def _flat(nodes: list[Tree]) -> list[Tree]:
    """The statements among these, and those in handlers and cases."""
    return [inner for node in nodes for inner in ([node] if isinstance(node, ast.stmt) else _flat(node.body))]


def _head(statement: Tree) -> Tree:
    """The part of a statement to show: what is asserted or called, or the subject of its first line."""
    match statement:
        case ast.Assert(test=head) | ast.Expr(value=head) | ast.For(iter=head) | ast.While(test=head):
            return head
        case ast.If(test=head) | ast.Match(subject=head) | ast.With(items=[ast.withitem(context_expr=head), *_]):
            return head
    return statement
