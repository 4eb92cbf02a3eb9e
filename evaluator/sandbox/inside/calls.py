"""A completion whose function is called: loaded once, then one answer for each set of arguments."""

from __future__ import annotations

import builtins
import fcntl
import os
import resource
import sys
from types import CodeType, ModuleType
from typing import Any

from evaluator.sandbox.inside import channel, encode, failures, leftovers
from evaluator.sandbox.inside.text_layer import text_layer

STREAMS = (
    text_layer(0, "r", "strict"),
    text_layer(1, "w", "backslashreplace"),
    text_layer(2, "w", "backslashreplace"),
)
"""Made by the zygote: what a process makes itself costs a copy of each page that it writes to."""


def serve(connection: int, code: CodeType, preamble: CodeType | None, entry_point: str, cap: int) -> None:
    """Loads the completion and answers each `R` frame, and `G`, the farewell, with a `G`.

    Answers: `L` loaded, `C` it could not be loaded; then `V` a value, `X` an exception, `O` a value over `cap`
    characters. Ends the process when the parent closes the connection.
    """
    write, read, leave = os.write, os.read, os._exit
    sys.stdin, sys.stdout, sys.stderr = STREAMS
    streams = sys.stdout, sys.stderr
    for descriptor in (1, 2):  # the parent empties these files between the test cases
        fcntl.fcntl(descriptor, fcntl.F_SETFL, os.O_APPEND)
    module = sys.modules["solution"] = ModuleType("solution")
    namespace = module.__dict__
    namespace.update(__builtins__=builtins, __file__="solution.py")
    sys.modules["__main__"] = ModuleType("__main__")
    leftovers.seed()
    try:
        if preamble is not None:
            exec(preamble, namespace)  # noqa: S102 - this process exists for it
        exec(code, namespace)  # noqa: S102
        find = _finder(namespace, entry_point)
    except BaseException as error:
        flush(*streams)
        channel.send(connection, b"C", channel.as_json({"failure": failures.report(error)}), write)
        leave(0)
    channel.send(connection, b"L", b"", write)
    answered = False
    while True:
        try:
            kind, call = channel.receive(connection, read)
        except channel.ClosedError:
            leave(0)
        if kind == b"G":
            channel.send(connection, b"G", b"", write)
            leave(0)
        arguments, keywords = call
        if answered:
            leftovers.restore_builtins()
        leftovers.seed()
        kind, payload = _answer(find, arguments, keywords, cap)
        answered = True
        flush(*streams)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        channel.send(connection, kind, memory.to_bytes(8, "big") + payload, write)


def _finder(namespace: dict[str, Any], entry_point: str) -> Any:
    """What to call for the function: itself, or the method of a new `Solution` each time."""
    if entry_point in namespace:
        return lambda: namespace[entry_point]
    solution = namespace.get("Solution")
    if solution is not None and hasattr(solution, entry_point):
        return lambda: getattr(solution(), entry_point)
    raise NameError(f"the code defines no {entry_point!r}")


def _answer(find: Any, arguments: tuple[Any, ...], keywords: dict[str, Any], cap: int) -> tuple[bytes, bytes]:
    try:
        return b"V", encode.encode(find()(*arguments, **keywords), cap)
    except encode.TooLargeError:
        return b"O", b""
    except BaseException as error:
        answer = channel.as_json({"failure": failures.report(error)})
        error.__traceback__ = None
        return b"X", answer


def flush(*streams: Any) -> None:
    for stream in streams:
        try:
            stream.flush()
        except (OSError, ValueError):  # a full file, or closed by the program
            continue
