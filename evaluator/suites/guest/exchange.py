"""One end of the connection between a completion's process and its test's: it sends requests and answers them.

The answer to a request `Q` is a value `V` or an exception `X`; before that the other side may send its own requests.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, Protocol

from evaluator.suites.guest import serialization
from evaluator.suites.guest.errors import BadMessageError, NotDataError, TooLargeError
from evaluator.suites.guest.object_table import Table

MOST_CHARACTERS = 64 << 20
"""Of a message. What the test gives the completion and gets from it is data, not output, which has its own limit."""


class Side(serialization.Side, Protocol):
    def perform(self, request: list[Any]) -> Any: ...
    def failed(self, error: BaseException) -> None:
        """The request has raised, which is the answer."""

    def raised(self, error: Any) -> NoReturn: ...
    def outgoing(self) -> object: ...
    def incoming(self, extras: Any) -> None: ...
    def too_large(self) -> NoReturn: ...
    def unsent(self, error: NotDataError, value: object) -> object:
        """A substitute for this answer, which can't be sent."""


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
    """Requests of one side, and its answers to those of the other."""

    def __init__(
        self,
        side: Side,
        send: Callable[[bytes, bytes], None],
        receive: Callable[[], tuple[bytes, bytes]],
    ) -> None:
        """`send` and `receive` take or return a frame's kind and payload."""
        self._side = side
        self._send = send
        self._receive = receive
        self.table = Table()
        self.depth = 0
        self.turn = Turn()
        """Held from a request to its answer, and while waiting for one: a completion's threads ask, too."""

    def _message(self) -> serialization.Message:
        return serialization.Message(self.table, self._side, MOST_CHARACTERS)

    def ask(self, *request: Any) -> Any:
        """Sends a request; returns the answer, or raises the exception in it."""
        with self.turn:
            return self._asked(request)

    def _asked(self, request: tuple[Any, ...]) -> Any:
        side = self._side
        self._send(b"Q", self._text(request, side.outgoing()))
        self.depth += 1
        while True:
            kind, payload = self._receive()
            if kind != b"Q":
                break
            self.answer(payload)
        self.depth -= 1
        message = self._message()
        (value,), extras = message.read(payload)
        if extras is not None:
            side.incoming(extras)
        if kind == b"X":
            side.raised(value)
        return value

    def answer(self, payload: bytes, *, holds_turn: bool = False) -> None:
        """Performs a request of the other side, and sends the result."""
        side = self._side
        self.depth += 1
        message = self._message()
        request, extras = message.read(payload)
        if extras is not None:
            side.incoming(extras)
        if holds_turn:  # while it performs the request, other threads may ask
            self.turn.release()
        kind = b"V"
        try:
            value = side.perform(request)
        except BadMessageError:  # an unreadable request is not a result
            raise
        except BaseException as error:
            kind, value = b"X", error
            side.failed(error)
        self.depth -= 1
        self.turn.acquire()
        try:
            self._send(kind, self._written(value))
        finally:
            if not holds_turn:
                self.turn.release()

    def _written(self, value: Any) -> bytes:
        extras = self._side.outgoing()
        try:
            return self._text([value], extras)
        except TooLargeError:
            self._side.too_large()
        except NotDataError as error:
            return self._text([self._side.unsent(error, value)], extras)

    def _text(self, parts: Sequence[Any], extras: object) -> bytes:
        return self._message().write(parts, extras)
