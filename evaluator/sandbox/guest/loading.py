"""Loads a completion: runs its code with streams of its own, and finds the function to call."""

from __future__ import annotations

import builtins
import fcntl
import io
import os
import sys
from collections.abc import Callable
from types import CodeType, ModuleType
from typing import Any, NamedTuple

from evaluator.sandbox.guest import channel, failures
from evaluator.sandbox.guest.header import Header

_NAMES = ("<stdin>", "<stdout>", "<stderr>")


def text_layer(descriptor: int, mode: str, errors: str) -> io.TextIOWrapper:
    """UTF-8 over descriptor 0, 1 or 2, like the stream that the interpreter creates at start."""
    raw = io.FileIO(descriptor, mode, closefd=False)
    raw.name = _NAMES[descriptor]
    buffer = io.BufferedReader(raw) if mode == "r" else io.BufferedWriter(raw)
    stream = io.TextIOWrapper(buffer, "utf-8", errors, newline="\n", line_buffering=descriptor == 2)
    stream.mode = mode  # type: ignore[misc]
    return stream


_ABSENT = object()

STREAMS = (
    text_layer(0, "r", "strict"),
    text_layer(1, "w", "backslashreplace"),
    text_layer(2, "w", "backslashreplace"),
)
"""Created in the zygote: a forked process has to copy each page that it writes to."""


class Loaded(NamedTuple):
    """A completion's namespace, and a function that looks up the one to call."""

    namespace: dict[str, Any]
    function: Callable[[], Any]

    def by_name(self, entry_point: str | None) -> dict[str, Any]:
        """The namespace for a test that calls the function by its name."""
        if entry_point is not None:
            self.namespace[entry_point] = self.function()
        return self.namespace


def load(
    connection: int,
    code: CodeType,
    preamble: CodeType | Header | None,
    entry_point: str | None,
    *,
    tells: bool = True,
) -> Loaded:
    """Runs the code. Sends `L` if it `tells`; on failure sends `C` and ends the process.

    `preamble`: code, or a header that has been run already.
    """
    write, leave = os.write, os._exit
    take_streams()
    module = sys.modules["solution"] = ModuleType("solution")
    namespace = module.__dict__
    namespace.update(__builtins__=builtins, __file__="solution.py")
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        if isinstance(preamble, Header):
            preamble.bind(namespace)
        elif preamble is not None:
            exec(preamble, namespace)  # noqa: S102 - this process exists for it
        # An import header defines `merge`, `gcd` and the like: none of them is the completion's function.
        of_preamble = namespace.pop(entry_point or "", _ABSENT)
        _define(code, namespace, entry_point)
        function = _function(namespace, entry_point)
        if entry_point is not None and of_preamble is not _ABSENT:
            namespace.setdefault(entry_point, of_preamble)
    except BaseException as error:
        flush(*STREAMS[1:])
        channel.send(connection, b"C", channel.as_json({"failure": failures.report(error)}), write)
        leave(0)
    if tells:
        channel.send(connection, b"L", b"", write)
    return Loaded(namespace, function)


def _define(code: CodeType, namespace: dict[str, Any], entry_point: str | None) -> None:
    """Runs the code. Where its own main part asks for input, which there is none of, the functions before it count."""
    try:
        exec(code, namespace)  # noqa: S102 - this process exists for it
    except EOFError:
        if entry_point is None or not (entry_point in namespace or hasattr(namespace.get("Solution"), entry_point)):
            raise


def take_streams() -> None:
    sys.stdin, sys.stdout, sys.stderr = STREAMS
    for descriptor in (1, 2):  # the parent empties these files between the test cases
        fcntl.fcntl(descriptor, fcntl.F_SETFL, os.O_APPEND)


def _function(namespace: dict[str, Any], entry_point: str | None) -> Callable[[], Any]:
    """Finds the entry point: the module's function of that name, else a method of `Solution`.

    The method comes first if the module has only imported the name: `from heapq import *` imports a `merge`.
    """
    if entry_point is None:
        return lambda: None
    solution: Any = namespace.get("Solution")
    is_method = solution is not None and hasattr(solution, entry_point)
    if entry_point not in namespace and not is_method:
        raise NameError(f"the code defines no {entry_point!r}")
    if not is_method or getattr(namespace.get(entry_point), "__module__", None) == "solution":
        return lambda: namespace[entry_point]

    def method(*arguments: Any, **keywords: Any) -> Any:
        """A new `Solution` for each call."""
        return getattr(solution(), entry_point)(*arguments, **keywords)

    method.__name__ = entry_point
    return lambda: method


def flush(*streams: Any) -> None:
    for stream in streams:
        try:
            stream.flush()
        except (OSError, ValueError):  # a full file, or closed by the program
            continue
