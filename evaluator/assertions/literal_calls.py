"""Assert tasks whose check only compares literal calls with literals, read as calls.

`def check(candidate): assert candidate([1, 2], 3) == [4]` needs no separate process: the call's arguments
go to the sandbox, the result comes back as data, and the trusted side compares. Every statement of the check
must have that form, else the whole check is `NotLiteral`, with the reason. Tests are parsed, never run.

Statements that can't fail (`pass`, `assert True`, a docstring, a printed literal) are skipped. A name of a
literal is replaced by the literal, if no call can have changed it between two uses.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from evaluator.assertions.literals import NotLiteralError, described, fold
from evaluator.assertions.relations import Expectation, Relation, expectation_holds
from evaluator.assertions.source import walk
from evaluator.assertions.test_module import CheckModule, RefusedError, read_check, refusal
from evaluator.assertions.ungradable import Refusal
from evaluator.model import Task, TestCase
from evaluator.syntax import lines_of

__all__ = [
    "Expectation",
    "LiteralCall",
    "LiteralCalls",
    "NotLiteral",
    "Relation",
    "expectation_holds",
    "extract_calls",
    "test_case",
]


@dataclass(frozen=True)
class LiteralCall:
    """One assert of a check: what the entry point must return for these arguments."""

    index: int
    """From 0, among the check's calls: the test case's index."""
    source: str
    """The statement's source, after the assignments of the names in it."""
    args: tuple[object, ...]
    kwargs: dict[str, object]
    expectation: Expectation
    line: int
    """The statement's line in the test, from 1."""
    expected_source: str
    """The source of the literal that the result is compared with."""


@dataclass(frozen=True)
class LiteralCalls:
    """A check that consists of literal calls, in order. At least one."""

    calls: tuple[LiteralCall, ...]


@dataclass(frozen=True)
class NotLiteral:
    """Why a check can't be read as literal calls, in one line."""

    reason: str


def extract_calls(task: Task) -> LiteralCalls | NotLiteral:
    """The calls of an assert task's check, or why it is not literal. Raises nothing."""
    try:
        check = read_check(task)
        calls = tuple(_Reader(task.test or "", check).calls())
    except RefusedError as refused:
        return NotLiteral(str(refused))
    except RecursionError:
        return NotLiteral(Refusal.NESTED)
    return LiteralCalls(calls) if calls else NotLiteral("the check calls nothing")


def test_case(call: LiteralCall) -> TestCase:
    """The test case of a call: the statement's source, and the source of the expected value."""
    return TestCase(call.index, input=call.source, expected=call.expected_source)


test_case.__test__ = False  # type: ignore[attr-defined]  # pytest would take the name for a test


