"""Does in advance what two processes do with a test suite; see `rehearsal`."""

from __future__ import annotations

from typing import Any

from evaluator.sandbox.guest import channel
from evaluator.sandbox.guest.rehearsal import Pipe
from evaluator.suites.guest.client import Completion
from evaluator.suites.guest.runner import Runner
from evaluator.suites.guest.server import Server

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
}


def _f(x: object, y: object = 0) -> list[object]:
    return [x, y]


def connected(names: dict[str, Any], order: dict[str, Any]) -> Completion:
    """A completion with these names, as its test sees it; both are in this process."""
    there, back = Pipe(), Pipe()
    side = Server(0, names, order)
    side._write, side._read = back.write, there.read
    completion = Completion(0, order, {})

    def read(descriptor: int, size: int) -> bytes:
        if not back.waiting:
            side.answer()
        return back.read(descriptor, size)

    completion._write, completion._read = there.write, read
    return completion


def run_suite() -> None:
    """A suite of a few assertions, which calls a function."""
    completion = connected({"f": _f}, _ORDER)
    namespace = completion.look_up(["f"])
    runner = Runner(_ORDER, {**namespace, "candidate": namespace["f"]}, str)
    runner.load()
    for index in range(4):
        completion.begin()
        channel.as_json({**runner.run(index), "report": completion.report(None)})
