"""Compiles a test's source: its module, and its cases, which can be run one by one.

`def check(candidate)` becomes a generator that stops after each case, so that all of them share its variables. A test
in the module's own statements becomes pieces of that module.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Iterator
from types import CodeType, CoroutineType
from typing import Any, Protocol

from evaluator.suites.guest.asserts import FILE, Rewriter

Compiled = tuple[str, CodeType, Any, list[tuple[Any, ...]]]
"""A test that is ready to run and can be marshalled: its form, the module's code, details for that form, and the fields
of its asserts' sites."""

_WHOLE = (0, -1)
_JUDGES, _FAILED = "@judges", "@failed"


class Cases(Protocol):
    """The functions that the generator of `check` calls."""

    def judges(self) -> bool:
        """Whether to judge the case that it has reached."""

    def failed(self) -> None:
        """The current exception ended the case."""


def compiled(order: dict[str, Any]) -> Compiled:
    """The test of an order. Raises what `compile` raises."""
    touched = (*order["touched"], *order["names"], order["entry_point"], "candidate")
    rewriter = Rewriter(order["test"], frozenset(touched))
    with warnings.catch_warnings():  # a filter could turn the dataset's warnings into errors
        warnings.simplefilter("ignore")
        tree: Any = compile(order["test"], FILE, "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
        if order["form"] == "module":
            made = _of_module(tree, order["spans"], rewriter)
        elif order["form"] == "statements":
            made = _of_function(tree, order["spans"], rewriter)
        else:
            rewriter.rewrite(tree.body)
            made = "methods", _code(tree), None
    return *made, [tuple(site) for site in rewriter.sites]


def cases_of(
    compiled: Compiled, namespace: dict[str, Any], cases: Cases, find: Callable[[], object]
) -> Iterator[object]:
    """Stops after each case. The module's code must have run in these globals; `find` finds the candidate."""
    kind, _, detail, _ = compiled
    if kind == "module":
        return _of_pieces(detail, namespace, cases)
    namespace[_JUDGES], namespace[_FAILED] = cases.judges, cases.failed
    check = namespace["check"]
    arguments = (find(),) if detail else ()
    return check(*arguments) if kind == "cases" else _of_whole(check, arguments)


def _of_whole(check: Callable[..., Any], arguments: tuple[object, ...]) -> Iterator[None]:
    finished(lambda: check(*arguments))
    yield


def finished(function: Callable[[], Any]) -> object:
    """What the function returns, awaited if it is a coroutine."""
    result = function()
    if type(result) is CoroutineType:
        import asyncio  # takes longer to load than most tests take to run

        return asyncio.run(result)
    return result


def _code(tree: ast.Module) -> CodeType:
    # optimize=0: keeps asserts whatever options this interpreter was started with
    code: CodeType = compile(tree, FILE, "exec", dont_inherit=True, optimize=0)
    return code


def _of_function(tree: Any, spans: Any, rewriter: Rewriter) -> tuple[str, CodeType, Any]:
    """`check`, and the module around it. The detail: whether it takes an argument."""
    check = next(node for node in reversed(tree.body) if getattr(node, "name", "") == "check")
    is_whole = tuple(spans[0][:2]) == _WHOLE
    if not is_whole:
        body, check.body = check.body, [ast.Pass()]
    rewriter.rewrite(tree.body)
    if not is_whole:
        check.body = _as_generator(body, spans, rewriter)
    takes_one = bool(check.args.posonlyargs or check.args.args or check.args.vararg)
    return "whole" if is_whole else "cases", _code(tree), takes_one


def _of_module(tree: ast.Module, spans: Any, rewriter: Rewriter) -> tuple[str, CodeType, Any]:
    """The module's own statements: for each case the code that prepares it and the code that judges."""
    future = [node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module == "__future__"]
    pieces = []
    for first, last, judges in spans:
        whole = (first, last) == _WHOLE
        end = 0 if whole else last if judges else last + 1
        bodies = tree.body[first:end], tree.body if whole else tree.body[end : last + 1]
        for body in bodies:
            rewriter.rewrite(body)
        pieces.append([_code(ast.Module([*future, *body], [])) if body else None for body in bodies])
    return "module", _code(ast.Module([], [])), pieces


def _of_pieces(pieces: list[list[CodeType | None]], namespace: dict[str, Any], cases: Cases) -> Iterator[None]:
    for setup, judging in pieces:
        if setup is not None:
            exec(setup, namespace)  # noqa: S102 - this process exists for it
        if judging is not None and cases.judges():
            try:
                exec(judging, namespace)  # noqa: S102
            except BaseException:
                cases.failed()
        yield


def _as_generator(body: list[ast.stmt], spans: Any, rewriter: Rewriter) -> list[ast.stmt]:
    made: list[ast.stmt] = []
    for first, last, judges in spans:
        end = last if judges else last + 1
        setup, judging = body[first:end], body[end : last + 1]
        for part in (setup, judging):
            rewriter.rewrite(part)
        made += setup
        if judging:
            failed = ast.ExceptHandler(type=None, name=None, body=[ast.Expr(_call(_FAILED))])
            attempt = ast.Try(body=judging, handlers=[failed], orelse=[], finalbody=[])
            made.append(ast.If(test=_call(_JUDGES), body=[attempt], orelse=[]))
        made.append(ast.Expr(ast.Yield(value=None)))
    return [ast.fix_missing_locations(node) for node in made]


def _call(name: str) -> ast.Call:
    return ast.Call(func=ast.Name(id=name, ctx=ast.Load()), args=[], keywords=[])
