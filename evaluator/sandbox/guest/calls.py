"""Calls a completion's function: loads the code once, then answers each set of arguments."""

from __future__ import annotations

import marshal
import os
import resource
from collections.abc import Callable
from types import CodeType
from typing import Any

from evaluator.sandbox.guest import ahead, channel, encode, failures, leftovers, loading
from evaluator.sandbox.guest.header import Header


def serve(connection: int, code: CodeType, preamble: CodeType | Header | None, order: dict[str, Any]) -> None:
    """Loads the completion, answers the order's inputs with a `Z`, each `R` frame, and the closing `G` with a `G`.

    Answers: `L` loaded, unless inputs came with the order, `C` not loaded; then `V` a value, `X` an exception, `O` a
    value over the cap. Ends the process when the parent closes the connection.
    """
    loaded = loading.load(connection, code, preamble, order["entry_point"], tells=order["inputs"] is None)
    seeds = "random" in order["source"] or "random" in order["preamble"]
    restores = order["reports_calls"] or "builtins" in order["source"]
    answer_calls(connection, loaded.function, order, seeds=seeds, restores=restores)


_OUTPUT = loading.STREAMS[1:]


def answer_calls(
    connection: int, find: Callable[[], Any], order: dict[str, Any], *, seeds: bool = True, restores: bool = True
) -> None:
    """Calls the function that `find` returns, looked up each time, with the order's inputs, then with each `R` frame's.

    `seeds`: whether random numbers begin anew with each call; `restores`: whether the builtin functions do, which only
    code that can reach them needs.
    """
    answered = Calls(find, order["output_bytes"], seeds=seeds, restores=restores)
    write, read, leave, decoded, usage = os.write, os.read, os._exit, marshal.loads, resource.getrusage
    if order["inputs"] is not None:
        done = answered.answer_all(order["inputs"], decoded)
        channel.send(connection, b"Z", done.to_bytes(4, "big"), write)
    while True:
        kind, payload = answered.answer(*decoded(channel.next_request(connection, write, read, leave)))
        memory = usage(resource.RUSAGE_SELF).ru_maxrss
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


class Calls:
    """The calls of one function, one after another."""

    def __init__(self, find: Callable[[], Any], cap: int, *, seeds: bool, restores: bool) -> None:
        self._find = find
        self._cap = cap
        self._seeds = seeds
        self._restores = restores
        self._answered = False
        self._answers = ahead.Answers()

    def answer(self, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[bytes, bytes]:
        """Kind and payload of the answer."""
        if self._answered and self._restores:
            leftovers.restore_builtins()
        if self._answered and self._seeds:
            leftovers.seed()
        kind, payload = _answer(self._find, arguments, keywords, self._cap)
        self._answered = True
        loading.flush(*_OUTPUT)
        return kind, payload

    def answer_all(self, calls: list[bytes], decoded: Callable[[bytes], Any]) -> int:
        """Writes the answers to calls that came together to their file; returns how many."""
        answers = self._answers
        answers.begin()
        for done, call in enumerate(calls, 1):
            arguments, keywords = decoded(call)
            kind, payload = self.answer(arguments, keywords)
            if not answers.add(kind, payload):
                return done
        return len(calls)
