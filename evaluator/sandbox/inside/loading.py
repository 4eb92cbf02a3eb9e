"""A completion whose function is called, loaded as the module `solution`."""

from __future__ import annotations

import builtins
import fcntl
import os
import sys
from collections.abc import Callable
from types import CodeType, ModuleType
from typing import Any

from evaluator.sandbox.inside import channel, failures, leftovers
from evaluator.sandbox.inside.text_layer import text_layer

STREAMS = (
    text_layer(0, "r", "strict"),
    text_layer(1, "w", "backslashreplace"),
    text_layer(2, "w", "backslashreplace"),
)
"""Made by the zygote: what a process makes itself costs a copy of each page that it writes to."""


def load(
    connection: int,
    code: CodeType,
    preamble: CodeType | None,
    entry_point: str | None,
    between: Callable[[dict[str, Any]], None],
) -> dict[str, Any]:
    """Its namespace. `between` is called with that after the preamble. Sends `L`; or `C`, and ends the process."""
    write, leave = os.write, os._exit
    take_streams()
    module = sys.modules["solution"] = ModuleType("solution")
    namespace = module.__dict__
    namespace.update(__builtins__=builtins, __file__="solution.py")
    sys.modules["__main__"] = ModuleType("__main__")
    leftovers.seed()
    try:
        if preamble is not None:
            exec(preamble, namespace)  # noqa: S102 - this process exists for it
        between(namespace)
        exec(code, namespace)  # noqa: S102
        if entry_point is not None and entry_point not in namespace:
            _take_method(namespace, entry_point)
    except BaseException as error:
        flush(*STREAMS[1:])
        channel.send(connection, b"C", channel.as_json({"failure": failures.report(error)}), write)
        leave(0)
    channel.send(connection, b"L", b"", write)
    return namespace


def take_streams() -> None:
    sys.stdin, sys.stdout, sys.stderr = STREAMS
    for descriptor in (1, 2):  # the parent empties these files between the test cases
        fcntl.fcntl(descriptor, fcntl.F_SETFL, os.O_APPEND)


def _take_method(namespace: dict[str, Any], entry_point: str) -> None:
    """Where the function is a method of `Solution`, it stands for a call of a new one each time."""
    solution = namespace.get("Solution")
    if solution is None or not hasattr(solution, entry_point):
        raise NameError(f"the code defines no {entry_point!r}")

    def method(*arguments: Any, **keywords: Any) -> Any:
        return getattr(solution(), entry_point)(*arguments, **keywords)

    method.__name__ = entry_point
    namespace[entry_point] = method


def flush(*streams: Any) -> None:
    for stream in streams:
        try:
            stream.flush()
        except (OSError, ValueError):  # a full file, or closed by the program
            continue
