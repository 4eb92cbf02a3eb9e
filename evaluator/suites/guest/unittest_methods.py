"""Runs a test's methods one by one; those of `unittest` with unittest itself."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

from evaluator.suites.guest import test_code
from evaluator.suites.guest.asserts import AssertLog


class Ending(NamedTuple):
    """How a method ended."""

    status: str
    error: BaseException | None = None
    reason: str = ""
    """Why it was skipped."""
    last: Any = None
    """The assert that was evaluated last, as in `AssertLog`."""
    setup: bool = False
    """Whether this was in `setUpClass` and the like, not in the method or its `setUp`."""


def _result(log: AssertLog) -> Any:
    """A new result: the events while a method ran, in order, without formatted tracebacks."""
    import unittest  # most tests don't need it

    class Result(unittest.TestResult):
        def __init__(self) -> None:
            super().__init__()
            self.endings: list[Ending] = []

        def _add(self, test: Any, status: str, error: Any = None, reason: str = "") -> None:
            is_method = isinstance(test, unittest.TestCase)
            self.endings.append(Ending(status, error[1] if error else None, reason, log.last, not is_method))

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


class Methods:
    """The methods of a test module, (class, method), in unittest's order; the class of a function is empty."""

    def __init__(self, namespace: dict[str, Any], methods: list[tuple[str, str]], log: AssertLog) -> None:
        self._namespace = namespace
        self._methods = methods
        self._of_unittest: list[int] = []
        self._shared: Ending | None = None
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

    def run(self, index: int) -> Ending:
        """Runs one. Raises what a function, or a method of a class outside unittest, raises."""
        owner, method = self._methods[index]
        if index in self._of_unittest:
            return self._run_case(index, self._namespace[owner](method))
        function = getattr(self._value_of(owner)(), method) if owner else self._value_of(method)
        test_code.finished(function)
        return Ending("passed")

    def _value_of(self, name: str) -> Any:
        try:
            return self._namespace[name]
        except KeyError:
            raise NameError(f"the test defines no {name!r}", name=name) from None

    def _run_case(self, index: int, case: Any) -> Ending:
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
        ending: Ending | None = next(iter(bad or skipped or result.endings), None)
        if ending is None:
            return self._shared or Ending("skipped", reason="unittest did not run it", setup=True)
        if ending.setup:
            self._shared = ending
        return ending
