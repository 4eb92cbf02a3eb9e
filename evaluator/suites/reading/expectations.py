"""What a judging statement expects, as source text: the right side of its comparison, the exception, a word."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping

from evaluator.suites.reading.source import Lines

_LONGEST_NAMED = 1000
_COMPARED: dict[type[ast.cmpop], str] = {
    ast.Eq: "", ast.Is: "", ast.NotEq: "anything but ", ast.IsNot: "anything but ", ast.In: "one of ",
    ast.NotIn: "none of ", ast.Lt: "< ", ast.LtE: "<= ", ast.Gt: "> ", ast.GtE: ">= ",
}  # fmt: skip
_SWAPPED: dict[type[ast.cmpop], str] = {
    **_COMPARED, ast.In: "a value that contains ", ast.NotIn: "a value without ", ast.Lt: "> ", ast.LtE: ">= ",
    ast.Gt: "< ", ast.GtE: "<= ",
}  # fmt: skip
_OF_TWO = (
    ("notequal", "anything but "), ("isnot", "anything but "), ("notin", "none of "), ("isinstance", "an instance of "),
    ("close", "close to "), ("almost", "close to "), ("countequal", "in any order: "), ("equal", ""), ("is", ""),
    ("greaterequal", ">= "), ("greater", "> "), ("lessequal", "<= "), ("less", "< "), ("in", "one of "),
    ("regex", "text that matches "),
)  # fmt: skip
"""By the start or end of the function's name, in lower case, without `assert`: the first that fits."""
_OF_ONE = {"true": "a true value", "false": "a false value", "isnone": "None", "isnotnone": "anything but None"}
_RAISING = frozenset(("raises", "assertRaises", "assertRaisesRegex"))


class Expectations:
    """Words for what statements expect."""

    def __init__(
        self, lines: Lines, is_completions: Callable[[ast.expr], bool], named: Mapping[str, ast.expr] | None = None
    ) -> None:
        """`is_completions`: whether an expression comes from the completion. `named`: the values of names."""
        self._lines = lines
        self._is_completions = is_completions
        self._named = named or {}

    def of(self, node: ast.stmt) -> str:
        """What this statement expects; empty if that takes more than a few words."""
        match node:
            case ast.Assert(test=ast.Compare(left=left, ops=[op], comparators=[right])):
                if self._is_completions(right) and not self._is_completions(left):
                    return _SWAPPED[type(op)] + self._source(left)
                return _COMPARED[type(op)] + self._source(right)
            case ast.Assert(test=ast.Call() as call):
                return self._of_call(call, called_name(call).lower()) or "a true value"
            case ast.Assert(test=ast.UnaryOp(op=ast.Not())):
                return "a false value"
            case ast.Assert(test=ast.Name() | ast.Attribute() | ast.Subscript()):
                return "a true value"
            case ast.With(items=[ast.withitem(context_expr=ast.Call() as call)]):
                return self._of_exception(call)
            case ast.Try(handlers=[ast.ExceptHandler(type=ast.expr() as kind)]):
                return f"an exception: {self._lines.of(kind)}"
            case ast.Expr(value=ast.Call() as call) if called_name(call).startswith("assert"):
                name = called_name(call).lower().removeprefix("assert").removeprefix("_")
                return self._of_exception(call) or self._of_call(call, name) or _OF_ONE.get(name, "")
        return ""

    def _of_call(self, call: ast.Call, name: str) -> str:
        words = next((words for part, words in _OF_TWO if name.startswith(part) or name.endswith(part)), None)
        if words is None or len(call.args) < 2:
            return ""
        first, second = call.args[:2]
        swapped = self._is_completions(second) and not self._is_completions(first)
        if swapped and name in ("in", "notin"):
            words = _SWAPPED[ast.In if name == "in" else ast.NotIn]
        return words + self._source(first if swapped else second)

    def _of_exception(self, call: ast.Call) -> str:
        if called_name(call) not in _RAISING or not call.args:
            return ""
        return f"an exception: {self._lines.of(call.args[0])}"

    def _source(self, node: ast.expr) -> str:
        """The source, or that of the name's value."""
        if isinstance(node, ast.Name) and node.id in self._named:
            text = self._lines.of(self._named[node.id])
            if len(text) <= _LONGEST_NAMED:
                return text
        return self._lines.of(node)


def named_once(body: Iterable[ast.stmt], nodes: Iterable[ast.AST]) -> dict[str, ast.expr]:
    """Names that are assigned in the body and nowhere else among the nodes, with their values."""
    counts = Counter(node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    return {
        target.id: node.value
        for node in body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name) and counts[target.id] == 1
    }


def judging_in(nodes: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that expect something, at any depth."""
    for node in nodes:
        match node:
            case ast.Assert():
                yield node
            case ast.Expr(value=ast.Call() as call) if called_name(call).lower().startswith("assert"):
                yield node
            case ast.With(items=[ast.withitem(context_expr=ast.Call() as call)]) if called_name(call) in _RAISING:
                yield node
            case _:
                for block in ("body", "orelse", "finalbody"):
                    yield from judging_in(getattr(node, block, []))


def called_name(call: ast.Call) -> str:
    """The last part of the called function's name."""
    match call.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""
