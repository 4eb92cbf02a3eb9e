"""Calls a completion's function: loads the code once, then answers each set of arguments."""

from __future__ import annotations

import marshal
import os
import resource
from collections.abc import Callable
from types import CodeType
from typing import Any

from evaluator.sandbox.inside import channel, encode, failures, leftovers, loading


def serve(connection: int, code: CodeType, preamble: CodeType | None, entry_point: str, cap: int) -> None:
    """Loads the completion and answers each `R` frame, and the closing `G` with a `G`.

    Answers: `L` loaded, `C` not loaded; then `V` a value, `X` an exception, `O` a value over `cap` characters. Ends
    the process when the parent closes the connection.
    """
    loaded = loading.load(connection, code, preamble, entry_point)
    answer_calls(connection, loaded.function, cap)


def answer_calls(connection: int, find: Callable[[], Any], cap: int) -> None:
    """Calls the function that `find` returns, looked up each time, with the arguments of each `R` frame."""
    write, read, leave, decoded = os.write, os.read, os._exit, marshal.loads
    streams = loading.STREAMS[1:]
    answered = False
    while True:
        arguments, keywords = decoded(channel.next_order(connection, write, read, leave))
        if answered:
            leftovers.restore_builtins()
        leftovers.seed()
        kind, payload = _answer(find, arguments, keywords, cap)
        answered = True
        loading.flush(*streams)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        channel.send(connection, kind, memory.to_bytes(8, "big") + payload, write)


def _answer(find: Any, arguments: tuple[Any, ...], keywords: dict[str, Any], cap: int) -> tuple[bytes, bytes]:
    try:
        return b"V", encode.encode(find()(*arguments, **keywords), cap)
    except encode.TooLargeError:
        return b"O", b""
    except BaseException as error:
        answer = channel.as_json({"failure": failures.report(error)})
        error.__traceback__ = None
        return b"X", answer
