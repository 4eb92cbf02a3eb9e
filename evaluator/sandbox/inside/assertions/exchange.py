"""One end of the connection between a completion's process and its test's: it sends requests and answers them.

The answer to a request `Q` is a value `V` or an exception `X`; before that the other side may send its own requests.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn, Protocol

from evaluator.sandbox.inside.assertions import serialization
from evaluator.sandbox.inside.assertions.errors import BadMessageError, NotDataError, TooLargeError
from evaluator.sandbox.inside.assertions.object_table import Table


class Side(serialization.Side, Protocol):
    def perform(self, request: list[Any]) -> Any: ...
    def failed(self, error: BaseException) -> None:
        """The request has raised, which is the answer."""

    def raised(self, error: Any) -> NoReturn: ...
    def outgoing(self) -> object: ...
    def incoming(self, extras: Any) -> None: ...
    def too_large(self) -> NoReturn: ...
    def unsent(self, error: NotDataError) -> object:
        """A substitute for an answer that can't be sent."""


class Exchange:
    """Requests of one side, and its answers to those of the other."""

    def __init__(
        self,
        side: Side,
        cap: int,
        send: Callable[[bytes, bytes], None],
        receive: Callable[[], tuple[bytes, bytes]],
    ) -> None:
        """`send` and `receive` take or return a frame's kind and payload; `cap`: most characters of a message."""
        self._side = side
        self._cap = cap
        self._send = send
        self._receive = receive
        self.table = Table()
        self.depth = 0

    def _message(self) -> serialization.Message:
        return serialization.Message(self.table, self._side, self._cap)

    def ask(self, *request: Any) -> Any:
        """Sends a request; returns the answer, or raises the exception in it."""
        side = self._side
        self._send(b"Q", self._message().write(request, side.outgoing()))
        self.depth += 1
        while True:
            kind, payload = self._receive()
            if kind != b"Q":
                break
            self.answer(payload)
        self.depth -= 1
        (value,), extras = self._message().read(payload)
        if extras is not None:
            side.incoming(extras)
        if kind == b"X":
            side.raised(value)
        return value

    def answer(self, payload: bytes) -> None:
        """Performs a request of the other side, and sends the result."""
        side = self._side
        self.depth += 1
        request, extras = self._message().read(payload)
        if extras is not None:
            side.incoming(extras)
        kind = b"V"
        try:
            value = side.perform(request)
        except BadMessageError:  # an unreadable request is not a result
            raise
        except BaseException as error:
            kind, value = b"X", error
            side.failed(error)
        self.depth -= 1
        self._send(kind, self._written(value))

    def _written(self, value: Any) -> bytes:
        extras = self._side.outgoing()
        try:
            return self._message().write([value], extras)
        except TooLargeError:
            self._side.too_large()
        except NotDataError as error:
            return self._message().write([self._side.unsent(error)], extras)
