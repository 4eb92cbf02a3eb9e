"""One side's end of the conversation between a completion's process and its check's: it asks, and it answers.

A request `Q` is answered by a value `V` or an exception `X`; before that the other side may ask in its turn. What an
answer tells after its letter, in a line of its own: the objects of the request that the answering side still holds.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NoReturn, Protocol

from evaluator.sandbox.inside import arrays, crossing
from evaluator.sandbox.inside.shared_objects import Table

_decoded = json.JSONDecoder().decode


class Side(crossing.Side, Protocol):
    def perform(self, request: list[Any]) -> Any: ...
    def failed(self, error: BaseException) -> None: ...
    def raised(self, error: Any) -> NoReturn: ...
    def outgoing(self) -> object: ...
    def incoming(self, extras: Any) -> None: ...
    def too_large(self) -> NoReturn: ...
    def unsent(self, error: Exception) -> object: ...


class Talk:
    """Requests of one side, and its answers to those of the other."""

    def __init__(
        self,
        side: Side,
        cap: int,
        send: Callable[[bytes, bytes], None],
        receive: Callable[[], tuple[bytes, bytes]],
    ) -> None:
        """`send` and `receive` a frame's kind and payload; `cap`: characters of a letter."""
        self._side = side
        self._cap = cap
        self._send = send
        self._receive = receive
        self._table = Table()
        self.depth = 0

    def ask(self, *request: Any) -> Any:
        """What the other side answers; raises the exception that it answers with."""
        side, table = self._side, self._table
        base = len(table.objects)
        self._send(b"Q", crossing.Letter(table, side, self._cap).write(request, side.outgoing()))
        self.depth += 1
        while True:
            kind, payload = self._receive()
            if kind != b"Q":
                break
            self.answer(payload)
        self.depth -= 1
        text, _, holding = payload.partition(b"\n")
        (value,), extras = crossing.Letter(table, side, self._cap).read(text)
        if holding or len(table.objects) > base:
            self._let_go(base, holding)
        if extras is not None:
            side.incoming(extras)
        if kind == b"X":
            side.raised(value)
        return value

    def _let_go(self, base: int, holding: bytes) -> None:
        table = self._table
        kept, dropped = _decoded(holding.decode()) if holding else ([], [])
        if not all(type(number) is int and base <= number < len(table) for number in kept):
            raise crossing.BadLetterError("numbers of no objects")
        if len(table) > base:
            table.keep(base, kept)
        if dropped:
            if self.depth or not all(type(number) is int and number >= 0 for number in dropped):
                raise crossing.BadLetterError("numbers of no objects")
            table.drop(dropped)

    def answer(self, payload: bytes) -> None:
        """Does what the other side asks for, and tells it what came of it."""
        side, table = self._side, self._table
        base = len(table)
        self.depth += 1
        request, extras = crossing.Letter(table, side, self._cap).read(payload)
        if extras is not None:
            side.incoming(extras)
        kind = b"V"
        try:
            value = side.perform(request)
        except crossing.BadLetterError:  # the request can't be read, which is nobody's exception
            raise
        except BaseException as error:
            kind, value = b"X", error
            side.failed(error)
        request.clear()
        self.depth -= 1
        text = self._written(value)
        value = None
        kept = []
        if len(table.objects) > base:
            kept = table.held(base)
            table.keep(base, kept)
        dropped = [] if self.depth else table.unheld()
        if dropped:
            table.drop(dropped)
        if kept or dropped:
            text += b"\n" + json.dumps([kept, dropped]).encode()
        self._send(kind, text)

    def _written(self, value: Any) -> bytes:
        side, table = self._side, self._table
        extras = side.outgoing()
        try:
            return crossing.Letter(table, side, self._cap).write([value], extras)
        except crossing.TooLargeError:
            side.too_large()
        except (crossing.NoDataError, arrays.UnfaithfulError) as error:
            return crossing.Letter(table, side, self._cap).write([side.unsent(error)], extras)
