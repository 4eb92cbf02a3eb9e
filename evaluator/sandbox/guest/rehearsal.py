"""Does a few times in advance what a forked process will do: runs a program, and answers calls.

Python rewrites code while it runs it for the first times: each forked process would copy those pages.
"""

from __future__ import annotations

import atexit
import marshal
import os
import sys
from collections.abc import Callable
from typing import Any

from evaluator.sandbox.guest import calls, channel, header, leftovers, loading, programs, reusable

_TIMES = 12
_PROGRAM = """
import sys, math
from collections import deque
class C:
    def __init__(self, word): self.word = word
def main():
    words = deque(sys.stdin.readline().split())
    return [C(word) for word in words if math.sqrt(len(word)) > 0]
if __name__ == "__main__":
    main()
"""
_HEADER: list[header.Import | str] = [("*", "math", "*"), ("sys", "sys", ""), "MOD = 10**9 + 7"]


class Pipe:
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


def rehearse(*others: Callable[[], None]) -> None:
    """Without effect on what is kept: the answers go to a file that is closed again. `others`: to be done too."""
    nowhere = os.open("/dev/null", os.O_RDWR)
    os.dup2(nowhere, channel.ANSWERS_DESCRIPTOR)
    os.close(nowhere)
    for _ in range(_TIMES):
        _run_program()
        _answer()
        for other in others:
            other()
    os.close(channel.ANSWERS_DESCRIPTOR)


_FUNCTION = "def f(x, y=0):\n    return [x, y]\n"


def _run_program() -> None:
    """A program that reads stdin, as one that shares its process; it must be reusable."""
    code = compile(_PROGRAM, "main.py", "exec", dont_inherit=True)
    program = reusable.examine(code, _HEADER)
    if isinstance(program, str) or not program.header.run():
        raise RuntimeError
    snapshot = leftovers.Snapshot(program)
    outcome = programs._run(code, None, program, [], atexit._ncallbacks())
    programs._answer(outcome, 0, snapshot.restore())


def _answer() -> None:
    """Calls, as a completion's process answers them without a test suite."""
    pipe = Pipe()
    before = sys.stdin, sys.stdout, sys.stderr, sys.modules["__main__"]
    loaded = loading.load(0, compile(_FUNCTION, "rehearsal.py", "exec"), None, "f", tells=False)
    sys.stdin, sys.stdout, sys.stderr, sys.modules["__main__"] = before
    del sys.modules["solution"]
    channel.send(0, b"A", marshal.dumps([marshal.dumps((([1, "a"], (2.5, None)), {}), 2)] * 2, 2), pipe.write)
    given = channel.next_request(0, pipe.write, pipe.read, None)[1]
    answered = calls.Calls(loaded.function, 2**20, seeds=True, restores=True)
    answered.answer_all(marshal.loads(given), marshal.loads)  # noqa: S302 - our own
    channel.send(0, b"Z", bytes(4), pipe.write)
