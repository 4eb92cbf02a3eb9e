"""The test's own process: runs the dataset's test cases one by one, with the completion in another process."""

from __future__ import annotations

import builtins
import contextlib
import marshal
import os
import sys
from collections.abc import Iterator
from types import CodeType, ModuleType
from typing import Any

from evaluator.sandbox.guest import channel, folders, leftovers
from evaluator.sandbox.guest.loading import STREAMS
from evaluator.suites.guest import asserts, kept_modules
from evaluator.suites.guest.client import Completion
from evaluator.suites.guest.errors import Doubt
from evaluator.suites.guest.runner import Compiled, Runner, compile_test, show

_RECURSION = 20_000
_IN_FUNCTION = 1
"""`inspect.CO_OPTIMIZED`: code of a function."""
_MOST_CODE = 1024 * 1024
_SUPPRESSED = "an assert failed in a function of the test that the completion called, and the completion caught that"


def settle() -> None:
    """Prepares what is the same for every test, in its own process or in the template."""
    sys.stdin, sys.stdout, sys.stderr = STREAMS
    sys.setrecursionlimit(_RECURSION)
    sys.path[:] = [folder for folder in sys.path if folder != folders.home]  # the completion may write modules there
    leftovers.seed()


def serve(connection: int, order: dict[str, Any]) -> None:
    """Answers each `R`, a test case's index, with `D` and the result.

    Before the first answer it sends the test's code (`C`), unless it got that with the order. Before each it may send
    requests to the completion (`Q`), answer its requests (`V`, `X`), or end: `U` if the test can't be run here, `B` if
    the completion's messages can't be read, `Y` if the completion's exception ends the case.
    """
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for descriptor in (1, 2):  # what a test prints is not read
        os.dup2(nowhere, descriptor)
    os.close(nowhere)
    cases = _Cases(connection, order)
    while True:
        try:
            kind, payload = channel.receive_alone(connection)
        except channel.ClosedError:
            os._exit(0)
        if kind == b"G":
            os._exit(0)
        channel.send(connection, b"D", channel.as_json(cases.run(int.from_bytes(payload, "big"))))


class _Cases:
    def __init__(self, connection: int, order: dict[str, Any]) -> None:
        self._connection = connection
        self._order = order
        self._runner: Runner | None = None
        self._completion: Completion | None = None
        self._unloadable: dict[str, Any] | None = None

    def run(self, index: int) -> dict[str, Any]:
        if self._runner is None and self._unloadable is None:
            try:
                self._load()
            except BaseException as error:
                self._unloadable = _unloadable(error, self._order)
        elif self._completion is not None:
            self._completion.begin()
        result: dict[str, Any] = self._unloadable or self._runner.run(index)  # type: ignore[union-attr]
        completion = self._completion
        if completion is None:
            return result
        completion.require_silence()
        if result["status"] == "passed" and completion.failed_assert is not None:
            text = str(completion.failed_assert)[:2000]
            completion.refused = True
            result = {**result, "status": "failed", "message": f"{_SUPPRESSED}: {text}" if text else _SUPPRESSED}
        if result.pop("nothing", False):
            completion.unsure(Doubt.EMPTY_ARRAY)
        completion.ended(result)
        report = {
            **result,
            "final": completion.final,
            "requests": completion.requests,
            "case_requests": completion.case_requests,
            "memory_kib": completion.memory_kib,
            "unsure": completion.unsure_of,
            "subclasses": completion.subclasses,
        }
        if result["failure"] is not None:
            report["report"] = completion.report(result["failure"])
        return report

    def _load(self) -> None:
        order = self._order
        kept_modules.give(order["imports"])
        namespace = _namespace()
        before, compiled = self._code()
        for preparation in before:
            exec(preparation, namespace)  # noqa: S102
        completion = self._completion = Completion(self._connection, order, namespace)
        completion.know_classes()
        entry_point = order["entry_point"]
        names = [name for name in order["names"] if name not in namespace and name != entry_point]
        is_tested = order["form"] != "methods" and entry_point not in namespace
        names += [entry_point] if entry_point else []
        code, data = completion.look_up(names, entry_point if is_tested else None)
        live = _LiveNamespace(namespace, completion, data) if data else None
        namespace = namespace if live is None else live
        namespace.update(code)
        if entry_point in code:
            namespace["candidate"] = code[entry_point]
        runner = Runner(order, namespace, lambda value: _shown(completion, value))
        with contextlib.nullcontext() if live is None else live.bound(_read_by_classes(compiled[1])):
            runner.load(compiled)
        completion.know_classes()
        self._runner = runner

    def _code(self) -> tuple[list[CodeType], Compiled]:
        """The code before the test, and the test: compiled here, unless an earlier process has done it."""
        order = self._order
        if order["code"]:
            return marshal.loads(order["code"])  # type: ignore[no-any-return] # noqa: S302 - from the parent
        before = [_compiled(order, name) for name in ("preamble", "definitions") if order[name]]
        made = before, compile_test(order)
        code = _marshalled(made)
        if len(code) <= _MOST_CODE:  # no message of the completion has been read so far
            channel.send(self._connection, b"C", code)
        return made


def _compiled(order: dict[str, Any], name: str) -> CodeType:
    code: CodeType = compile(order[name], f"{name}.py", "exec", dont_inherit=True)
    return code


def _marshalled(made: Any) -> bytes:
    try:
        return marshal.dumps(made)
    except ValueError:  # nested too deeply
        return b""


def _namespace() -> dict[str, Any]:
    module = sys.modules["check"] = sys.modules["__main__"] = ModuleType("check")
    module.__dict__.update(__builtins__=builtins, __file__="check.py")
    return module.__dict__


class _LiveNamespace(dict[str, Any]):
    """A namespace in which some names refer to the completion's data, which is read anew each time."""

    def __init__(self, namespace: dict[str, Any], completion: Completion, names: list[str]) -> None:
        super().__init__(namespace)
        self._completion = completion
        self._names = frozenset(names)

    def __missing__(self, name: str) -> Any:
        if name in self._names:
            return self._completion.ask("g", name)
        raise KeyError(name)

    @contextlib.contextmanager
    def bound(self, names: set[str]) -> Iterator[None]:
        """Meanwhile these names have the values of now: the body of a class never asks `__missing__`."""
        values = {name: self[name] for name in names & self._names}
        self.update(values)
        yield
        for name, value in values.items():
            if self.get(name) is value:
                del self[name]


def _read_by_classes(code: CodeType) -> set[str]:
    """The names in the bodies of classes."""
    inner = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    names = {name for body in inner if not body.co_flags & _IN_FUNCTION for name in body.co_names}
    return names.union(*map(_read_by_classes, inner))


def _unloadable(error: BaseException, order: dict[str, Any]) -> dict[str, Any]:
    message = str(error)[:2000].encode("utf-8", "backslashreplace").decode()
    place: dict[str, Any] = {}
    with contextlib.suppress(SyntaxError):  # of the test
        place = asserts.Reporter([], order["test"], repr).of(error, message, None, failed=False)
    return {
        "status": "unloadable",
        "type": type(error).__name__,
        "message": message,
        "failure": getattr(error, "_rollscope_failure", None),
    } | place


def _shown(completion: Completion, value: object) -> str:
    completion.quiet = True
    try:
        return show(value)
    finally:
        completion.quiet = False
