"""Whether a test holds something of its own against the completion, by a rule of its own.

`assert same(f(2), 4)` with a `same` that the test neither defines nor imports is decided by the completion's, and
`assert f(Point(1)) == Point(2)` by its `Point`; two files that it can reach, by what it does to both. As a benchmark
runs them such asserts count; they prove nothing. `candidate([1, 2]) == f([1, 2])` proves little, too.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property

from evaluator.suites.reading.reading import CANDIDATE, Reading
from evaluator.suites.reading.source import targets_of, walk
from evaluator.suites.reading.statements import called_name, judging_in

_OF_ONE = ("assertTrue", "assertFalse", "assertIsNone")
_RULES = ("allclose", "isclose", "array_equal")
_EQUATING = ("assertEqual", "assertAlmostEqual", "assert_allclose", "assert_array_equal", "allclose", "isclose")
_COMPARE_FILES = frozenset(("filecmp.cmp", "filecmp.cmpfiles", "filecmp.dircmp", "os.path.samefile"))
_OF_FILES = frozenset(
    """open read_bytes read_text getsize stat lstat samefile getline getlines listdir iterdir scandir glob iglob rglob
    fileinput""".split()
)
"""Attributes and functions by which a test reads what the completion may have written or linked."""


def why_it_proves_nothing(reading: Reading) -> str | None:
    """In one line, if no assert of the test holds anything against the completion; None if one does."""
    test = _Test(reading)
    judging = [node for node in reading.nodes if isinstance(node, ast.stmt) and (_fails(node) or _judges(node))]
    judging = [node for node in judging if test.judges(node)]
    if any(test.holds(node) for node in judging):
        return None
    if not judging and not any(map(test.is_decided, reading.nodes)):
        return None
    names = sorted(part.id for node in judging for part in walk(node) if isinstance(part, ast.Name))
    deciding = next((name for name in names if name in reading.names), None)
    if deciding is None:
        return "no assert holds a value of the test's own against the completion's"
    return f"the completion decides every assert, by `{deciding}`, which the test neither defines nor imports"


class _Test:
    """A test's names, by what they come from."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._reads = reading.reads

    @cached_property
    def _helpers(self) -> frozenset[str]:
        """The completion's names besides the function that is tested, and what is made from them."""
        return self._reading.flow.reaching(self._reading.names)

    @cached_property
    def _tested(self) -> frozenset[str]:
        """The function that is tested, and what is made from it."""
        return self._reading.flow.reaching(self._reading.completion - self._reading.names)

    @cached_property
    def _not_own(self) -> frozenset[str]:
        """What comes from the completion, or from a file."""
        return self._reading.in_touch | self._reading.flow.reaching(["open", *self._given_by(self._reads_a_file)])

    @cached_property
    def _decided(self) -> frozenset[str]:
        """What a helper of the completion's has made of its values."""
        return self._reading.flow.reaching(self._given_by(self.is_decided))

    def _given_by(self, kind: Callable[[ast.AST], bool]) -> Iterator[str]:
        """The names to which a value with something of this kind in it is assigned."""
        for name, values in self._values.items():
            if any(kind(part) for value in values for part in walk(value)):
                yield name

    @cached_property
    def _values(self) -> dict[str, list[ast.expr]]:
        """What is assigned to each name."""
        found: dict[str, list[ast.expr]] = {}
        for node in self._reading.nodes:
            match node:
                case ast.Assign(targets=targets, value=value):
                    for name in (name for target in targets for name in targets_of(target)):
                        found.setdefault(name, []).append(value)
                case ast.withitem(context_expr=value, optional_vars=ast.Name(id=name)):
                    found.setdefault(name, []).append(value)
        return found

    def judges(self, node: ast.stmt) -> bool:
        """Whether it looks at something of the completion's, or at a file."""
        looked_at = node.test if isinstance(node, ast.If) else node
        return not self._reads(looked_at).isdisjoint(self._not_own) or any(map(self._reads_a_file, walk(looked_at)))

    def is_decided(self, node: ast.AST) -> bool:
        """Whether the completion's own helper decides here over a value of the completion's."""
        match node:
            case ast.Call(func=function, args=arguments, keywords=keywords):
                if called_name(node).lower().startswith("assert"):
                    return False
                given = [*arguments, *(keyword.value for keyword in keywords)]
                if self._is_tested(given) and (self._is_helped([function]) or self._is_helped(given)):
                    return True
                return isinstance(function, ast.Attribute) and self._is_tested([function]) and self._is_helped(given)
            case ast.Subscript(value=of, slice=key):
                return self._is_tested([key]) and self._is_helped([of])
            case ast.Compare(left=left, comparators=others):
                return self._is_helped([left, *others]) and not any(map(self._is_own, (left, *others)))
        return False

    def _is_tested(self, nodes: list[ast.expr]) -> bool:
        return not self._reads.of_all(nodes).isdisjoint(self._tested)

    def _is_helped(self, nodes: Iterable[ast.AST]) -> bool:
        """Whether a helper has a say: not in what the tested function is called with."""
        return any(map(self._helps, nodes))

    def _helps(self, node: ast.AST) -> bool:
        if self._reads(node).isdisjoint(self._helpers):
            return False
        match node:
            case ast.Name() | ast.Attribute(value=ast.Name()):
                return True
            case ast.Call(func=function) if self._is_tested([function]):
                return self._helps(function)
        return self._is_helped(ast.iter_child_nodes(node))

    def holds(self, node: ast.stmt) -> bool:
        """Whether it holds a value of the test's own against the completion's, by a rule of the test's."""
        match node:
            case ast.Assert(test=test) | ast.If(test=test):
                return self._is_held(test)
            case ast.Expr(value=ast.Call() as call):
                return self._is_held(call)
        return True  # an expected exception

    def _is_held(self, test: ast.expr, known: frozenset[str] = frozenset()) -> bool:
        match test:
            case ast.BoolOp(values=parts):
                return any(self._is_held(part, known) for part in parts)
            case ast.UnaryOp(operand=part) | ast.Compare(left=part, comparators=[ast.Constant(value=True | False)]):
                return self._is_held(part, known)
            case ast.Compare(ops=[ast.IsNot()], comparators=[ast.Constant(value=None)]):
                return False  # it is something, whatever
            case ast.Name(id=name) if name in self._values and name not in known:
                return all(self._is_held(value, known | {name}) for value in self._values[name])
        if not self._reads(test).isdisjoint(self._decided) or any(map(self.is_decided, walk(test))):
            return False
        match test:
            case ast.Compare(left=left, comparators=comparators):
                return any(map(self._is_own, (left, *comparators)))
            case ast.Call(func=function, args=arguments):
                name = called_name(test)
                if name == "assertIsNotNone" or self._compares_files(test) or self._is_helped([function]):
                    return False
                if name in _OF_ONE:
                    return not arguments or self._is_held(arguments[0], known)
                compares = name.lower().startswith("assert") or name in _RULES
                return not (compares and len(arguments) > 1) or any(map(self._is_own, arguments[:2]))
        return True

    def _is_own(self, side: ast.expr) -> bool:
        """Whether it is the test's alone: nothing in it comes from the completion, or from a file."""
        return self._reads(side).isdisjoint(self._not_own) and not any(map(self._reads_a_file, walk(side)))

    def _reads_a_file(self, node: ast.AST) -> bool:
        match node:
            case ast.Attribute(attr=name) if name in _OF_FILES:
                return True
            case ast.Call():
                return self._compares_files(node)
            case ast.Name() | ast.Attribute():
                return _OF_FILES.intersection(self._reading.imports.dotted(node).split(".")) != set()
        return False

    def _compares_files(self, call: ast.Call) -> bool:
        return self._reading.imports.dotted(call.func) in _COMPARE_FILES


