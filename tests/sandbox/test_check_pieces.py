"""A check in pieces is the function that it was: its variables, its closures, its place in the module."""

from __future__ import annotations

import argparse
import ast
import inspect
import textwrap
import typing
import warnings
from collections.abc import Iterator
from types import CodeType, ModuleType
from typing import Any

import pytest

from evaluator.sandbox.inside import check_pieces
from tests.sandbox.check_orders import loaded, order, results, spans_of, statuses

MODULES = (argparse, ast, inspect, textwrap, typing)
BINDINGS = """
def f(a, *b, c=1, **d):
    x = y = 1; x += 1; z: int = 2; w: int; print(w)
    (p, [q, *r]), s.attr, u[0] = v
    for i, j in v: k = 1
    else: l = 2
    with o() as m, n() as (aa, bb): pass
    try: import os.path, sys as system
    except ValueError as error: from math import pi as circle, e
    finally: del gone
    def inner(t=(dd := 1)) -> 2: inside = 1
    class Inner(base := object): own = 1
    match v:
        case [1, ff, *gg]: pass
        case {1: hh, **ii}: pass
        case Inner(jj, attr=kk) | [jj, kk]: pass
        case str() as ll: pass
    [mm for mm in v if (nn := mm)]
    {oo: 1 for oo in (pp for pp in v)}
    lambda qq=(rr := 1): (ss := qq)
    while (tt := v): break
    print((uu := 1))
"""
TYPE_ALIASES = "\ndef f():\n    type Alias = int\n    x = 1\n"


def functions(tree: ast.AST, code: CodeType) -> Iterator[tuple[Any, CodeType]]:
    """Each function's node with its compiled code, where only one stands on the line."""
    codes: dict[tuple[str, int], list[CodeType]] = {}
    pending = [code]
    while pending:
        one = pending.pop()
        codes.setdefault((one.co_name, one.co_firstlineno), []).append(one)
        pending.extend(constant for constant in one.co_consts if isinstance(constant, CodeType))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            first = node.decorator_list[0].lineno if node.decorator_list else node.lineno
            found = codes.get((node.name, first), [])
            if len(found) == 1:
                yield node, found[0]


def agrees(node: ast.FunctionDef, code: CodeType) -> bool:
    """Whether the names are those of the function's own variables, as they were compiled."""
    names = check_pieces.bound_names(node.body, walrus=True) - declared(node)
    arguments = inspect.getargs(code)
    expected = {*code.co_varnames, *code.co_cellvars}
    expected -= {*arguments.args, arguments.varargs, arguments.varkw}
    names -= {*arguments.args, arguments.varargs, arguments.varkw}
    # since 3.12 a comprehension's targets may stand among its function's variables
    comprehensions = [one for one in ast.walk(node) if isinstance(one, ast.comprehension)]
    targets = {name.id for one in comprehensions for name in ast.walk(one.target) if isinstance(name, ast.Name)}
    return names <= expected and expected - names <= targets


def declared(node: ast.FunctionDef) -> set[str]:
    """Names that the function declares to be another's."""
    found: set[str] = set()
    pending: list[ast.AST] = list(node.body)
    while pending:
        one = pending.pop()
        if isinstance(one, ast.Global | ast.Nonlocal):
            found.update(one.names)
        elif not isinstance(one, ast.FunctionDef | ast.ClassDef):
            pending.extend(ast.iter_child_nodes(one))
    return found


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_the_names_that_a_check_binds_are_those_that_the_compiler_finds(module: ModuleType) -> None:
    source = inspect.getsource(module)
    pairs = list(functions(ast.parse(source), compile(source, "<module>", "exec", dont_inherit=True)))
    assert len(pairs) > 10
    for node, code in pairs:
        assert agrees(node, code), node.name


def test_each_way_to_bind_a_name_is_known() -> None:
    [(node, code)] = [
        pair for pair in functions(ast.parse(BINDINGS), compile(BINDINGS, "<names>", "exec")) if pair[0].name == "f"
    ]
    assert agrees(node, code)
    with_colons = {"dd", "base", "nn", "rr", "tt", "uu"}
    without = check_pieces.bound_names(node.body, walrus=False)
    assert without == check_pieces.bound_names(node.body, walrus=True) - with_colons


@pytest.mark.skipif(not hasattr(ast, "TypeAlias"), reason="type statements came with Python 3.12")
def test_a_type_statement_binds_its_name() -> None:
    [function] = ast.parse(TYPE_ALIASES).body
    assert check_pieces.bound_names(function.body, walrus=False) == {"Alias", "x"}  # type: ignore[attr-defined]


