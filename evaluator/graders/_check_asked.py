"""What a judging statement asks for, as source text: the right side of its comparison, the exception, the word."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping

from evaluator.graders._check_source import Lines

_LONGEST_NAMED = 1000
_COMPARED: dict[type[ast.cmpop], str] = {
    ast.Eq: "",
    ast.Is: "",
    ast.NotEq: "anything but ",
    ast.IsNot: "anything but ",
    ast.In: "one of ",
    ast.NotIn: "none of ",
    ast.Lt: "< ",
    ast.LtE: "<= ",
    ast.Gt: "> ",
    ast.GtE: ">= ",
}
_SWAPPED: dict[type[ast.cmpop], str] = {
    **_COMPARED,
    ast.In: "a value that contains ",
    ast.NotIn: "a value without ",
    ast.Lt: "> ",
    ast.LtE: ">= ",
    ast.Gt: "< ",
    ast.GtE: "<= ",
}
_OF_TWO = {
    "allclose": "close to ",
    "approx_equal": "close to ",
    "array_almost_equal": "close to ",
    "array_equal": "",
    "almostequal": "close to ",
    "almost_equal": "close to ",
    "countequal": "in any order: ",
    "dictequal": "",
    "equal": "",
    "frame_equal": "",
    "greater": "> ",
    "greaterequal": ">= ",
    "in": "one of ",
    "index_equal": "",
    "is": "",
    "isclose": "close to ",
    "isinstance": "an instance of ",
    "isnot": "anything but ",
    "less": "< ",
    "lessequal": "<= ",
    "listequal": "",
    "multilineequal": "",
    "notequal": "anything but ",
    "notin": "none of ",
    "regex": "text that matches ",
    "sequenceequal": "",
    "series_equal": "",
    "setequal": "",
    "tupleequal": "",
}
"""By the lower-case name of the function, without `assert`."""
_OF_ONE = {"true": "a true value", "false": "a false value", "isnone": "None", "isnotnone": "anything but None"}
_RAISING = frozenset(("raises", "assertRaises", "assertRaisesRegex"))


class Asked:
    """Words for what statements ask for."""

    def __init__(
        self, lines: Lines, is_completions: Callable[[ast.expr], bool], named: Mapping[str, ast.expr] | None = None
    ) -> None:
        """`is_completions`: whether an expression comes from the completion. `named`: what names stand for."""
        self._lines = lines
        self._is_completions = is_completions
        self._named = named or {}

    def by(self, node: ast.stmt) -> str:
        """What this statement asks for; empty where it can't be said in a few words."""
        match node:
            case ast.Assert(test=test):
                return self._by_test(test)
            case ast.With(items=[ast.withitem(context_expr=ast.Call() as call)]):
                return self._exception(call)
            case ast.Try(body=[*_, last], handlers=[ast.ExceptHandler(type=ast.expr() as kind)], orelse=orelse):
                unwelcome = orelse[-1] if orelse else last
                return f"an exception: {self._lines.of(kind)}" if _always_fails(unwelcome) else ""
            case ast.Expr(value=ast.Call() as call):
                return self._exception(call) or self._by_call(call, is_assert=True)
            case _:
                return ""

    def _by_test(self, test: ast.expr) -> str:
        match test:
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                if self._is_completions(right) and not self._is_completions(left):
                    return _SWAPPED[type(op)] + self._source(left)
                return _COMPARED[type(op)] + self._source(right)
            case ast.UnaryOp(op=ast.Not()):
                return "a false value"
            case ast.Call():
                return self._by_call(test, is_assert=False) or "a true value"
            case ast.Name() | ast.Attribute() | ast.Subscript():
                return "a true value"
            case _:
                return ""

    def _by_call(self, call: ast.Call, *, is_assert: bool) -> str:
        name = _name_of(call).lower()
        if is_assert != name.startswith("assert"):
            return ""
        name = name.removeprefix("assert").removeprefix("_")
        match call.args:
            case [first, second, *_] if name in _OF_TWO:
                words = _OF_TWO[name]
                swapped = self._is_completions(second) and not self._is_completions(first)
                if swapped and name in ("in", "notin"):
                    words = _SWAPPED[ast.In if name == "in" else ast.NotIn]
                return words + self._source(first if swapped else second)
            case [_, *_] if is_assert:
                return _OF_ONE.get(name, "")
            case _:
                return ""

    def _exception(self, call: ast.Call) -> str:
        if _name_of(call) not in _RAISING or not call.args:
            return ""
        return f"an exception: {self._lines.of(call.args[0])}"

    def _source(self, node: ast.expr) -> str:
        """The source, or that of what the name stands for."""
        if isinstance(node, ast.Name) and node.id in self._named:
            text = self._lines.of(self._named[node.id])
            if len(text) <= _LONGEST_NAMED:
                return text
        return self._lines.of(node)


def asserts_in(nodes: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that ask for something, at any depth."""
    for node in nodes:
        match node:
            case ast.Assert():
                yield node
            case ast.Expr(value=ast.Call() as call) if _name_of(call).lower().startswith("assert"):
                yield node
            case ast.With(items=[ast.withitem(context_expr=ast.Call() as call)]) if _name_of(call) in _RAISING:
                yield node
            case _:
                for block in ("body", "orelse", "finalbody"):
                    yield from asserts_in(getattr(node, block, []))


def _name_of(call: ast.Call) -> str:
    match call.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def _always_fails(node: ast.stmt) -> bool:
    match node:
        case ast.Assert(test=ast.Constant(value=value)):
            return not value
        case ast.Raise(exc=ast.Name(id="AssertionError") | ast.Call(func=ast.Name(id="AssertionError"))):
            return True
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr="fail"))):
            return True
        case _:
            return False
