"""Assert tasks whose check only compares literal calls with literals, read as calls.

`def check(candidate): assert candidate([1, 2], 3) == [4]` needs no separate process: the call's arguments
go to the sandbox, the result comes back as data, and the trusted side compares, by the `python` checker. Every
statement of the check must have that form. Tests are parsed, never run.

A literal check may use its parameter, the entry point, and the builtin constructors of values. A name that the
preamble, the prompt or the test module defines means the dataset's own helper, never the completion's.

Statements that can't fail (`pass`, `assert True`, a docstring, a printed literal) are skipped. Literals are constants,
containers, arithmetic on numbers, `+` of texts and sequences, and the constructors of builtin values (`set()`,
`float('inf')`, `tuple([1, 2])`). They are folded from the syntax tree, nothing is evaluated. Sizes are capped.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from evaluator.checkers import brief, get_checker, message, why_no_data
from evaluator.model import Difference, Opaque, Task, TestCase
from evaluator.suites.reading.reading import SOLUTION
from evaluator.suites.reading.source import IMPORTS, Lines, binds, parsed


class NotLiteralError(ValueError):
    """What is read is not a literal."""


def require(holds: object) -> None:
    """Raises `NotLiteralError` otherwise."""
    if not holds:
        raise NotLiteralError


class Relation(StrEnum):
    """The relation between the result and the literal."""

    EQUAL = "=="
    IDENTICAL = "is"
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


def with_imports_of_test(task: Task) -> str:
    """The preamble, followed by the imports at the top of the test, but not those of the completion itself."""
    module = parsed(task.test) if task.test is not None else None
    lines = Lines(task.test or "")
    imports = [
        lines.of(node)
        for node in (module.body if module else ())
        if isinstance(node, IMPORTS) and not _names_completion(node, task.entry_point)
    ]
    return "\n".join(filter(None, (task.preamble, *imports))) if imports else task.preamble


def _names_completion(node: ast.Import | ast.ImportFrom, entry_point: str | None) -> bool:
    own = {SOLUTION, entry_point}
    return getattr(node, "module", None) in own or not own.isdisjoint(alias.name for alias in node.names)


def expectation_holds(expectation: Expectation, value: object) -> Difference | None:
    """None if a decoded result meets the expectation, else why not.

    A value that is not data is unequal to everything. Whether it is true was asked in the sandbox, as an assert would:
    a completion that may answer what it likes could as well return True.
    """
    expected, relation = expectation.value, expectation.relation
    if relation is Relation.EQUAL:
        return get_checker("python").rules["value"](expected, value)
    if value is expected if relation is Relation.IDENTICAL else _truth_of(value) is (relation is Relation.TRUE):
        return None
    wanted = _in_words(relation, brief(expected))
    why = why_no_data(value)
    return Difference(message(f"expected {wanted}, got {brief(value)}{f': {why}' if why else ''}"), path="")


def _in_words(relation: Relation, literal: str) -> str:
    return f"a {relation} value" if relation in (Relation.TRUE, Relation.FALSE) else literal


def _truth_of(value: object) -> bool | None:
    """Whether a decoded value is true; None if that can't be known."""
    if isinstance(value, Opaque):
        return value.truth
    return None if why_no_data(value) else bool(value)


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
        self._shadowed = of_test.union(self._callees, *(binds(each.body) for each in outside))
        """Names that do not mean the builtin."""
        self._lines = Lines(task.test or "")
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
                case ast.Pass() | ast.Expr(value=ast.Constant()):
                    pass
                case ast.Expr(value=ast.Name(id="print") | ast.Call(func=ast.Name(id="print"), keywords=[]) as printed):
                    require("print" not in self._shadowed)
                    for argument in printed.args if isinstance(printed, ast.Call) else ():
                        self._folded(argument)
                case _:
                    raise NotLiteralError

    def _call(self, index: int, node: ast.Assert) -> LiteralCall:
        # a message may be any expression that does not change what `check` is
        odd = (ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Await)
        require(node.msg is None or not any(isinstance(part, odd) for part in ast.walk(node.msg)))
        call, relation, literal = self._compared(node.test)
        require(all(keyword.arg is not None for keyword in call.keywords))
        return LiteralCall(
            TestCase(
                index,
                input=self._lines.of(node),
                expected=_in_words(relation, "" if literal is None else self._lines.of(literal)),
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
            case ast.Compare(left=ast.Call() as call, ops=[ast.Eq()], comparators=[literal]) if self._is_own(call):
                return call, Relation.EQUAL, literal
            case ast.Compare(left=ast.Call() as call, ops=[ast.Is()], comparators=[ast.Constant() as literal]):
                require(self._is_own(call) and isinstance(literal.value, bool | None))
                return call, Relation.IDENTICAL, literal
            case ast.Compare(left=literal, ops=[ast.Eq()], comparators=[ast.Call() as call]) if self._is_own(call):
                return call, Relation.EQUAL, literal
        raise NotLiteralError

    def _is_own(self, call: ast.Call) -> bool:
        return isinstance(call.func, ast.Name) and call.func.id in self._callees

    def _folded(self, node: ast.expr) -> Any:
        return fold(node, self._shadowed)


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


MAX_INT_BITS = 100_000
MAX_ITEMS = 1_000_000
"""Items of a folded sequence, characters of a folded text."""


_NUMBERS = (bool, int, float, complex)
_SEQUENCES = (str, bytes, list, tuple)
_ITERABLES = (*_SEQUENCES, range, dict, set, frozenset)
_CONSTRUCTORS: dict[str, tuple[Callable[..., Any], tuple[type, ...], int]] = {
    "list": (list, _ITERABLES, 1),
    "tuple": (tuple, _ITERABLES, 1),
    "set": (set, _ITERABLES, 1),
    "frozenset": (frozenset, _ITERABLES, 1),
    "dict": (dict, _ITERABLES, 1),
    "range": (range, (int,), 3),
    "float": (float, (bool, int, float, str), 1),
    "int": (int, (bool, int, float, str), 1),
}
"""By name: the constructor, the types of its arguments, and how many it may have."""
_SIGNS: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}
_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}


