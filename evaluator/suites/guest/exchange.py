"""One end of the connection between a completion's process and its test's: it sends requests and answers them.

The answer to a request `Q` is a value `V` or an exception `X`; before that the other side may send its own requests.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from typing import Any, NoReturn

from evaluator.suites.guest.errors import BadMessageError, NotDataError, TooLargeError
from evaluator.suites.guest.named_values import Numbers, build_named
from evaluator.suites.guest.object_table import Table
from evaluator.suites.guest.serialization import Message

MOST_CHARACTERS = 64 << 20
"""Of a message. What the test gives the completion and gets from it is data, not output, which has its own limit."""


class Turn:
    """A lock; while it is held the handlers of signals wait, which might ask in the middle of another request."""

    _SIGNALS = signal.SIGALRM, signal.SIGVTALRM, signal.SIGPROF, signal.SIGINT, signal.SIGUSR1, signal.SIGUSR2

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._depth = 0

    def acquire(self) -> None:
        self._lock.acquire()
        self._depth += 1
        if self._depth == 1:
            _set_mask(signal.SIG_BLOCK, self._SIGNALS)

    def release(self) -> None:
        self._depth -= 1
        last = self._depth == 0
        self._lock.release()
        if last:
            _set_mask(signal.SIG_UNBLOCK, self._SIGNALS)

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(self, *raised: object) -> None:
        self.release()


_set_mask = signal.pthread_sigmask


class Exchange:
    """Requests of one side, and its answers to those of the other. Each side is a subclass."""

    def __init__(self) -> None:
        self._write, self._read = os.write, os.read
        self.table = Table()
        self.depth = 0
        self.turn: Turn | threading.RLock = threading.RLock()
        """Held from a request to its answer, and while waiting for one: a completion's threads ask, too."""
        self.announced: set[int] = set()
        self.classes: dict[str, type] = {}
        self._own = Numbers()
        """This side's objects that the other side knows by number."""
        self._theirs: dict[int, Any] = {}
        """Proxies of the other side's objects."""

    def request(self, *request: Any) -> Any:
        """Sends a request; returns the answer, or raises the exception in it."""
        with self.turn:
            self._send(b"Q", self._message().write(request, self.outgoing()))
            self.depth += 1
            while True:
                kind, payload = self._receive()
                if kind != b"Q":
                    break
                self.respond(payload)
            self.depth -= 1
            (value,), extras = self._message().read(payload)
            if extras is not None:
                self.incoming(extras)
            if kind == b"X":
                self.raised(value)
            return value

    def respond(self, payload: bytes, *, holds_turn: bool = False) -> None:
        """Performs a request of the other side, and sends the result."""
        self.depth += 1
        request, extras = self._message().read(payload)
        if extras is not None:
            self.incoming(extras)
        if holds_turn:  # while it performs the request, other threads may ask
            self.turn.release()
        kind = b"V"
        try:
            value = self.perform(request)
        except BadMessageError:  # an unreadable request is not a result
            raise
        except BaseException as error:
            kind, value = b"X", error
            self.failed(error)
        self.depth -= 1
        self.turn.acquire()
        try:
            self._send(kind, self._written(value))
        finally:
            if not holds_turn:
                self.turn.release()

    def _message(self) -> Message:
        return Message(self.table, self, MOST_CHARACTERS)

    def _written(self, value: Any) -> bytes:
        extras = self.outgoing()
        try:
            return self._message().write([value], extras)
        except TooLargeError:
            self.too_large()
        except NotDataError as error:
            return self._message().write([self.unsent(error, value)], extras)

    def build(self, tag: str, payload: Any, message: Message) -> Any:
        """A value that is not data, from its form in a message."""
        if tag == "H":
            return self._own.get(payload)
        return self._proxy(payload, message) if tag == "h" else build_named(tag, payload, message, self.classes)

    def filled(self, value: object) -> None:
        """An object of the dataset's class has received its fields."""

    def copied(self) -> None:
        """A value crosses as a copy, which later changes don't reach."""

    # What each side does in its own way. `failed`: the request has raised, which is the answer. `unsent`: a substitute
    # for an answer that can't be sent.

    _send: Callable[[bytes, bytes], None]
    _receive: Callable[[], tuple[bytes, bytes]]
    _proxy: Callable[[Any, Message], Any]
    lower: Callable[[Any, type, Message], Any]
    perform: Callable[[list[Any]], Any]
    failed: Callable[[BaseException], None]
    raised: Callable[[Any], NoReturn]
    outgoing: Callable[[], object]
    incoming: Callable[[Any], None]
    too_large: Callable[[], NoReturn]
    unsent: Callable[[NotDataError, object], object]