def _judges(node: ast.stmt) -> bool:
    return [*judging_in([node])] == [node]


def _fails(node: ast.stmt) -> bool:
    """Whether it is `if ...: assert False`, or raises in place of that."""
    match node:
        case ast.If(body=[ast.Assert(test=ast.Constant(value=False | 0)) | ast.Raise()]):
            return True
        case ast.If(body=[ast.Expr(value=ast.Call() as call)]):
            return called_name(call) == "fail"
    return False


def lines_that_compare_with_itself(reading: Reading) -> list[int]:
    """Line numbers in the test, from 1, where both sides make the same call of the completion, by any name."""
    own = reading.completion & {reading.entry_point, CANDIDATE, reading.parameter}
    lines: set[int] = set()
    for node in reading.nodes:
        match node:
            case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
                sides = left, right
            case ast.Call(func=ast.Attribute(attr=name), args=[left, right, *_]) if name in _EQUATING:
                sides = left, right
            case _:
                continue
        called = (part.func for part in walk(sides[0]) if isinstance(part, ast.Call))
        is_own = any(isinstance(function, ast.Name) and function.id in own for function in called)
        if is_own and _form(sides[0], own) == _form(sides[1], own):
            lines.add(node.lineno)
    return sorted(lines)


def _form(node: ast.expr, names: frozenset[str]) -> str:
    """The expression with a single name for the completion's function."""
    text = ast.dump(node)
    for name in names:
        text = text.replace(f"func=Name(id={name!r},", "func=Name(id='',")
    return text
