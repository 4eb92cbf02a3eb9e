"""Assert tasks whose check only compares literal calls with literals, read as calls.

`def check(candidate): assert candidate([1, 2], 3) == [4]` needs no separate process: the call's arguments
go to the sandbox, the result comes back as data, and the trusted side compares, by the `python` checker. Every
statement of the check must have that form. Tests are parsed, never run.

A literal check may use its parameter, the entry point, and the builtin constructors of values. A name that the
preamble, the prompt or the test module defines means the dataset's own helper, never the completion's.

Statements that can't fail (`pass`, `assert True`, a docstring, a printed literal) are skipped. A name of a
literal is replaced by the literal, if no call can have changed it between two uses.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from evaluator.checkers import brief, get_checker, message, why_no_data
from evaluator.model import Difference, Opaque, Task, TestCase
from evaluator.suites.reading.literals import NotLiteralError, fold, require
from evaluator.suites.reading.source import Lines, binds, parsed, walk


class Relation(StrEnum):
    """The relation between the result and the literal."""

    EQUAL = "=="
    UNEQUAL = "!="
    IDENTICAL = "is"
    NOT_IDENTICAL = "is not"
    AMONG = "in"
    NOT_AMONG = "not in"
    TRUE = "true"
    FALSE = "false"


@dataclass(frozen=True)
class Expectation:
    """`relation` to `value`, which is not used for TRUE and FALSE."""

    relation: Relation
    value: object = None


@dataclass(frozen=True)
class LiteralCall:
    """One assert of a check: what the entry point must return for these arguments."""

    case: TestCase
    """The source of the statement, after the assignments of the names in it; the source of the expected value."""
    args: tuple[object, ...]
    kwargs: dict[str, object]
    expectation: Expectation


def extract_calls(task: Task) -> tuple[LiteralCall, ...]:
    """The calls of an assert task's check, in order; none if it is not literal. Raises nothing."""
    try:
        return tuple(_Reader(task).calls())
    except (NotLiteralError, RecursionError):
        return ()


def expectation_holds(expectation: Expectation, value: object) -> Difference | None:
    """None if a decoded result meets the expectation, else why not.

    A value that is not data is unequal to everything. Whether it is true was asked in the sandbox, as an assert would:
    a completion that may answer what it likes could as well return True.
    """
    expected, relation = expectation.value, expectation.relation
    match relation:
        case Relation.EQUAL:
            return _difference(expected, value)
        case Relation.UNEQUAL:
            is_met = _difference(expected, value) is not None
        case Relation.IDENTICAL | Relation.NOT_IDENTICAL:
            is_met = (value is expected) is (relation is Relation.IDENTICAL)
        case Relation.AMONG | Relation.NOT_AMONG:
            among = any(_difference(item, value) is None for item in expected)  # type: ignore[attr-defined]
            is_met = among is (relation is Relation.AMONG)
        case Relation.TRUE | Relation.FALSE:
            is_met = _truth_of(value) is (relation is Relation.TRUE)
    if is_met:
        return None
    wanted = _in_words(relation, brief(expected))
    why = why_no_data(value)
    return Difference(message(f"expected {wanted}, got {brief(value)}{f': {why}' if why else ''}"), path="")


def _in_words(relation: Relation, literal: str) -> str:
    return f"a {relation} value" if relation in (Relation.TRUE, Relation.FALSE) else _WORDS[relation] + literal


def _truth_of(value: object) -> bool | None:
    """Whether a decoded value is true; None if that can't be known."""
    if isinstance(value, Opaque):
        return value.truth
    return None if why_no_data(value) else bool(value)


def _difference(expected: object, value: object) -> Difference | None:
    return get_checker("python").rules["value"](expected, value)


