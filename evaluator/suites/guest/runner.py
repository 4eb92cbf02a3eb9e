"""Compiles a test, runs its cases one by one, and reports how each ended.

`def check(candidate)` becomes a generator that stops after each case, so that all of them share its variables. A test
in the module's own statements becomes pieces of that module. Methods are run by unittest itself.
"""

from __future__ import annotations

import ast
import sys
import warnings
from collections.abc import Callable, Iterator
from types import CodeType, CoroutineType
from typing import Any, NamedTuple

from evaluator.sandbox.guest import channel, encode, failures
from evaluator.suites.guest import asserts

Compiled = tuple[str, CodeType, Any, list[tuple[Any, ...]]]
"""A test that is ready to run and can be marshalled: its form, the module's code, details for that form, and the fields
of its asserts' sites."""

_WHOLE = (0, -1)
_JUDGES, _FAILED = "@judges", "@failed"


def compile_test(order: dict[str, Any]) -> Compiled:
    """The test of an order. Raises what `compile` raises."""
    touched = (*order["touched"], *order["names"], order["entry_point"], "candidate")
    rewriter = asserts.Rewriter(order["test"], frozenset(touched))
    with warnings.catch_warnings():  # a filter could turn the dataset's warnings into errors
        warnings.simplefilter("ignore")
        tree: Any = compile(order["test"], asserts.FILE, "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
        if order["form"] == "module":
            made = _of_module(tree, order["spans"], rewriter)
        elif order["form"] == "statements":
            made = _of_function(tree, order["spans"], rewriter)
        else:
            rewriter.rewrite(tree.body)
            made = "methods", _code(tree), None
    return *made, [tuple(site) for site in rewriter.sites]


def _cases_of(
    compiled: Compiled, namespace: dict[str, Any], cases: Runner, find: Callable[[], object]
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
    _finished(lambda: check(*arguments))
    yield


def _finished(function: Callable[[], Any]) -> object:
    """What the function returns, awaited if it is a coroutine."""
    result = function()
    if type(result) is CoroutineType:
        import asyncio  # takes longer to load than most tests take to run

        return asyncio.run(result)
    return result


def _code(tree: ast.Module) -> CodeType:
    # optimize=0: keeps asserts whatever options this interpreter was started with
    code: CodeType = compile(tree, asserts.FILE, "exec", dont_inherit=True, optimize=0)
    return code


def _of_function(tree: Any, spans: Any, rewriter: asserts.Rewriter) -> tuple[str, CodeType, Any]:
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


def _of_module(tree: ast.Module, spans: Any, rewriter: asserts.Rewriter) -> tuple[str, CodeType, Any]:
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


def _of_pieces(pieces: list[list[CodeType | None]], namespace: dict[str, Any], cases: Runner) -> Iterator[None]:
    for setup, judging in pieces:
        if setup is not None:
            exec(setup, namespace)  # noqa: S102 - this process exists for it
        if judging is not None and cases.judges():
            try:
                exec(judging, namespace)  # noqa: S102
            except BaseException:
                cases.failed()
        yield


def _as_generator(body: list[ast.stmt], spans: Any, rewriter: asserts.Rewriter) -> list[ast.stmt]:
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


# Running

_REASON_CAP = 2000
_SHOWN = 64 * 1024
_OTHER_STATUSES = (
    ("unittest.case", "SkipTest", "skipped"),
    ("_pytest.outcomes", "Skipped", "skipped"),
    ("_pytest.outcomes", "Failed", "failed"),
)


class Runner:
    """The cases of one test, in the process in which it runs."""

    def __init__(self, order: dict[str, Any], namespace: dict[str, Any], show: Callable[[Any], str]) -> None:
        """`order`: a `SuiteCode`'s fields. `namespace`: the test module's globals. `show`: a value as JSON text."""
        self._order = order
        self._namespace = namespace
        self._show = show
        self._log = asserts.AssertLog()
        self._cases: Iterator[object] = iter(())
        self._methods: _Methods | None = None
        self._report: asserts.Reporter | None = None
        self._sites: list[asserts.Site] = []
        self._ready = 0
        """How many cases' set-up statements have been executed."""
        self._current = 0
        self._error: BaseException | None = None
        self._last: tuple[BaseException | None, dict[str, Any]] = (None, {})
        """The last exception that was described, and its description."""
        self._broken: dict[str, Any] | None = None
        """The result of a failed set-up: no later case can run."""

    def load(self, compiled: Compiled | None = None) -> None:
        """Executes the test module, but none of its cases. Raises what that raises.

        `compiled`: the compiled test, if there is one.
        """
        order, namespace = self._order, self._namespace
        compiled = compiled or compile_test(order)
        self._sites = list(map(asserts.Site._make, compiled[3]))
        namespace.update(self._log.names())
        if "numpy" in order["uses"]:
            self._log.watch_arrays()
        exec(compiled[1], namespace)  # noqa: S102 - this process exists for it
        if order["form"] == "methods":
            self._methods = _Methods(namespace, [tuple(one) for one in order["methods"]], self._log)
        else:
            self._cases = _cases_of(compiled, namespace, self, self._candidate)

    def _candidate(self) -> Any:
        """The argument of `check`: the value of the entry point's name in the test."""
        for name in (self._order["entry_point"], "candidate"):
            if name in self._namespace:
                return self._namespace[name]
        raise NameError("there is nothing to call `check` with")

    def run(self, index: int) -> dict[str, Any]:
        """Runs one case, after the set-up of those before it if that has not been executed. Never raises.

        Returns status (passed, failed, raised, skipped), type and message of the exception, line (of the test, from 1;
        0: none), failure (the number of the completion's exception that ended it), op, actual, expected (texts of
        `show`), source (of the failed expression), setup (whether a set-up statement failed), asserts (how many were
        executed), nothing (whether an empty array was compared with a non-empty one), report (of an exception that the
        completion raised in this process).
        """
        before, self._log.last = self._log.count, None
        try:
            ended = self._run_case(index) if self._methods is None else self._run_method(index, self._methods)
        except BaseException as error:
            ended = self._described(error, in_setup=self._methods is None)
        result = {"status": "passed", "message": "", "failure": None, "type": ""} | ended
        if result.get("setup") and self._methods is None:
            self._broken = ended
        result["nothing"] = self._log.compared_nothing
        result["asserts"] = self._log.count - before + (result["status"] == "failed")
        return result

    def judges(self) -> bool:
        """Whether the case that `check` has reached is the one to run."""
        return self._ready == self._current

    def failed(self) -> None:
        self._error = sys.exc_info()[1]

    def _run_case(self, index: int) -> dict[str, Any]:
        if self._broken is not None:
            return self._broken
        self._current, self._error = index, None
        while self._ready <= index:
            next(self._cases)
            self._ready += 1
        error, self._error = self._error, None
        return {} if error is None else self._described(error, in_setup=False)

    def _run_method(self, index: int, methods: _Methods) -> dict[str, Any]:
        ended = methods.run(index)
        if ended.error is not None:
            self._log.last = ended.last
            return self._described(ended.error, in_setup=ended.setup, status=ended.status)
        reason = ended.reason[:_REASON_CAP].encode("utf-8", "backslashreplace").decode()
        return {"status": ended.status, "message": reason, "setup": ended.setup}

    def _described(self, error: BaseException, *, in_setup: bool, status: str = "raised") -> dict[str, Any]:
        if error is self._last[0]:  # a class whose set-up failed ends all its methods
            return self._last[1]
        try:
            self._last = error, self._description(error, status) | {"setup": in_setup}
            return self._last[1]
        except BaseException:  # an exception's own methods may raise
            return {"status": "raised", "type": type(error).__name__, "message": "(its message can't be shown)"}

    def _description(self, error: BaseException, status: str) -> dict[str, Any]:
        reported = failures.report(error)
        kind, message, *_ = reported
        failure = getattr(error, "_rollscope_failure", None)
        failure = failure if type(failure) is int else None
        status = _status(error, status) if failure is None else "raised"
        ended: dict[str, Any] = {"status": status, "type": kind, "message": message, "failure": failure}
        if self._report is None:
            self._report = asserts.Reporter(self._sites, self._order["test"], self._show)
        ended |= self._report.of(error, message, self._log.last, failed=status == "failed")
        if failure is None and status == "raised" and _raised_by_completion(error):
            ended["report"] = channel.as_json({"failure": reported}).decode()
        return ended


def show(value: object) -> str:
    """The value as JSON text, for `Runner`."""
    try:
        try:
            return encode.encode(value, _SHOWN).decode("ascii")
        except encode.TooLargeError:
            return encode.encode(repr(value)[: _SHOWN // 8], _SHOWN).decode("ascii")
    except Exception:
        return encode.encode(f"a value of class {type(value).__name__}", _SHOWN).decode("ascii")


def _status(error: BaseException, status: str) -> str:
    """The status for an exception of the test; `status` if none of the known kinds applies."""
    if issubclass(type(error), AssertionError):
        return "raised" if _raised_by_completion(error) else "failed"
    for module, name, meaning in _OTHER_STATUSES:
        kind = getattr(sys.modules.get(module), name, None)
        if isinstance(kind, type) and issubclass(type(error), kind):
            return meaning
    return status


def _raised_by_completion(error: BaseException) -> bool:
    """Whether it was raised in this process by the completion's code, or in a library function that this called."""
    last, traceback = "", error.__traceback__
    while traceback is not None:
        name = traceback.tb_frame.f_code.co_filename
        last = name if name in failures.SOURCE_NAMES or name == asserts.FILE else last
        traceback = traceback.tb_next
    return last in failures.SOURCE_NAMES


# unittest


class _Ending(NamedTuple):
    """How a method ended."""

    status: str
    error: BaseException | None = None
    reason: str = ""
    """Why it was skipped."""
    last: Any = None
    """The assert that was evaluated last, as in `AssertLog`."""
    setup: bool = False
    """Whether this was in `setUpClass` and the like, not in the method or its `setUp`."""


def _result(log: asserts.AssertLog) -> Any:
    """A new result: the events while a method ran, in order, without formatted tracebacks."""
    import unittest  # most tests don't need it

    class Result(unittest.TestResult):
        def __init__(self) -> None:
            super().__init__()
            self.endings: list[_Ending] = []

        def _add(self, test: Any, status: str, error: Any = None, reason: str = "") -> None:
            is_method = isinstance(test, unittest.TestCase)
            self.endings.append(_Ending(status, error[1] if error else None, reason, log.last, not is_method))

        def addSuccess(self, test: Any) -> None:  # noqa: N802
            self._add(test, "passed")

        def addError(self, test: Any, err: Any) -> None:  # noqa: N802
            self._add(test, "raised", err)

        def addFailure(self, test: Any, err: Any) -> None:  # noqa: N802
            self._add(test, "failed", err)

        def addSkip(self, test: Any, reason: str) -> None:  # noqa: N802
            self._add(test, "skipped", reason=str(reason))

        def addExpectedFailure(self, test: Any, err: Any) -> None:  # noqa: N802, ARG002
            self._add(test, "passed")

        def addUnexpectedSuccess(self, test: Any) -> None:  # noqa: N802
            self._add(test, "failed", reason="a test that was expected to fail has passed")

        def addSubTest(self, test: Any, subtest: Any, err: Any) -> None:  # noqa: N802, ARG002
            if err is not None:
                failed = issubclass(err[0], test.failureException)
                self._add(test, "failed" if failed else "raised", err)

    return Result()


class _Methods:
    """The methods of a test module, (class, method), in unittest's order; the class of a function is empty."""

    def __init__(self, namespace: dict[str, Any], methods: list[tuple[str, str]], log: asserts.AssertLog) -> None:
        self._namespace = namespace
        self._methods = methods
        self._of_unittest: list[int] = []
        self._shared: _Ending | None = None
        """The ending of all methods of a class, or of the module, whose set-up failed."""
        if any(owner for owner, _ in methods):
            self._result = _result(log)
            self._copy_fixtures()
            self._of_unittest = [index for index, (owner, _) in enumerate(methods) if self._is_case(owner)]

    def _copy_fixtures(self) -> None:
        """Copies module fixtures to the module where unittest looks for them, whose globals may differ."""
        module = sys.modules.get(self._namespace.get("__name__", ""))
        for name in ("setUpModule", "tearDownModule"):
            if name in self._namespace:
                setattr(module, name, self._namespace[name])

    def _is_case(self, owner: str) -> bool:
        import unittest

        kind = self._namespace.get(owner)
        return isinstance(kind, type) and issubclass(kind, unittest.TestCase)

    def run(self, index: int) -> _Ending:
        """Runs one. Raises what a function, or a method of a class outside unittest, raises."""
        owner, method = self._methods[index]
        if index in self._of_unittest:
            return self._run_case(index, self._namespace[owner](method))
        function = getattr(self._value_of(owner)(), method) if owner else self._value_of(method)
        _finished(function)
        return _Ending("passed")

    def _value_of(self, name: str) -> Any:
        try:
            return self._namespace[name]
        except KeyError:
            raise NameError(f"the test defines no {name!r}", name=name) from None

    def _run_case(self, index: int, case: Any) -> _Ending:
        """As a suite of one. Class and module fixtures are set up and torn down as in one suite of all."""
        import unittest

        result = self._result
        result.endings.clear()
        ends_all = index == self._of_unittest[-1]
        result._testRunEntered = not ends_all  # False tears down all remaining fixtures
        unittest.TestSuite([case]).run(result)
        if ends_all:
            result._previousTestClass = None
        bad = [ending for ending in result.endings if ending.status in ("failed", "raised")]
        skipped = [ending for ending in result.endings if ending.status == "skipped"]
        ending: _Ending | None = next(iter(bad or skipped or result.endings), None)
        if ending is None:
            return self._shared or _Ending("skipped", reason="unittest did not run it", setup=True)
        if ending.setup:
            self._shared = ending
        return ending
