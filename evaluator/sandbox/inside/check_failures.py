"""What is told of a check that failed: where, of which expression, and what its two sides were.

An assert's values stand in its function's frame (see `check_asserts`); those of `assertEqual`, `assert_allclose` and
their like are the arguments in the frame that they failed in. Nothing is evaluated again.
"""

from __future__ import annotations

import ast
import builtins
import itertools
from collections.abc import Callable, Iterator
from types import FrameType, TracebackType
from typing import Any, NamedTuple

from evaluator.sandbox.inside import check_asserts, check_origins, check_pieces, failures

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_WITHS = (ast.With, ast.AsyncWith)
_WITH_BODIES = (
    *_FUNCTIONS, *_WITHS, ast.ClassDef, ast.For, ast.AsyncFor, ast.While, ast.If, ast.Try, ast.TryStar, ast.Match,
)  # fmt: skip
_NO_SIDES = frozenset(("self", "msg", "message", "callable", "args", "kwargs"))
_RAISING = frozenset("raises warns assertRaises assertRaisesRegex assertWarns assertWarnsRegex".split())
_NOTHING_RAISED = ("not raised", "did not raise", "not triggered", "did not warn")
_SOURCE_CAP = 2000
_MOST_NAMES = 4
_DATA = frozenset((bool, int, float, complex, str, bytes, bytearray, list, tuple, dict, set, frozenset))

Node = Any
"""A node of the syntax tree, with a place in the source."""


class Side(NamedTuple):
    """One of the two things that were compared; no node where its source is not known."""

    node: Node
    value: Any


class Comparison(NamedTuple):
    """What was asked, of what."""

    source: Node
    op: str
    sides: list[Side]
    decides: bool = True
    """Whether the second side says what was expected: not where there are other ways to hold."""


class _Site(NamedTuple):
    """Where a frame of the test stands."""

    frame: FrameType
    line: int
    path: list[Node]
    """From the module down to the expression."""
    end: tuple[int | None, int | None]
    """Where that which is executed ends: line and column."""

    def statement(self) -> Node:
        return next(node for node in reversed(self.path) if isinstance(node, ast.stmt | ast.Module))

    def function(self) -> Node:
        """The function that is executed; a check's pieces are none."""
        named = [node for node in self.path if isinstance(node, _FUNCTIONS) and node.name[0] != "@"]
        return named[-1] if named else None

    def call(self) -> Node:
        """The call that is executed."""
        calls = [node for node in self.path if isinstance(node, ast.Call)]
        ending = [node for node in calls if (node.end_lineno, node.end_col_offset) == self.end]
        return next(iter(ending[:1] or calls[-1:]), None)