class _Reader:
    """Reads the statements of one check."""

    def __init__(self, source: str, check: CheckModule) -> None:
        # Lines as the parser counts them. Its offsets in a line are in bytes.
        self._lines = [line.encode() for line in lines_of(source)]
        self._callees = check.callees
        self._shadowed = check.shadowed | frozenset(_names(check.body, ast.Store))
        self._named: dict[str, ast.Assign] = {}
        self._values: dict[str, ast.expr] = {}
        self._uses = Counter(_names(check.body, ast.Load))
        self._body = check.body
        self._index = 0

    def calls(self) -> Iterator[LiteralCall]:
        for node in self._body:
            match node:
                case ast.Assert(test=ast.Constant(value=value)):
                    if not value:
                        raise refusal(node, "an assert that always fails")
                case ast.Assert():
                    yield self._call(node)
                case ast.Assign(targets=[ast.Name(id=name)]):
                    self._assign(name, node)
                case ast.Expr(value=expression):
                    self._expression(node, expression)
                case ast.Pass():
                    pass
                case _:
                    raise refusal(node, f"{_STATEMENTS.get(type(node), type(node).__name__)} is not a literal assert")

    def _expression(self, node: ast.Expr, expression: ast.expr) -> None:
        """Accepts a statement that only prints literals, or does nothing."""
        match expression:
            case ast.Constant():
                return
            case ast.Name(id="print") if "print" not in self._shadowed:
                return
            case ast.Call(func=ast.Name(id="print"), args=printed, keywords=[]):
                if "print" not in self._shadowed:
                    for argument in printed:
                        self._folded(argument)
                    return
        raise refusal(node, f"{described(expression)} is not a literal assert")

    def _assign(self, name: str, node: ast.Assign) -> None:
        if name in self._named or name in self._callees:
            raise refusal(node, f"`{name}` is assigned more than once")
        value = self._folded(node.value)
        if self._uses[name] > 1 and not isinstance(value, _IMMUTABLE):
            raise refusal(node, f"`{name}` is used more than once, and a call may have changed it")
        self._named[name] = node
        self._values[name] = node.value

    def _call(self, node: ast.Assert) -> LiteralCall:
        _refuse_odd_message(node)
        call, relation, literal = self._compared(node.test)
        args, kwargs = self._arguments(call)
        value = None if literal is None else self._folded(literal)
        self._index += 1
        return LiteralCall(
            index=self._index - 1,
            source=self._statement_source(node),
            args=tuple(args),
            kwargs=kwargs,
            expectation=Expectation(relation, value),
            line=node.lineno,
            expected_source=self._expected_source(relation, literal),
        )

    def _compared(self, test: ast.expr) -> tuple[ast.Call, Relation, ast.expr | None]:
        """The call, the relation, and the literal that the result is compared with."""
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=operand) if (call := self._candidate_call(operand)) is not None:
                return call, Relation.FALSE, None
            case ast.Call() if (call := self._candidate_call(test)) is not None:
                return call, Relation.TRUE, None
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return self._comparison(left, op, right)
            case ast.Tuple(elts=[_, *_]):
                raise refusal(test, "an assert of a tuple, which never fails")
            case _:
                raise refusal(test, f"{described(test)} is neither a literal call nor a comparison of one")

    def _comparison(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> tuple[ast.Call, Relation, ast.expr]:
        relation = _RELATIONS.get(type(op))
        if relation is None:
            raise refusal(left, f"a comparison by {type(op).__name__}")
        call, literal = self._candidate_call(left), right
        if call is None and relation in (Relation.EQUAL, Relation.UNEQUAL):
            call, literal = self._candidate_call(right), left
        if call is None:
            raise refusal(left, f"{described(left)} in place of a call of the entry point")
        self._refuse_unfit(relation, literal)
        return call, relation, literal

    def _refuse_unfit(self, relation: Relation, literal: ast.expr) -> None:
        if relation in (Relation.EQUAL, Relation.UNEQUAL):
            return
        kind = type(self._folded(literal))
        if relation in (Relation.AMONG, Relation.NOT_AMONG):
            if kind not in (list, tuple):
                raise refusal(literal, f"`in` a {kind.__name__}")
        elif kind not in (bool, type(None)):
            raise refusal(literal, "`is` with something other than None, True and False")

    def _candidate_call(self, node: ast.expr) -> ast.Call | None:
        match node:
            case ast.Call(func=ast.Name(id=name)) if name in self._callees:
                return node
            case _:
                return None

    def _arguments(self, call: ast.Call) -> tuple[list[object], dict[str, object]]:
        args: list[object] = self._folded(ast.copy_location(ast.List(call.args, ast.Load()), call))
        kwargs: dict[str, object] = {}
        for keyword in call.keywords:
            if keyword.arg is None:
                raise refusal(keyword.value, "arguments unpacked with **")
            kwargs[keyword.arg] = self._folded(keyword.value)
        return args, kwargs

    def _folded(self, node: ast.expr) -> Any:
        try:
            return fold(node, self._shadowed, self._values)
        except NotLiteralError as error:
            raise refusal(node, f"{error} is not a literal") from None

    def _statement_source(self, node: ast.Assert) -> str:
        needed: dict[str, ast.Assign] = {}
        pending: list[ast.stmt] = [node]
        while pending:
            for name in _names([pending.pop()], ast.Load):
                if name in self._named and name not in needed:
                    needed[name] = self._named[name]
                    pending.append(needed[name])
        assignments = sorted(needed.values(), key=lambda assignment: assignment.lineno)
        return "\n".join(map(self._source, (*assignments, node)))

    def _expected_source(self, relation: Relation, literal: ast.expr | None) -> str:
        if literal is None:
            return f"a {relation.value} value"
        if isinstance(literal, ast.Name):
            literal = self._values.get(literal.id, literal)
        return _WORDS.get(relation, "") + self._source(literal)

    def _source(self, node: ast.stmt | ast.expr) -> str:
        """Like `ast.get_source_segment`, without splitting the whole text again for every statement."""
        lines = self._lines[node.lineno - 1 : node.end_lineno]
        lines[-1] = lines[-1][: node.end_col_offset]
        lines[0] = lines[0][node.col_offset :]
        return b"\n".join(lines).decode()


def _names(body: list[ast.stmt], context: type[ast.expr_context]) -> Iterator[str]:
    """Every use of a name, except in the messages of asserts, which are read only after the assert has failed."""
    for node in body:
        for part in walk(node.test if isinstance(node, ast.Assert) else node):
            if isinstance(part, ast.Name) and isinstance(part.ctx, context):
                yield part.id


def _refuse_odd_message(node: ast.Assert) -> None:
    """A message may be any expression that does not change what `check` is."""
    for part in ast.walk(node.msg) if node.msg is not None else ():
        if isinstance(part, ast.NamedExpr | ast.Yield | ast.YieldFrom | ast.Await):
            raise refusal(node, "a message with side effects")


_IMMUTABLE = (bool, int, float, complex, str, bytes, type(None))
_RELATIONS: dict[type[ast.cmpop], Relation] = {
    ast.Eq: Relation.EQUAL,
    ast.NotEq: Relation.UNEQUAL,
    ast.Is: Relation.IDENTICAL,
    ast.IsNot: Relation.NOT_IDENTICAL,
    ast.In: Relation.AMONG,
    ast.NotIn: Relation.NOT_AMONG,
}
_WORDS: dict[Relation, str] = {
    Relation.UNEQUAL: "anything but ",
    Relation.NOT_IDENTICAL: "anything but ",
    Relation.AMONG: "one of ",
    Relation.NOT_AMONG: "none of ",
}
_STATEMENTS: dict[type[ast.stmt], str] = {
    ast.For: "a for loop",
    ast.While: "a while loop",
    ast.If: "an if statement",
    ast.Try: "a try statement",
    ast.With: "a with statement",
    ast.Assign: "an assignment",
    ast.AugAssign: "an assignment",
    ast.AnnAssign: "an assignment",
    ast.Import: "an import",
    ast.ImportFrom: "an import",
    ast.FunctionDef: "a function definition",
    ast.ClassDef: "a class definition",
    ast.Return: "a return statement",
}
