"""Describes a failed test: the line, the expression, and the values of its two sides.

An assert's values were recorded when it was evaluated (see `assert_sites`); those of `assertEqual`, `assert_allclose`
and the like are the arguments in the frame in which they failed. Nothing is evaluated again.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from types import FrameType, TracebackType
from typing import Any

from evaluator.sandbox.guest import failures
from evaluator.suites.guest import assert_sites, test_code

_NO_SIDES = frozenset(("self", "msg", "message", "callable", "args", "kwargs"))
_RAISING = frozenset("raises warns assertRaises assertRaisesRegex assertWarns assertWarnsRegex".split())
_NOTHING_RAISED = ("not raised", "did not raise", "not triggered", "did not warn")
_ONE_SIDED = frozenset("assertTrue assertFalse assertIsNone assertIsNotNone".split())
_SOURCE_CAP = 2000
_MOST_NAMES = 6
_DATA = frozenset((bool, int, float, complex, str, bytes, bytearray, list, tuple, dict, set, frozenset))
Node = Any


class Reporter:
    """Reports a test's failures."""

    def __init__(self, sites: list[assert_sites.Site], order: dict[str, Any], show: Callable[[Any], str]) -> None:
        self._tree, self._sites = ast.parse(order["test"]), sites
        nodes = reversed(list(ast.walk(self._tree)))  # of two in one place, the outer one counts
        self._at = {assert_sites.place_of(node): node for node in nodes if isinstance(node, ast.expr)}
        self._lines = [line.encode() for line in failures.lines_of(order["test"])]
        self._show = show
        self._touched = frozenset((*order["touched"], *order["names"], order["entry_point"], "candidate"))

    def of(
        self, error: BaseException, message: str, last: tuple[int, tuple[Any, ...]] | None, *, failed: bool
    ) -> dict[str, Any]:
        """`line` and `source`; if the test `failed` also `op`, `actual`, `expected`, `names`, and `message` if it is
        ours. `last`: the site and the sides of the assert that was evaluated last."""
        frames = list(_frames(error.__traceback__))
        own = [place for place, one in enumerate(frames) if one.tb_frame.f_code.co_filename == test_code.FILE]
        if not own:
            return {}
        line = frames[own[-1]].tb_lineno or 1
        statement = _statement_at(self._tree, line)
        report: dict[str, Any] = {"line": line, "source": self._source(_head(statement))}
        if not failed:
            return report
        beyond = frames[own[-1] + 1 :]
        true = next((one for one in beyond if one.tb_frame.f_code.co_name == "assertTrue"), None)
        if last is not None and (not beyond or true):
            site, values = self._compared_before(self._sites[last[0]], last[1], frames[own[-1]].tb_frame, line)
            whole = self._at[site.source] if site.alone else _head(statement)
            sides = tuple(self._at[side] for side in site.sides)
            report |= {"source": self._source(whole), **self._sides(site.op, sides, values, decides=site.alone)}
            if true is not None:  # "False is not true", and then what the test adds
                report["message"] = message.partition(" : ")[2]
        elif beyond:
            report |= self._of_call(statement, line, beyond, message)
        callers = [(frames[place].tb_frame, frames[place].tb_lineno or 1) for place in reversed(own[-2:])]
        return report | {"names": self._names(callers)}

    def _compared_before(
        self, site: assert_sites.Site, values: tuple[Any, ...], frame: FrameType, line: int
    ) -> tuple[assert_sites.Site, tuple[Any, ...]]:
        """For `same = out == expected`, then `assert same`, as in EvalPlus: the comparison."""
        match self._at[site.source]:
            case ast.Name(id=name):
                functions = [node for node in ast.walk(self._tree) if isinstance(node, ast.FunctionDef)]
                function = next(
                    (node for node in reversed(functions) if node.lineno <= line <= (node.end_lineno or 0)), None
                )
                assigned = [node for node in ast.walk(function or ast.Pass()) if _assigns(node, name)]
                match assigned:
                    case [
                        ast.Assign(
                            value=ast.Compare(left=ast.Name() as left, ops=[op], comparators=[ast.Name() as right])
                        )
                    ]:
                        sides, variables = (left, right), frame.f_locals
                        if left.id in variables and right.id in variables:
                            word, places = assert_sites.OPERATORS[type(op)], map(assert_sites.place_of, sides)
                            return site._replace(op=word, sides=tuple(places)), (
                                variables[left.id],
                                variables[right.id],
                            )
        return site, values

    def _source(self, node: Node) -> str:
        if not hasattr(node, "lineno"):
            return ""
        lines = self._lines[node.lineno - 1 : node.end_lineno]
        if not lines:
            return ""
        lines[-1] = lines[-1][: node.end_col_offset]
        lines[0] = lines[0][node.col_offset :]
        text = b"\n".join(lines).decode("utf-8", "replace")
        return text if len(text) <= _SOURCE_CAP else text[:_SOURCE_CAP] + "..."

    def _sides(self, op: str, nodes: tuple[Node, ...], values: tuple[Any, ...], *, decides: bool) -> dict[str, Any]:
        """Both, as text; the first is the actual value, unless only the second depends on the completion."""
        shown = [self._show(value) for value in values]
        if len(shown) < 2:
            return {"op": op, "actual": shown[0] if shown else None, "expected": None}
        first, second = map(self._uses_completion, nodes)
        actual = int(second and not first)
        return {"op": op, "actual": shown[actual], "expected": shown[1 - actual] if decides else None}

    def _uses_completion(self, node: Node) -> bool:
        """Whether its value may depend on the completion."""
        parts = () if node is None else ast.walk(node)
        return any(_name_of(part) in self._touched for part in parts)

    def _of_call(self, statement: Node, line: int, beyond: list[TracebackType], message: str) -> dict[str, Any]:
        """For `assertEqual` and other assert functions: their first two arguments."""
        calls = [node for node in ast.walk(statement) if isinstance(node, ast.Call) and node.lineno <= line]
        raising = next((call for call in calls if assert_sites.called_name(call) in _RAISING), None)
        if raising is not None and any(text in message.lower() for text in _NOTHING_RAISED):
            kind = self._source(raising.args[0]) if raising.args else "an exception"
            return {"source": self._source(raising), "op": "raises", "message": f"expected {kind}, nothing was raised"}
        frame = next((one.tb_frame for one in beyond[:4] if one.tb_frame.f_code.co_name.startswith("assert")), None)
        if frame is None:
            return {}
        code = frame.f_code
        call = next((each for each in calls if assert_sites.called_name(each) == code.co_name), None)
        parameters = [name for name in code.co_varnames[: code.co_argcount] if name != "self"]
        names = [name for name in parameters if name not in _NO_SIDES and not name.startswith("_")]
        names = names[: 1 if code.co_name in _ONE_SIDED else 2]
        nodes = _arguments(call, parameters) if call is not None else {}
        values = tuple(frame.f_locals.get(name) for name in names)
        sides = self._sides(code.co_name, tuple(map(nodes.get, names)), values, decides=True)
        return {"source": self._source(call)} | sides if call is not None else sides

    def _names(self, frames: list[tuple[FrameType, int]]) -> list[tuple[str, str]]:
        """The names that these frames' statements read, except sides, with their values if they are data."""
        texts: dict[str, str] = {}
        for frame, line in frames:
            statement = _statement_at(self._tree, line)
            root = statement if type(statement) is ast.Assert else _head(statement)
            sides, values = self._sides_in(statement), frame.f_locals
            read = [node for node in ast.walk(root) if isinstance(node, ast.Name)]
            names = [node.id for node in sorted(read, key=lambda node: (node.lineno, node.col_offset))]
            if len(frames) > 1 and frame is frames[0][0]:  # a function of the test: its arguments
                names += frame.f_code.co_varnames[: frame.f_code.co_argcount]
            for name in names:
                if name not in sides and name not in texts and type(values.get(name)) in _DATA:
                    texts[name] = self._show(values[name])
        return list(texts.items())[:_MOST_NAMES]

    def _sides_in(self, statement: Node) -> set[str]:
        """Names that are a whole side."""
        end = statement.end_lineno or statement.lineno
        sites = (site for site in self._sites if statement.lineno <= site.source[0] <= end)
        sides = (self._at[side] for site in sites for side in site.sides)
        return {side.id for side in sides if isinstance(side, ast.Name)}


