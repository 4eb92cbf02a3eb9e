"""Runs a check's cases one by one, and says how each ended."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from evaluator.sandbox.inside import (
    channel,
    check_asserts,
    check_calls,
    check_failures,
    check_methods,
    check_pieces,
    failures,
)

_REASON_CAP = 2000
_PASSED: dict[str, Any] = {
    "status": "passed",
    "type": "",
    "message": "",
    "line": 0,
    "failure": None,
    "op": "",
    "actual": None,
    "expected": None,
    "source": "",
    "setup": False,
    "asserts": 0,
}


class Runner:
    """The cases of one check, in the process in which it runs."""

    def __init__(self, order: dict[str, Any], namespace: dict[str, Any], show: Callable[[Any], str]) -> None:
        """`order`: a `Check`'s fields. `namespace`: the test module's globals. `show`: a value as JSON text."""
        self._order = order
        self._read: check_pieces.CheckModule | None = None
        self._namespace = namespace
        self._show = show
        self._counter = check_asserts.Counter()
        self._calls = check_calls.Calls()
        self._pieces: check_pieces.Pieces = []
        self._methods: check_methods.Methods | None = None
        self._teller: check_failures.Teller | None = None
        self._ready = 0
        """So many cases' set-up statements have been executed, or have failed."""
        self._unset: dict[str, dict[str, Any]] = {}
        """Names that statements which failed should have bound, and how those failed."""
        self._running = 0
        """The case whose statements are executed."""

    def load(self, compiled: check_pieces.Compiled | None = None) -> None:
        """Executes the test module, but nothing of its check. Raises what that raises.

        `compiled`: the test, where that has been done before.
        """
        order, namespace = self._order, self._namespace
        if compiled is None:
            compiled = self._module().compiled
        namespace[check_asserts.DONE] = self._counter.count
        namespace[check_calls.CALL] = self._calls.call
        exec(compiled[1], namespace)  # noqa: S102 - this process exists for it
        if order["form"] == "methods":
            self._methods = check_methods.Methods(namespace, [(owner, method) for owner, method in order["methods"]])
        else:
            self._pieces = check_pieces.pieces(compiled, namespace, self._candidate)

    def _module(self) -> check_pieces.CheckModule:
        """The test as it stands, which is asked for where something has failed."""
        if self._read is None:
            self._read = check_pieces.read(self._order)
        return self._read

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
        calls (what was noted of them), report (of an exception that the completion raised in this process).
        """
        before = self._counter.counted()
        self._in_setup = False
        try:
            ended = self._run_method(index) if self._methods is not None else self._run_pieces(index)
        except BaseException as error:
            ended = self._told(error, self._in_setup)
        result = _PASSED | ended
        result["calls"] = self._calls.taken()
        result["asserts"] = self._counter.counted() - before + (result["status"] == "failed")
        return result

    def _run_pieces(self, index: int) -> dict[str, Any]:
        self._in_setup = True
        while self._ready <= index:
            self._running = self._ready
            setup = self._pieces[self._ready][0]
            self._ready += 1
            if setup is not None:
                setup()
        self._in_setup = False
        self._running = index
        judging = self._pieces[index][1]
        if judging is not None:
            judging()
        return {}

    def _run_method(self, index: int) -> dict[str, Any]:
        assert self._methods is not None
        ended = self._methods.run(index)
        if ended.error is not None:
            return self._told(ended.error, ended.setup, ended.status)
        reason = ended.reason[:_REASON_CAP].encode("utf-8", "backslashreplace").decode()
        return {"status": ended.status, "message": reason, "setup": ended.setup}

    def _told(self, error: BaseException, in_setup: bool, status: str = "raised") -> dict[str, Any]:
        try:
            return self._told_of(error, in_setup, status)
        except BaseException:  # an exception can be made to say something else whenever it is asked
            return {"status": "raised", "type": type(error).__name__, "message": "(it can't be shown)"}
        finally:
            self._forget()

    def _told_of(self, error: BaseException, in_setup: bool, status: str) -> dict[str, Any]:
        told = failures.report(error)
        kind, message, *_ = told
        failure = _number_of_failure(error)
        status = _status(error, status) if failure is None else "raised"
        ended = {"status": status, "type": kind, "message": message, "failure": failure, "setup": in_setup}
        if self._teller is None:
            self._teller = check_failures.Teller(self._module().tree, self._order, self._show)
        ended |= self._teller.told(error, message, failed=status == "failed")
        if failure is None and status == "raised" and _raised_by_completion(error):
            ended["report"] = channel.as_json({"failure": told}).decode()
        if self._methods is None:
            unset = self._unset.get(error.name or "") if failure is None and isinstance(error, NameError) else None
            if unset is not None:
                return unset
            part = self._module().parts[self._running]
            names = check_pieces.bound_names(part.setup if in_setup else part.judging, walrus=True)
            self._unset = dict.fromkeys(names, ended) | self._unset
        return ended

    def _forget(self) -> None:
        """The values that an assert of the module's own has left behind."""
        for name in [name for name in self._namespace if type(name) is str and check_asserts.is_kept(name)]:
            del self._namespace[name]


def _number_of_failure(error: BaseException) -> int | None:
    """The number of the completion's own exception that this one stands for."""
    number = getattr(error, "_rollscope_failure", None)
    return number if type(number) is int else None


def _status(error: BaseException, status: str) -> str:
    """What an exception of the check means, where the machinery that ran it did not know."""
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
        last = name if name in failures.SOURCE_NAMES or name == check_pieces.FILE else last
        traceback = traceback.tb_next
    return last in failures.SOURCE_NAMES


_OTHER_STATUSES = (
    ("unittest.case", "SkipTest", "skipped"),
    ("_pytest.outcomes", "Skipped", "skipped"),
    ("_pytest.outcomes", "Failed", "failed"),
)
