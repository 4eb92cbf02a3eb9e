"""What a process is that has to do with a test suite: the suite's, the completion's next to it, or one for both.

An interpreter for completions without test suites has none of these modules: it is smaller, and so is each of its
processes.
"""

from __future__ import annotations

import functools
import marshal
import os
import resource
import shutil
import sys
from collections.abc import Callable
from types import CodeType
from typing import Any

from evaluator.sandbox.guest import channel, forking, leftovers, loading
from evaluator.suites.guest import kept_modules, server, suite_main
from evaluator.suites.guest.client import Completion
from evaluator.suites.guest.runner import Compiled, Runner, compile_test, show


def prepare() -> None:
    """Called once, in the zygote, after `rehearse`."""
    kept_modules.prepare()


def serve(
    connection: int,
    order: dict[str, Any],
    code: CodeType | None,
    preamble: CodeType | None,
    arrange: Callable[[list[int]], None],
) -> None:
    """Does what the order says until the parent closes the connection; never returns.

    `arrange`: to be called in a fork, with its descriptors.
    """
    role = order["role"]
    if role == "suites":

        def run_suite(descriptors: list[int]) -> None:
            arrange(descriptors)
            suite_main.serve(connection, channel.receive(connection)[1])

        suite_main.settle()
        forking.serve_template(connection, run_suite)
    elif code is None:
        suite_main.settle()
        suite_main.serve(connection, order)
    elif role == "server":
        kept_modules.give(order["imports"])
        server.serve(connection, code, preamble, order)
    else:
        _serve_both(connection, code, preamble, order)


def _serve_both(connection: int, code: CodeType, preamble: CodeType | None, order: dict[str, Any]) -> None:
    """The test in the completion's own process, the last resort: the completion can have changed whatever it uses.

    Loads the completion; then answers each `R`, an index and the suite, with `D`, and the closing `G` with a `G`. What
    is cheap to restore is restored first: the builtin functions, and unittest.
    """
    write, read, leave, decoded, usage = os.write, os.read, os._exit, marshal.loads, resource.getrusage
    lacking = _Lacking(processes=order["processes"] > 0, loopback=order["loopback"]) if order["audits"] else None
    entry_point = order["entry_point"]
    namespace = loading.load(connection, code, preamble, entry_point).by_name(entry_point)
    runner: Runner | None = None
    while True:
        index, suite, compiled = decoded(channel.next_request(connection, write, read, leave))
        leftovers.restore_builtins()
        if runner is None:
            for name in [name for name in sys.modules if name.partition(".")[0] == "unittest"]:
                del sys.modules[name]
            if order["entry_point"] is not None:
                namespace.setdefault("candidate", namespace[order["entry_point"]])
            runner = Runner(suite, namespace, show)
            try:
                runner.load(decoded(compiled)[1] if compiled else None)
            except BaseException as error:
                channel.send(connection, b"D", channel.as_json(_unloadable(error)), write)
                leave(0)
        result = runner.run(index)
        result["memory_kib"] = usage(resource.RUSAGE_SELF).ru_maxrss
        if lacking is not None:
            result["lacking"] = lacking.needs
        channel.send(connection, b"D", channel.as_json(result), write)


def _unloadable(error: BaseException) -> dict[str, Any]:
    return {"status": "unloadable", "type": type(error).__name__, "message": str(error)[:2000]}


_MOST = 10
_OF_HOSTS = frozenset(f"socket.{name}" for name in ("connect", "getaddrinfo", "gethostbyname", "gethostbyaddr", "bind"))
_HERE = ("localhost", "127.0.0.1", "::1", "0.0.0.0", "::", "", "sandbox")  # noqa: S104 - nothing is bound