class _Reader:
    """Reads the statements of one check. All its methods raise `NotLiteralError`."""

    def __init__(self, task: Task) -> None:
        module = parsed(task.test) if task.test is not None else None
        if module is None:
            raise NotLiteralError
        check, parameter = _check_function(module, task.entry_point)
        of_test = binds(module.body)
        own_name = task.entry_point if task.entry_point not in of_test else None
        self._callees = {parameter, own_name or parameter}
        """Names of the completion's entry point."""
        outside = [each for each in map(parsed, (task.preamble, task.prompt)) if each is not None]
        self._shadowed = of_test.union(
            self._callees, _names(check.body, ast.Store), *(binds(each.body) for each in outside)
        )
        """Names that do not mean the builtin."""
        self._lines = Lines(task.test or "")
        self._named: dict[str, ast.Assign] = {}
        self._values: dict[str, ast.expr] = {}
        self._uses = Counter(_names(check.body, ast.Load))
        self._body = check.body

    def calls(self) -> Iterator[LiteralCall]:
        index = 0
        for node in self._body:
            match node:
                case ast.Assert(test=ast.Constant(value=value)):
                    require(value)
                case ast.Assert():
                    yield self._call(index, node)
                    index += 1
                case ast.Assign(targets=[ast.Name(id=name)]):
                    self._assign(name, node)
                case ast.Pass() | ast.Expr(value=ast.Constant()):
                    pass
                case ast.Expr(value=ast.Name(id="print") | ast.Call(func=ast.Name(id="print"), keywords=[]) as printed):
                    require("print" not in self._shadowed)
                    for argument in printed.args if isinstance(printed, ast.Call) else ():
                        self._folded(argument)
                case _:
                    raise NotLiteralError

    def _assign(self, name: str, node: ast.Assign) -> None:
        require(name not in self._named and name not in self._callees)
        value = self._folded(node.value)
        # used more than once, a value that can change may be changed by a call
        require(self._uses[name] <= 1 or isinstance(value, _IMMUTABLE))
        self._named[name] = node
        self._values[name] = node.value

    def _call(self, index: int, node: ast.Assert) -> LiteralCall:
        # a message may be any expression that does not change what `check` is
        odd = (ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Await)
        require(node.msg is None or not any(isinstance(part, odd) for part in ast.walk(node.msg)))
        call, relation, literal = self._compared(node.test)
        require(all(keyword.arg is not None for keyword in call.keywords))
        expected = self._values.get(literal.id, literal) if isinstance(literal, ast.Name) else literal
        return LiteralCall(
            TestCase(
                index,
                input=self._statement_source(node),
                expected=_in_words(relation, "" if expected is None else self._lines.of(expected)),
            ),
            args=tuple(self._folded(ast.copy_location(ast.List(call.args, ast.Load()), call))),
            kwargs={str(keyword.arg): self._folded(keyword.value) for keyword in call.keywords},
            expectation=Expectation(relation, None if literal is None else self._folded(literal)),
        )

    def _compared(self, test: ast.expr) -> tuple[ast.Call, Relation, ast.expr | None]:
        """The call, the relation, and the literal that the result is compared with."""
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=ast.Call() as call) if self._is_own(call):
                return call, Relation.FALSE, None
            case ast.Call() if self._is_own(test):
                return test, Relation.TRUE, None
            case ast.Compare(left=ast.Call() as call, ops=[op], comparators=[literal]) if self._is_own(call):
                self._refuse_unfit(op, literal)
                return call, _RELATIONS[type(op)], literal
            case ast.Compare(left=literal, ops=[ast.Eq() | ast.NotEq() as op], comparators=[ast.Call() as call]):
                require(self._is_own(call))
                return call, _RELATIONS[type(op)], literal
        raise NotLiteralError

    def _refuse_unfit(self, op: ast.cmpop, literal: ast.expr) -> None:
        match op:
            case ast.Eq() | ast.NotEq():
                return
            case ast.In() | ast.NotIn():
                require(isinstance(self._folded(literal), list | tuple))
            case ast.Is() | ast.IsNot():
                require(isinstance(self._folded(literal), bool | None))
            case _:
                raise NotLiteralError

    def _is_own(self, call: ast.Call) -> bool:
        return isinstance(call.func, ast.Name) and call.func.id in self._callees

    def _folded(self, node: ast.expr) -> Any:
        return fold(node, self._shadowed, self._values)

    def _statement_source(self, node: ast.Assert) -> str:
        needed: dict[str, ast.Assign] = {}
        pending: list[ast.stmt] = [node]
        while pending:
            for name in _names([pending.pop()], ast.Load):
                if name in self._named and name not in needed:
                    needed[name] = self._named[name]
                    pending.append(needed[name])
        assignments = sorted(needed.values(), key=lambda assignment: assignment.lineno)
        return "\n".join(map(self._lines.of, (*assignments, node)))


def _check_function(module: ast.Module, entry_point: str | None) -> tuple[ast.FunctionDef, str]:
    """The only `def check(candidate)` and its parameter, if nothing else in the module can fail."""
    checks = [node for node in module.body if isinstance(node, ast.FunctionDef) and node.name == "check"]
    others = [node for node in module.body if node not in checks]
    require(len(checks) == 1 and "check" not in binds(others))
    require(all(_is_harmless(node, entry_point) for node in others))
    match checks[0]:
        case ast.FunctionDef(
            decorator_list=[],
            args=ast.arguments(
                posonlyargs=[], args=[ast.arg(arg=name)], vararg=None, kwonlyargs=[], kwarg=None, defaults=[]
            ),
        ):
            return checks[0], name
    raise NotLiteralError


def _is_harmless(node: ast.stmt, entry_point: str | None) -> bool:
    """Whether it is a definition, an import, assigned metadata, or `check(entry_point)`, which some datasets add."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() | ast.Import() | ast.ImportFrom():
            return True
        case ast.Assign() | ast.AnnAssign() | ast.Pass() | ast.Expr(value=ast.Constant()):
            return True
        case ast.Expr(value=ast.Call(func=ast.Name(id="check"), args=[ast.Name(id=name)], keywords=[])):
            return name == entry_point
    return False


def _names(body: list[ast.stmt], context: type[ast.expr_context]) -> Iterator[str]:
    """Every use of a name, except in the messages of asserts, which are read only after the assert has failed."""
    for node in body:
        for part in walk(node.test if isinstance(node, ast.Assert) else node):
            if isinstance(part, ast.Name) and isinstance(part.ctx, context):
                yield part.id


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
    Relation.EQUAL: "",
    Relation.UNEQUAL: "anything but ",
    Relation.IDENTICAL: "",
    Relation.NOT_IDENTICAL: "anything but ",
    Relation.AMONG: "one of ",
    Relation.NOT_AMONG: "none of ",
}
