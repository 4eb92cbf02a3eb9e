"""A hand that a server of this user lends (`lending`): its sandboxes are warm, so a short-lived process starts none."""

from __future__ import annotations

import contextlib
import os
import socket
import time
from pathlib import Path
from typing import Final

from evaluator.engines.hands import Hand, HandLostError
from evaluator.engines.lender_socket import GREETING, lender
from evaluator.engines.local_hand import LocalHand
from evaluator.engines.socket_hand import SocketHand

_ANSWERS_WITHIN_S: Final = 5.0
_OTHERWISE_S: Final = 60.0
"""How long a process does without a server that went away or did not answer."""
_not_before = 0.0


def can_borrow() -> bool:
    """Whether a server lends hands to this process now."""
    return time.monotonic() >= _not_before and lender() is not None


def do_without(seconds: float) -> None:
    """Has this process borrow none for so long."""
    global _not_before  # noqa: PLW0603 - of this process
    _not_before = time.monotonic() + seconds


def borrowed_or_own() -> Hand:
    """A hand of the server's, or else a process of our own."""
    path = lender() if time.monotonic() >= _not_before else None
    if path is not None:
        with contextlib.suppress(HandLostError):
            return BorrowedHand(path)
    return LocalHand()


class BorrowedHand(SocketHand):
    """A connection to the server."""

    suspicious = False

    def __init__(self, path: Path) -> None:
        """`path`: of the server's socket. Raises `HandLostError` if nobody answers there."""
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.settimeout(_ANSWERS_WITHIN_S)
            connection.connect(os.fspath(path))
            if connection.recv(len(GREETING)) != GREETING:
                raise OSError("it closed the connection")
        except OSError as error:
            connection.close()
            do_without(_OTHERWISE_S)
            raise HandLostError(f"the server at {path}: {error}", suspicious=False) from error
        super().__init__(connection)

    def gone(self) -> bool:
        self._connection.close()
        return True

    def close(self) -> None:
        self.end()
        self._connection.close()

    def _how_it_ended(self) -> str:
        do_without(_OTHERWISE_S)
        return "the server whose sandboxes were borrowed has ended"
