"""The test cases of a module with classes or functions: each method that unittest would run, or each function."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from evaluator.model import TestCase
from evaluator.suites.reading import Refusal
from evaluator.suites.reading.reading import Reading
from evaluator.suites.reading.source import DEFINITIONS, IMPORTS, binds, is_among, is_start, walk
from evaluator.suites.reading.statements import Expectations, Judging, SuiteCases, judging_in, named_once

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_PREFIX = "test"
_STARTS = ("unittest.main", "unittest.TextTestRunner", "unittest.TextTestResult", "pytest.main", "doctest.testmod")
_MULTIPLYING = ("ddt", "expand", "idata", "parameterized_class", "parametrize")
"""Decorators that turn a method into several, whose names are known only when they run."""


def suites_of(reading: Reading) -> dict[str, ast.ClassDef]:
    """The module's test case classes by name."""
    classes = {node.name: node for node in reading.module.body if isinstance(node, ast.ClassDef)}
    suites: dict[str, ast.ClassDef] = {}
    for name, node in classes.items():  # a base comes before its subclasses
        if any(_is_suite(reading, base, suites) for base in node.bases):
            suites[name] = node
    return suites


def functions_of(reading: Reading) -> list[_Function]:
    """The module's functions that pytest would run."""
    functions = {node.name: node for node in reading.module.body if isinstance(node, _Function)}
    return [node for name, node in functions.items() if name.startswith(_PREFIX)]


def methods_of(reading: Reading, suites: dict[str, ast.ClassDef]) -> SuiteCases:
    """The test cases of suites. Raises `UngradableError`."""
    starts = _starts_of_suites(reading)
    _refuse_judging_outside(reading, starts)
    classes = {node.name: node for node in reading.module.body if isinstance(node, ast.ClassDef)}
    methods = [
        (suite, name, method)
        for suite in sorted(suites)
        for name, method in sorted(_test_methods(suites[suite], classes).items())
    ]
    if not methods:
        raise Refusal.NO_METHODS.error()
    cases = [_case(reading, index, f"{suite}.{name}\n", method) for index, (suite, name, method) in enumerate(methods)]
    return _suite_cases(reading, cases, [(suite, name) for suite, name, _ in methods], starts)


def methods_of_functions(reading: Reading, functions: Sequence[_Function]) -> SuiteCases:
    """The test cases of test functions. Raises `UngradableError`."""
    starts = _starts_of_suites(reading)
    _refuse_judging_outside(reading, starts)
    for node in functions:
        arguments = node.args
        required = [*arguments.posonlyargs, *arguments.args][: -len(arguments.defaults) or None]
        if required:
            raise Refusal.PARAMETER.error(node.name, required[0].arg, line=node.lineno)
    cases = [_case(reading, index, "", node) for index, node in enumerate(functions)]
    return _suite_cases(reading, cases, [("", node.name) for node in functions], starts)


def _suite_cases(
    reading: Reading, cases: Sequence[TestCase], methods: Sequence[tuple[str, str]], starts: list[ast.stmt]
) -> SuiteCases:
    read = {node.id for node in reading.nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    if read.isdisjoint(reading.completion):
        raise Refusal.NEVER_CALLS.error()
    return SuiteCases("methods", tuple(cases), methods=tuple(methods), removed=starts)


def _starts_of_suites(reading: Reading) -> list[ast.stmt]:
    """The module's own statements that run its suites, as `unittest.main()` does."""
    top = [node for node in reading.module.body if not is_start(node)]
    direct = [node for node in top if not isinstance(node, IMPORTS) and _starts(reading, node)]
    statements = [node for node in top if not isinstance(node, (*DEFINITIONS, *IMPORTS))]
    starters = reading.flow.reaching(name for node in direct for name in binds(node))
    return [node for node in statements if node in direct or not starters.isdisjoint(reading.reads(node))]


def _starts(reading: Reading, node: ast.stmt) -> bool:
    dotted = (reading.imports.dotted(part) for part in walk(node) if isinstance(part, ast.Name | ast.Attribute))
    return any(is_among(name, _STARTS) for name in dotted)


def _is_suite(reading: Reading, base: ast.expr, known: dict[str, ast.ClassDef]) -> bool:
    if isinstance(base, ast.Name) and base.id in known:
        return True
    name = reading.imports.dotted(base) or ast.unparse(base)
    return name.rpartition(".")[2] in ("TestCase", "IsolatedAsyncioTestCase")


def _test_methods(suite: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> dict[str, _Function]:
    """The methods that unittest would find on a class, its own before those of its bases."""
    methods: dict[str, _Function] = {}
    hidden: frozenset[str] = frozenset()
    for owner in _lineage(suite, classes, set()):
        methods |= {name: node for name, node in _tests_in(owner).items() if name not in hidden}
        hidden |= binds(owner.body)
    for node in (suite, *methods.values()):
        for decorator in node.decorator_list:
            name = ast.unparse(decorator).partition("(")[0]
            if name.rpartition(".")[2] in _MULTIPLYING:
                raise Refusal.DECORATOR.error(name, line=decorator.lineno)
    return methods


def _tests_in(owner: ast.ClassDef) -> dict[str, _Function]:
    own = {node.name: node for node in owner.body if isinstance(node, _Function)}
    return {name: node for name, node in own.items() if name.startswith(_PREFIX)}


def _lineage(node: ast.ClassDef, classes: dict[str, ast.ClassDef], seen: set[str]) -> Iterator[ast.ClassDef]:
    if node.name in seen:
        return
    seen.add(node.name)
    yield node
    for base in node.bases:
        if isinstance(base, ast.Name) and base.id in classes:
            yield from _lineage(classes[base.id], classes, seen)


def _refuse_judging_outside(reading: Reading, starts: list[ast.stmt]) -> None:
    """Refuses statements outside the tests that may decide the grade."""
    for node in reading.module.body:
        if isinstance(node, ast.FunctionDef) and node.name == "load_tests":
            raise Refusal.LOAD_TESTS.error(line=node.lineno)
        if isinstance(node, ast.ClassDef) and node.name.startswith("Test") and not node.bases and _tests_in(node):
            raise Refusal.NO_TEST_CASE.error(node.name, line=node.lineno)
    Judging(reading).refuse_outside((node for node in reading.module.body if node not in starts), Refusal.OUTSIDE_TESTS)


def _case(reading: Reading, index: int, title: str, method: _Function) -> TestCase:
    return TestCase(index, input=title + reading.lines.at_margin(method), expected=_expected(reading, method))


def _expected(reading: Reading, method: _Function) -> str:
    """What a method expects, if it has one assert."""
    body = method.body
    judging = list(judging_in(body))
    if len(judging) != 1 or judging[0] not in body:
        return ""
    named = named_once(body, walk(body))
    in_touch = reading.in_touch
    return Expectations(reading.lines, lambda node: not in_touch.isdisjoint(reading.reads(node)), named).of(judging[0])
