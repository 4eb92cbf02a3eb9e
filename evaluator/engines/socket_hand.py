"""What hands at the other end of a socket share: sending without waiting, and receiving in frames."""

from __future__ import annotations

import contextlib
import os
import socket
from typing import ClassVar, Final

from evaluator.engines.hands import HandLostError
from evaluator.engines.messages import Frames, FromHand, ToHand, framed, from_hand

_READ: Final = 1 << 20
_MOST_READ: Final = 16


class SocketHand:
    """A hand whose messages travel over a socket of this machine."""

    suspicious: ClassVar = True
    """Whether what it was doing may be why it was lost."""

    def __init__(self, connection: socket.socket) -> None:
        """The connection is the hand's."""
        connection.setblocking(False)
        self._connection = connection
        self._owner = os.getpid()
        self._frames = Frames()
        self._waiting = bytearray()
        self._lost = ""

    def fileno(self) -> int:
        return self._connection.fileno()

    def send(self, message: ToHand) -> None:
        self._waiting += framed(message)
        self.flush()

    def flush(self) -> bool:
        try:
            while self._waiting:
                del self._waiting[: self._connection.send(self._waiting)]
        except BlockingIOError:
            return True
        except OSError:
            self._waiting.clear()  # it has ended, which `receive` says
        return False

    def receive(self) -> list[FromHand]:
        if self._lost:
            raise HandLostError(self._lost, suspicious=self.suspicious)
        found: list[FromHand] = []
        try:
            for _ in range(_MOST_READ):
                data = self._connection.recv(_READ)
                found += [from_hand(body) for body in self._frames.feed(data)]
                if not data:
                    self._lost = self._how_it_ended()
                    break
                if len(data) < _READ:
                    break
        except BlockingIOError:
            pass
        except OSError:
            self._lost = self._how_it_ended()
        if self._lost and not found:
            raise HandLostError(self._lost, suspicious=self.suspicious)
        return found

    def end(self) -> None:
        if os.getpid() == self._owner:
            with contextlib.suppress(OSError):
                self._connection.shutdown(socket.SHUT_RDWR)  # also where a forked child of ours holds it open

    def _how_it_ended(self) -> str:
        raise NotImplementedError