class Teller:
    """Tells of a test's failures."""

    def __init__(self, tree: ast.Module, order: dict[str, Any], show: Callable[[Any], str]) -> None:
        self._tree = tree
        self._lines = [line.encode() for line in failures.lines_of(order["test"])]
        self._show = show
        self._origins = check_origins.Origins(tree, filter(None, (*order["names"], order["entry_point"])))

    def told(self, error: BaseException, message: str, *, failed: bool) -> dict[str, Any]:
        """`line` and `source`; if the check `failed` also `op`, `actual`, `expected`, `names`, and `message` if it is
        ours."""
        frames = list(_frames(error.__traceback__))
        own = [index for index, one in enumerate(frames) if one.tb_frame.f_code.co_filename == check_pieces.FILE]
        if not own:
            return {}
        sites = [self._site(frames[index]) for index in own[-2:]]
        site, caller = sites[-1], sites[0] if len(sites) > 1 else None
        beyond = frames[own[-1] + 1 :]
        told: dict[str, Any] = {"line": site.line, "source": self._source(_judged(site))}
        if not failed:
            return told
        raising = _raising(site) if beyond else None
        if raising is not None and any(text in message.lower() for text in _NOTHING_RAISED):
            what = self._source(raising.args[0]) if raising.args else "an exception"
            told["source"] = self._source(raising)
            return told | {"op": "raises", "message": f"expected {what}, nothing was raised"}
        found = _of_call(site, beyond) if beyond else _of_assert(site)
        if found is None:
            return told
        site, found = _in_caller(site, found, caller)
        told = {"line": site.line, "source": self._source(found.source), "op": found.op, **self._shown(site, found)}
        sides = {getattr(check_asserts.unwrapped(side.node), "id", None) for side in found.sides}
        return told | {"names": [(name, self._show(value)) for name, value in _read_by(site) if name not in sides]}

    def _site(self, traceback: TracebackType) -> _Site:
        code, line = traceback.tb_frame.f_code, traceback.tb_lineno or 1
        positions = next(itertools.islice(code.co_positions(), traceback.tb_lasti // 2, None), (None,) * 4)
        first, last, column, end = positions
        path = _path(self._tree, line if first is None else first, column)
        return _Site(traceback.tb_frame, line, path, (last, end))

    def _source(self, node: Node) -> str:
        if isinstance(node, ast.Module):
            return ""
        node = check_asserts.unwrapped(node)
        lines = self._lines[node.lineno - 1 : node.end_lineno]
        if not lines:
            return ""
        lines[-1] = lines[-1][: node.end_col_offset]
        lines[0] = lines[0][node.col_offset :]
        text = b"\n".join(lines).decode("utf-8", "replace")
        return text if len(text) <= _SOURCE_CAP else text[:_SOURCE_CAP] + "..."

    def _shown(self, site: _Site, found: Comparison) -> dict[str, str | None]:
        sides = found.sides
        actual = self._actual(site, sides)
        shown: list[str | None] = [self._show(side.value) for side in sides]
        expected = shown[1 - actual] if len(sides) == 2 and found.decides else None
        return {"actual": shown[actual] if shown else None, "expected": expected}

    def _actual(self, site: _Site, sides: list[Side]) -> int:
        """Which side is the completion's: where its names, or what was made with them, stand; else the first."""
        if len(sides) < 2 or len(site.path) < 2 or any(side.node is None for side in sides):
            return 0
        first, second = (self._origins.of_completion(side.node, site.path[1]) for side in sides)
        return int(second and not first)


def _read_by(site: _Site) -> list[tuple[str, Any]]:
    """The names that the statement reads, and the data that they mean this time."""
    read = [node for node in ast.walk(site.statement()) if isinstance(node, ast.Name) and node.id[0] != "@"]
    names = [node.id for node in sorted(read, key=lambda node: (node.lineno, node.col_offset))]
    held = site.frame.f_locals
    found = [(name, held[name]) for name in dict.fromkeys(names) if name in held]
    return [(name, value) for name, value in found if type(value) in _DATA][:_MOST_NAMES]


def _frames(traceback: TracebackType | None) -> Iterator[TracebackType]:
    while traceback is not None:
        yield traceback
        traceback = traceback.tb_next


# Where


def _path(root: ast.AST, line: int, column: int | None) -> list[Node]:
    path: list[Node] = [root]
    while True:
        inner = next((node for node in _placed(path[-1]) if _contains(node, line, column)), None)
        if inner is None:
            return path
        path.append(inner)


def _placed(node: ast.AST) -> Iterator[Node]:
    """The nearest nodes below that have a place of their own."""
    for child in ast.iter_child_nodes(node):
        if hasattr(child, "lineno"):
            yield child
        else:
            yield from _placed(child)


def _contains(node: Node, line: int, column: int | None) -> bool:
    if column is None:
        return isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or 0)
    start, end = (node.lineno, node.col_offset), (node.end_lineno or 0, node.end_col_offset or 0)
    return bool(start <= (line, column) < end)


def _judged(site: _Site) -> Node:
    """What to show where there is no comparison: the statement, or of one with a body the expression in its head."""
    statement = site.statement()
    if isinstance(statement, ast.Assert):
        return statement.test
    if isinstance(statement, ast.Expr):
        return statement.value
    if not isinstance(statement, _WITH_BODIES):
        return statement
    below = site.path[site.path.index(statement) + 1 :]
    return below[0] if below else _head(statement)


def _head(statement: Node) -> Node:
    """What the statement's first line is about, or that line."""
    if isinstance(statement, _WITHS):
        return statement.items[0].context_expr
    for name in ("iter", "test", "subject"):
        if hasattr(statement, name):
            return getattr(statement, name)
    place = {"lineno": statement.lineno, "col_offset": statement.col_offset, "end_lineno": statement.lineno}
    return ast.Pass(**place, end_col_offset=None)


# What was compared


def _of_assert(site: _Site) -> Comparison | None:
    """The part of the assert's test that made it fail: the one that was evaluated last."""
    statement = site.statement()
    if not isinstance(statement, ast.Assert):
        return None
    kept = site.frame.f_locals
    parts = list(check_asserts.leaves(statement))
    reached = [part for part in parts if any(_has_value(kept, place) for place in part.sides)]
    part = reached[-1] if len(parts) > 1 and reached else parts[-1]
    sides = [Side(check_asserts.expression_at(place), _value(kept, place)) for place in part.sides]
    if part.operators == ("truth",) and isinstance(part.source, ast.Name):
        named = _compared_before(site, part.source.id)
        if named is not None:
            return named
    whole = check_asserts.unwrapped(statement.test)
    joined_by_or = any(isinstance(node, ast.Or) for node in ast.walk(whole)) if len(parts) > 1 else False
    comparison = _compared(part, sides)
    return comparison._replace(source=whole, decides=False) if joined_by_or else comparison


def _compared(part: check_asserts.Leaf, sides: list[Side]) -> Comparison:
    """Of `a < b < c` the two sides between which it did not hold."""
    evaluated = [side for side in sides if side.value is not _NOT_EVALUATED]
    last = len(evaluated) - 1
    op = part.operators[min(max(last - 1, 0), len(part.operators) - 1)]
    if part.negated and op != "not":
        op = f"not {op}"
    if op == "truth" and isinstance(part.source, ast.Constant):
        evaluated = []
    return Comparison(part.source, op, evaluated[-2:])


def _has_value(kept: Any, place: check_asserts.Place) -> bool:
    return check_asserts.name_kept(place) in kept


_NOT_EVALUATED = object()


def _value(kept: Any, place: check_asserts.Place) -> Any:
    node, name = check_asserts.expression_at(place), check_asserts.name_kept(place)
    if name is None and isinstance(node, ast.Constant):
        return node.value
    return kept.get(name, _NOT_EVALUATED)


def _compared_before(site: _Site, name: str) -> Comparison | None:
    """The comparison of two names whose result has this name: `same = out == expected`, then `assert same`."""
    function = site.function()
    if function is None:
        return None
    values = [
        node
        for node in ast.walk(function)
        if isinstance(node, ast.Assign) and any(isinstance(one, ast.Name) and one.id == name for one in node.targets)
    ]
    if len(values) != 1:
        return None
    part, *others = check_asserts.leaves(values[0], "value")
    nodes = [check_asserts.expression_at(place) for place in part.sides]
    if others or len(nodes) != 2 or not all(isinstance(node, ast.Name | ast.Constant) for node in nodes):
        return None
    return _compared(part, [Side(node, _of_simple(site.frame, node)) for node in nodes])


def _of_simple(frame: FrameType, node: Node) -> Any:
    if isinstance(node, ast.Constant):
        return node.value
    # `dict.get`: the completion is not asked what a name means by now
    for names in (frame.f_locals, frame.f_globals, builtins.__dict__):
        found = dict.get(names, node.id, _NOT_EVALUATED) if isinstance(names, dict) else names.get(node.id)
        if found is not _NOT_EVALUATED:
            return found
    return _NOT_EVALUATED


def _of_call(site: _Site, beyond: list[TracebackType]) -> Comparison | None:
    """The first two arguments of `assertEqual` or of what else the test has called by such a name."""
    frame = next((one.tb_frame for one in beyond[:4] if one.tb_frame.f_code.co_name.startswith("assert")), None)
    call = site.call()
    if frame is None or call is None:
        return None
    code = frame.f_code
    names = [name for name in code.co_varnames[: code.co_argcount] if name not in _NO_SIDES][:2]
    names = [name for name in names if not name.startswith("_")]
    arguments = _arguments(call, [name for name in code.co_varnames[: code.co_argcount] if name != "self"])
    sides = [Side(arguments.get(name), frame.f_locals.get(name)) for name in names]
    if code.co_name in ("assertTrue", "assertFalse", "assertIsNone", "assertIsNotNone"):
        sides = sides[:1]
    return Comparison(call, check_asserts.called_name(call), sides)


def _arguments(call: Node, names: list[str]) -> dict[str, Node]:
    """The expression that each of these parameters stands for."""
    positional = itertools.takewhile(lambda node: not isinstance(node, ast.Starred), call.args)
    return dict(zip(names, positional, strict=False)) | {one.arg: one.value for one in call.keywords if one.arg}


def _raising(site: _Site) -> Node:
    """The `pytest.raises(...)` or `assertRaises(...)` that is executed, as a call or at the end of a `with`."""
    statement = site.statement()
    items = [item.context_expr for item in statement.items] if isinstance(statement, _WITHS) else [site.call()]
    calls = [one for one in items if isinstance(one, ast.Call) and check_asserts.called_name(one) in _RAISING]
    return calls[0] if calls else None


def _in_caller(site: _Site, found: Comparison, caller: _Site | None) -> tuple[_Site, Comparison]:
    """The comparison as it stands in the call of a function that compares nothing but its own arguments."""
    function, call = site.function(), caller.call() if caller is not None else None
    if caller is None or function is None or call is None or not found.sides:
        return site, found
    parameters = [one.arg for one in (*function.args.posonlyargs, *function.args.args)]
    if isinstance(call.func, ast.Attribute) and parameters[:1] == ["self"]:
        del parameters[0]
    arguments = _arguments(call, parameters)
    nodes = [_argument(side.node, arguments) for side in found.sides]
    if any(node is None for node in nodes) or check_asserts.called_name(call) != function.name:
        return site, found
    sides = [Side(node, side.value) for node, side in zip(nodes, found.sides, strict=True)]
    return caller, found._replace(source=call, sides=sides)


def _argument(node: Node, arguments: dict[str, Node]) -> Node:
    if isinstance(node, ast.Constant):
        return node
    return arguments.get(node.id) if isinstance(node, ast.Name) else None