def fold(node: ast.expr, shadowed: frozenset[str] = frozenset()) -> Any:
    """The value of a literal expression, a new object on every call. Raises `NotLiteralError`.

    `shadowed`: names of builtins with another meaning there.
    """
    try:
        return _value(node, shadowed)
    except (RecursionError, TypeError, ValueError, ArithmeticError, MemoryError, KeyError):
        raise NotLiteralError from None


def _value(node: ast.expr | None, shadowed: frozenset[str]) -> Any:
    match node:
        case ast.Constant(value=value):
            return value
        case ast.List(elts=items):
            return [_value(item, shadowed) for item in items]
        case ast.Tuple(elts=items):
            return tuple(_value(item, shadowed) for item in items)
        case ast.Set(elts=items):
            return {_value(item, shadowed) for item in items}
        case ast.Dict(keys=keys, values=values):
            return {_value(key, shadowed): _value(value, shadowed) for key, value in zip(keys, values, strict=True)}
        case ast.UnaryOp(op=op, operand=operand):
            return _SIGNS[type(op)](_value(operand, shadowed))
        case ast.BinOp(left=left, op=op, right=right):
            return _binary(op, _value(left, shadowed), _value(right, shadowed))
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name not in shadowed:
            build, kinds, most = _CONSTRUCTORS[name]
            given = [_value(argument, shadowed) for argument in arguments]
            require(len(given) <= most and all(_fits(each, kinds) for each in given))
            return build(*given)
    raise NotLiteralError  # also the key of a dict that is unpacked with **


def _fits(value: Any, kinds: tuple[type, ...]) -> bool:
    """Whether it has one of these types; what is iterated over may not be large."""
    return type(value) in kinds and (kinds is not _ITERABLES or len(value) <= MAX_ITEMS)


def _binary(op: ast.operator, left: Any, right: Any) -> Any:
    if isinstance(left, _NUMBERS) and isinstance(right, _NUMBERS):
        if isinstance(left, int) and isinstance(right, int):
            require(_bits(op, left, right) <= MAX_INT_BITS)
        return _OPERATORS[type(op)](left, right)
    if isinstance(op, ast.Add) and type(left) is type(right) and isinstance(left, _SEQUENCES):
        require(len(left) + len(right) <= MAX_ITEMS)
        return left + right
    raise NotLiteralError


def _bits(op: ast.operator, left: int, right: int) -> int:
    """An upper limit for the bits of the result."""
    if isinstance(op, ast.Pow):
        return left.bit_length() * max(right, 0)
    return left.bit_length() + right.bit_length()