CHECKS_TEXT = """
## closure
def check(candidate):
    n = 1
    def f():
        return n
    n = 2
    assert f() == 2
## nonlocal
def check(candidate):
    n = 1
    def f():
        nonlocal n
        n += 1
    f()
    assert n == 2
    n = 5
    f()
    assert n == 6
## comprehension
def check(candidate):
    n = 3
    assert [x + n for x in range(2)] == [3, 4]
    assert n == 3
## lambda
def check(candidate):
    n = 3
    f = lambda: n
    n = 4
    assert f() == 4
## the module's name stays
n = 1
def read():
    return n
def check(candidate):
    n = 2
    assert (n, read()) == (2, 1)
## candidate given a new value
def check(candidate):
    candidate = len
    assert candidate([1]) == 1
## loop variable
def check(candidate):
    for x in range(3):
        pass
    assert x == 2
## with
import contextlib
def check(candidate):
    with contextlib.nullcontext(3) as x:
        pass
    assert x == 3
## caught
def check(candidate):
    try:
        1 / 0
    except ZeroDivisionError as e:
        x = e
    assert str(x)
    try:
        e
    except NameError:
        pass
    else:
        assert 0
## walrus
def check(candidate):
    assert (y := 3) == 3
    assert [z := 4, y] == [4, 3]
    assert [(u := v) for v in (1, 2)]
    assert (y, z, u) == (3, 4, 2)
## annotated
def check(candidate):
    x: int = 3
    y: undefined
    y = 4
    assert (x, y) == (3, 4)
## import
def check(candidate):
    import os.path
    from math import pi as p
    assert os.path.sep and p > 3
## deleted
def check(candidate):
    x = 1
    assert x
    del x
    try:
        x
    except NameError:
        return_ = 1
    assert return_
## locals
def check(candidate):
    x = 1
    assert locals()['x'] == 1 and 'candidate' in locals()
    assert eval('x') == 1
## class
def check(candidate):
    class A:
        n = 3
        def m(self):
            return A.n
    assert A().m() == 3
## default argument
def check(candidate, limit=3):
    assert limit == 3
## no argument
def check():
    x = 1
    assert x == 1
## match
def check(candidate):
    match (1, [2, 3]):
        case (a, [b, *c]):
            pass
    assert (a, b, c) == (1, 2, [3])
## generator
def check(candidate):
    n = 2
    def g():
        for i in range(n):
            assert i < n
            yield i
    assert list(g()) == [0, 1]
## recursion
def check(candidate):
    def f(n):
        assert n >= 0
        return f(n - 1) if n else 0
    assert f(500) == 0
## two on a line
def check(candidate): x = 1; assert x; assert x == 1
## helper of the module
def holds(x):
    assert x
def check(candidate):
    holds(1)
    assert 1
## several definitions
def check(candidate):
    assert 0
def check(candidate):
    assert 1
## the module's own statements
x = 1
assert x == 1
x += 1
assert x == 2
def f():
    return x
assert f() == 2
## the module imports all
from math import *
assert pi > 3
x: int = 4
assert x and __annotations__
## future
from __future__ import annotations
x = 1
assert x
def f(a: nowhere) -> no: pass
assert f
## called below
def check(candidate):
    assert 1
check(candidate)
check(undefined)
## main
def check(candidate):
    assert 1
if __name__ == '__main__':
    undefined()
"""
CHECKS = dict(part.split("\n", 1) for part in CHECKS_TEXT.split("## ")[1:])
# In these a statement that judges does what one after it needs.
TOGETHER = ("nonlocal", "loop variable", "with", "caught", "walrus", "deleted", "match")
ALONE = {name: test for name, test in CHECKS.items() if name not in TOGETHER}


@pytest.mark.parametrize("test", ALONE.values(), ids=ALONE)
def test_a_process_of_its_own_for_each_case_is_the_same(test: str) -> None:
    for index in range(len(spans_of(test))):
        assert loaded(test, print).run(index)["status"] == "passed"


def test_warnings_of_a_test_are_never_errors() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        [result] = results("def check(candidate):\n assert '\\d' == '\\\\d'", print, spans=[(0, 0, True)])
    assert result["status"] == "passed"


@pytest.mark.parametrize("body", ["return\n assert 0", "for x in [1]:\n  if x:\n   return\n assert 0"])
def test_a_check_that_returns_is_run_as_a_whole(body: str) -> None:
    assert statuses(f"def check(candidate):\n {body}", print, spans=[(0, -1, True)]) == ["passed"]


def test_what_a_decorator_gets_is_the_whole_check() -> None:
    twice = "called = []\ndef twice(f):\n return lambda c: (f(c), f(c))\n"
    test = f"{twice}@twice\ndef check(c):\n called.append(1)\n assert c(called) < 2"
    [result] = results(test, len, spans=[(0, -1, True)])
    assert (result["status"], result["actual"], result["expected"]) == ("failed", "2", "2")


def test_an_async_check_is_awaited() -> None:
    test = "import asyncio\nasync def check(c):\n await asyncio.sleep(0)\n assert c([1]) == 2"
    [result] = results(test, len, spans=[(0, -1, True)])
    assert (result["status"], result["actual"], result["line"]) == ("failed", "1", 4)


@pytest.mark.parametrize(
    ("test", "error"),
    [("def check(candidate):\n assert (", SyntaxError), ("raise KeyError(1)\ndef check(c):\n assert 1", KeyError)],
)
def test_a_module_that_does_not_load_raises(test: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        results(test, print, spans=[(0, 0, True)])


def test_a_check_needs_something_to_be_called_with() -> None:
    with pytest.raises(NameError):
        results("def check(candidate):\n assert 1")


def test_the_order_is_left_as_it_was() -> None:
    made = order("def check(candidate):\n assert 1")
    check_pieces.read(made)
    assert made == order("def check(candidate):\n assert 1")
