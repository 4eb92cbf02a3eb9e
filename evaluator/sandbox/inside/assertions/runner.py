"""Runs a test's cases one by one, and says how each ended."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

from evaluator.sandbox.inside import channel, failures
from evaluator.sandbox.inside.assertions import (
    assert_sites,
    call_log,
    empty_arrays,
    failure_report,
    test_code,
    unittest_methods,
)

_REASON_CAP = 2000
_OTHER_STATUSES = (
    ("unittest.case", "SkipTest", "skipped"),
    ("_pytest.outcomes", "Skipped", "skipped"),
    ("_pytest.outcomes", "Failed", "failed"),
)


class Runner:
    """The cases of one test, in the process in which it runs."""

    def __init__(self, order: dict[str, Any], namespace: dict[str, Any], show: Callable[[Any], str]) -> None:
        """`order`: a `Check`'s fields. `namespace`: the test module's globals. `show`: a value as JSON text."""
        self._order = order
        self._namespace = namespace
        self._show = show
        self._kept = assert_sites.Kept()
        self._calls = call_log.Calls()
        self._cases: Iterator[object] = iter(())
        self._methods: unittest_methods.Methods | None = None
        self._report: failure_report.Reporter | None = None
        self._sites: list[assert_sites.Site] = []
        self._ready = 0
        """So many cases' set-up statements have been executed."""
        self._wanted = 0
        self._error: BaseException | None = None
        self._last: tuple[BaseException | None, dict[str, Any]] = (None, {})
        """The last exception that was described, and its description."""
        self._broken: dict[str, Any] | None = None
        """How a case's set-up has failed: no later one can run."""

    def load(self, compiled: test_code.Compiled | None = None) -> None:
        """Executes the test module, but nothing of its check. Raises what that raises.

        `compiled`: the test, where that has been done before.
        """
        order, namespace = self._order, self._namespace
        compiled = compiled or test_code.compiled(order)
        self._sites = list(map(assert_sites.Site._make, compiled[3]))
        namespace.update(self._kept.names())
        if "numpy" in order["uses"]:
            empty_arrays.watch(self._compared_nothing)
        namespace[call_log.CALL] = self._calls.call
        exec(compiled[1], namespace)  # noqa: S102 - this process exists for it
        if order["form"] == "methods":
            self._methods = unittest_methods.Methods(namespace, [tuple(one) for one in order["methods"]])
        else:
            self._cases = test_code.cases_of(compiled, namespace, self, self._candidate)

    def _compared_nothing(self) -> None:
        self._kept.compared_nothing = True

    def _candidate(self) -> Any:
        """What the check is called with: what the entry point's name means in the test."""
        for name in (self._order["entry_point"], "candidate"):
            if name in self._namespace:
                return self._namespace[name]
        raise NameError("there is nothing that the check could be called with")

    def run(self, index: int) -> dict[str, Any]:
        """Runs one case: after the set-up of those before it, where that has not been executed. Never raises.

        Gives status (passed, failed, raised, skipped), type and message of the exception, line (of the test, from 1;
        0: none), failure (the number of the completion's exception that ended it), op, actual, expected (texts of
        `show`), source (of what failed), setup (whether a set-up statement failed), asserts (how many were executed),
        calls (what was noted of them), nothing (whether an empty array was compared with one that is not), report (of
        an exception that the completion raised in this process).
        """
        before, self._kept.last = self._kept.count, None
        try:
            ended = self._run_case(index) if self._methods is None else self._run_method(index, self._methods)
        except BaseException as error:
            ended = self._described(error, in_setup=self._methods is None)
        result = {"status": "passed", "message": "", "failure": None, "type": ""} | ended
        if result.get("setup") and self._methods is None:
            self._broken = ended
        result["nothing"] = self._kept.compared_nothing
        result["calls"] = self._calls.taken()
        result["asserts"] = self._kept.count - before + (result["status"] == "failed")
        return result

    def judges(self) -> bool:
        """Whether the case at which the check has come is the one that is to be run."""
        return self._ready == self._wanted

    def failed(self) -> None:
        self._error = sys.exc_info()[1]

    def _run_case(self, index: int) -> dict[str, Any]:
        if self._broken is not None:
            return self._broken
        self._wanted, self._error = index, None
        while self._ready <= index:
            next(self._cases)
            self._ready += 1
        error, self._error = self._error, None
        return {} if error is None else self._described(error, in_setup=False)

    def _run_method(self, index: int, methods: unittest_methods.Methods) -> dict[str, Any]:
        ended = methods.run(index)
        if ended.error is not None:
            return self._described(ended.error, in_setup=ended.setup, status=ended.status)
        reason = ended.reason[:_REASON_CAP].encode("utf-8", "backslashreplace").decode()
        return {"status": ended.status, "message": reason, "setup": ended.setup}

    def _described(self, error: BaseException, *, in_setup: bool, status: str = "raised") -> dict[str, Any]:
        if error is self._last[0]:  # a class that could not be set up ends all its methods
            return self._last[1]
        try:
            self._last = error, self._description(error, status) | {"setup": in_setup}
            return self._last[1]
        except BaseException:  # an exception can be made to say something else whenever it is asked
            return {"status": "raised", "type": type(error).__name__, "message": "(it can't be shown)"}

    def _description(self, error: BaseException, status: str) -> dict[str, Any]:
        reported = failures.report(error)
        kind, message, *_ = reported
        failure = getattr(error, "_rollscope_failure", None)
        failure = failure if type(failure) is int else None
        status = _status(error, status) if failure is None else "raised"
        ended: dict[str, Any] = {"status": status, "type": kind, "message": message, "failure": failure}
        if self._report is None:
            self._report = failure_report.Reporter(self._sites, self._order, self._show)
        ended |= self._report.of(error, message, self._kept.last, failed=status == "failed")
        if failure is None and status == "raised" and _raised_by_completion(error):
            ended["report"] = channel.as_json({"failure": reported}).decode()
        return ended


def _status(error: BaseException, status: str) -> str:
    """What an exception of the test means, where the machinery that ran it did not know."""
    if issubclass(type(error), AssertionError):
        return "raised" if _raised_by_completion(error) else "failed"
    for module, name, meaning in _OTHER_STATUSES:
        kind = getattr(sys.modules.get(module), name, None)
        if isinstance(kind, type) and issubclass(type(error), kind):
            return meaning
    return status


def _raised_by_completion(error: BaseException) -> bool:
    """Whether it came, in this process, out of the completion's code, or of what that had called of a library's."""
    last, traceback = "", error.__traceback__
    while traceback is not None:
        name = traceback.tb_frame.f_code.co_filename
        last = name if name in failures.SOURCE_NAMES or name == test_code.FILE else last
        traceback = traceback.tb_next
    return last in failures.SOURCE_NAMES