class _Lacking:
    """Notes what a task's reference needs from the machine and can't get in the sandbox: programs, other hosts.

    It uses Python's audit events, so it is only for trusted code in a separate process.
    """

    def __init__(self, *, processes: bool, loopback: bool) -> None:
        """`processes`, `loopback`: what the task may use."""
        self._processes = processes
        self._loopback = loopback
        self.needs: list[str] = []
        sys.addaudithook(self._note)

    def _note(self, event: str, arguments: tuple[Any, ...]) -> None:
        need = ""
        if event in ("subprocess.Popen", "os.exec", "os.posix_spawn"):
            need = self._of_program(os.fsdecode(arguments[0]))
        elif event == "os.system":
            words = os.fsdecode(arguments[0]).split()
            need = self._of_program("/bin/sh") or (self._of_program(words[0]) if words else "")
        elif event in ("os.fork", "os.forkpty") and not self._processes:
            need = "starts processes"
        elif event in _OF_HOSTS:
            address = arguments[1] if event in ("socket.connect", "socket.bind") else arguments[0]
            need = self._of_host(address[0] if type(address) is tuple else address)
        if need and need not in self.needs and len(self.needs) < _MOST:
            self.needs.append(need)

    def _of_program(self, name: str) -> str:
        return "" if self._processes and shutil.which(name) else f"starts `{name[:80]}`"

    def _of_host(self, host: Any) -> str:
        text = host.decode("utf-8", "replace") if type(host) is bytes else str(host or "")
        return "" if self._loopback and text in _HERE else f"connects to `{text[:80]}`"


# Rehearsal


class _Pipe:
    """A pipe in memory; a side that finds nothing to read lets the other side write."""

    def __init__(self) -> None:
        self.waiting = bytearray()

    def write(self, _: int, data: Any) -> int:
        self.waiting += data
        return len(data)

    def read(self, _: int, size: int) -> bytes:
        taken = bytes(self.waiting[:size])
        del self.waiting[:size]
        return taken


_CHECK = """
def check(candidate):
    assert candidate([1, 2], "a") == [[1, 2], "a"]
    assert candidate({"a": 1.5}, (True, None)) == [{"a": 1.5}, (True, None)]
    assert candidate({3}, b"b") == [{3}, b"b"], "no"
    assert candidate([[1], ["b"]], y=-1) == [[[1], ["b"]], -1]
"""
_METHODS = """
import unittest
class Test(unittest.TestCase):
    def setUp(self):
        self.one = f(1)
    def test_one(self):
        self.one.add([2, "a"])
        self.assertEqual(self.one.kept, [1, [2, "a"]])
    def test_two(self):
        self.assertTrue(self.one.has(1))
        with self.assertRaises(ValueError):
            self.one.add(None)
"""
_ORDER: dict[str, Any] = {
    "test": _CHECK,
    "form": "statements",
    "spans": [(place, place, True) for place in range(4)],
    "methods": [],
    "entry_point": "f",
    "names": [],
    "classes": [],
    "imports": [],
    "mentioned": [],
    "uses": [],
    "touched": [],
}
_ORDERS: tuple[tuple[dict[str, Any], int], ...] = (
    (_ORDER, 4),
    (_ORDER | {"test": _METHODS, "form": "methods", "methods": [("Test", "test_one"), ("Test", "test_two")]}, 2),
)
"""Each with the number of its test cases."""


def _f(x: object, y: object = 0) -> list[object]:
    return [x, y]


class _Kept:
    def __init__(self, first: object) -> None:
        self.kept = [first]

    def add(self, item: object) -> None:
        if item is None:
            raise ValueError
        self.kept.append(item)

    def has(self, item: object) -> bool:
        return item in self.kept


def connected(names: dict[str, Any], order: dict[str, Any]) -> Completion:
    """A completion with these names, as its test sees it; both are in this process."""
    there, back = _Pipe(), _Pipe()
    side = server.Server(0, names, order)
    side._write, side._read = back.write, there.read
    completion = Completion(0, order, {})

    def read(descriptor: int, size: int) -> bytes:
        if not back.waiting:
            side.answer()
        return back.read(descriptor, size)

    completion._write, completion._read = there.write, read
    return completion


@functools.cache
def _compiled() -> list[Compiled]:
    """Once: nearly every process gets its test compiled."""
    return [compile_test(order) for order, _ in _ORDERS]


def rehearse() -> None:
    """Does in advance what two processes do with suites of a few assertions; see `sandbox.guest.rehearsal`."""
    for (order, cases), compiled, function in zip(_ORDERS, _compiled(), (_f, _Kept), strict=True):
        completion = connected({"f": function}, order)
        namespace, _ = completion.look_up(["f"])
        runner = Runner(order, {**namespace, "candidate": namespace["f"], "__name__": "check"}, str)
        runner.load(compiled)
        for index in range(cases):
            completion.begin()
            channel.as_json({**runner.run(index), "report": completion.report(None)})