def _assigns(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Assign) and any(isinstance(one, ast.Name) and one.id == name for one in node.targets)


def _name_of(node: ast.AST) -> str:
    """A name; "self.x" for `self.x`, as in the plan of a test."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name):
            return f"self.{name}"
    return ""


def _frames(traceback: TracebackType | None) -> Iterator[TracebackType]:
    while traceback is not None:
        yield traceback
        traceback = traceback.tb_next


def _statement_at(tree: ast.Module, line: int) -> Node:
    """The innermost statement on that line."""
    statement: Node = tree
    inside: list[Node] = [tree]
    while inside:
        statement = inside[0]
        inside = [node for node in _placed(statement) if node.lineno <= line <= (node.end_lineno or line)]
    return statement


def _placed(node: Node) -> Iterator[Node]:
    """The statements directly in it."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            yield child
        elif isinstance(child, ast.ExceptHandler | ast.match_case):
            yield from _placed(child)


def _head(statement: Node) -> Node:
    """The part of a statement to show: what is asserted or called, or the subject of its first line."""
    match statement:
        case ast.Assert(test=head) | ast.Expr(value=head) | ast.For(iter=head) | ast.While(test=head):
            return head
        case ast.If(test=head) | ast.Match(subject=head) | ast.With(items=[ast.withitem(context_expr=head), *_]):
            return head
    return statement


def _arguments(call: Node, names: list[str]) -> dict[str, Node]:
    """The expression passed for each of these parameters."""
    positional = [node for node in call.args if not isinstance(node, ast.Starred)]
    return dict(zip(names, positional, strict=False)) | {one.arg: one.value for one in call.keywords if one.arg}
