"""Does a few times in advance what a forked process will do: answers calls, and makes them as a test suite does.

Python rewrites code while it runs it for the first times: each forked process would copy those pages.
"""

from __future__ import annotations

import marshal
from typing import Any

from evaluator.sandbox.inside import calls, channel, leftovers, loading
from evaluator.sandbox.inside.assertions.client import Completion
from evaluator.sandbox.inside.assertions.runner import Runner
from evaluator.sandbox.inside.assertions.server import Server

_TIMES = 12
_CHECK = """
def check(candidate):
    assert candidate([1, 2], "a") == [[1, 2], "a"]
    assert candidate({"a": 1.5}, (True, None)) == [{"a": 1.5}, (True, None)]
    assert candidate({3}, b"b") == [{3}, b"b"], "no"
    assert candidate([[1], ["b"]], y=-1) == [[[1], ["b"]], -1]
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
    "records": False,
    "output_bytes": 2**20,
}


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


def rehearse() -> None:
    for _ in range(_TIMES):
        _answer()
        _run_suite()


def _f(x: object, y: object = 0) -> list[object]:
    return [x, y]


def _answer() -> None:
    """A call, as a completion's process answers it without a test suite."""
    pipe = _Pipe()
    channel.send(0, b"R", marshal.dumps((([1, "a"], (2.5, None)), {}), 2), pipe.write)
    arguments, keywords = marshal.loads(channel.next_order(0, pipe.write, pipe.read, None))  # noqa: S302 - our own
    leftovers.restore_builtins()
    leftovers.seed()
    kind, payload = calls._answer(lambda: _f, arguments, keywords, 2**20)
    loading.flush()
    channel.send(0, kind, bytes(8) + payload, pipe.write)


def _run_suite() -> None:
    there, back = _Pipe(), _Pipe()
    side = Server(0, {"f": _f}, _ORDER)
    side._write, side._read = back.write, there.read
    completion = Completion(0, _ORDER, {})

    def read(descriptor: int, size: int) -> bytes:
        if not back.waiting:
            side.answer()
        return back.read(descriptor, size)

    completion._write, completion._read = there.write, read
    namespace, _ = completion.look_up(["f"])
    runner = Runner(_ORDER, {**namespace, "candidate": namespace["f"]}, str)
    runner.load()
    for index in range(4):
        completion.begin()
        channel.as_json({**runner.run(index), "report": completion.report(None)})
