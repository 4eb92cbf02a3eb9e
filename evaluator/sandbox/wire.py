"""Frames over a socket, as the parent reads them: length-prefixed, capped, with a deadline."""

from __future__ import annotations

import select
import socket
import struct
import time
from collections.abc import Sequence
from typing import Protocol

_HEADER = struct.Struct("!I")
_CREDENTIALS = struct.Struct("iII")
_DESCRIPTOR = struct.Struct("i")
_CHUNK = 1 << 16


class BrokenFrameError(Exception):
    """What came is no frame, or none that belongs here."""


class SilenceError(Exception):
    """Nothing came before the deadline."""


class Watch(Protocol):
    """Decides how long to wait, and looks at the other side meanwhile. Both methods may raise to end the waiting."""

    def patience_ms(self) -> float: ...
    def look(self) -> None: ...


class Asked(Protocol):
    """What is to be answered while the other side is waited for: it waits for that itself."""

    descriptor: int

    def answer(self) -> None: ...


class _Deadline:
    def __init__(self, deadline: float) -> None:
        self._deadline = deadline

    def patience_ms(self) -> float:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise SilenceError
        return max(left * 1000, 1)

    def look(self) -> None:
        return


class Connection:
    """One side of a socket pair. Reads raise `EOFError` when the other side is gone."""

    def __init__(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        self._socket = connection
        self._poll = select.poll()
        self._poll.register(connection, select.POLLIN)
        self._refusals: Asked | None = None

    def send(self, kind: bytes, payload: bytes = b"", watch: Watch | None = None) -> None:
        """Sends one frame; `watch` ends the waiting for a reader who does not read.

        Where the other side has gone nothing is said: what it sent before, or its end, is the next thing received.
        """
        data = memoryview(_HEADER.pack(len(payload) + 1) + kind + payload)
        while data:
            try:
                data = data[self._socket.send(data) :]
            except BlockingIOError:
                self._wait(watch or _Deadline(time.monotonic() + 10), select.POLLOUT)
            except (BrokenPipeError, ConnectionResetError):
                return

    def send_descriptors(self, message: bytes, descriptors: Sequence[int]) -> None:
        socket.send_fds(self._socket, [message], list(descriptors))

    def receive(self, watch: Watch | float, most: int) -> tuple[bytes, bytes]:
        """Kind and payload of the next frame, at most `most` bytes.

        Raises `EOFError`, `BrokenFrameError`, `SilenceError` (`watch` a deadline), or what `watch` raises.
        """
        patience = _Deadline(watch) if isinstance(watch, float) else watch
        (size,) = _HEADER.unpack(self._exactly(4, patience))
        if not 0 < size <= most + 1:
            raise BrokenFrameError(f"a frame of {size} bytes where at most {most + 1} belong")
        try:
            body = self._exactly(size, patience)
        except EOFError:
            raise BrokenFrameError("a frame that ends too early") from None
        return bytes(body[:1]), bytes(memoryview(body)[1:])

    def receive_hello(self, deadline: float) -> int:
        """The first frame, which is `H`; returns its sender's process number as the kernel tells it.

        Raises `EOFError` or `SilenceError`.
        """
        watch = _Deadline(deadline)
        room = socket.CMSG_SPACE(_CREDENTIALS.size)
        while True:
            try:
                data, told, _flags, _address = self._socket.recvmsg(5, room)
                break
            except BlockingIOError:
                self._wait(watch, select.POLLIN)
            except ConnectionResetError:
                raise EOFError from None
        if data != b"\0\0\0\1H":
            raise EOFError
        for level, kind, content in told:
            if level == socket.SOL_SOCKET and kind == socket.SCM_CREDENTIALS:
                number: int = _CREDENTIALS.unpack(content[: _CREDENTIALS.size])[0]
                return number
        return 0

    def receive_descriptor(self, kind: bytes, watch: Watch) -> int:
        """The descriptor that comes with an empty frame. Raises `BrokenFrameError`, or what `watch` raises."""
        room = socket.CMSG_SPACE(_CREDENTIALS.size) + socket.CMSG_SPACE(_DESCRIPTOR.size)
        while True:
            try:
                data, told, _flags, _address = self._socket.recvmsg(5, room, socket.MSG_CMSG_CLOEXEC)
                break
            except BlockingIOError:
                self._wait(watch, select.POLLIN)
        content = next((content for _, kind, content in told if kind == socket.SCM_RIGHTS), b"")
        if data != b"\0\0\0\1" + kind or not content:
            raise BrokenFrameError("no descriptor where one belongs")
        number: int = _DESCRIPTOR.unpack(content[: _DESCRIPTOR.size])[0]
        return number

    def attend(self, refusals: Asked) -> None:
        """Answers these, too, whenever the other side is waited for."""
        self._refusals = refusals
        self._poll.register(refusals.descriptor, select.POLLIN)

    def has_input(self) -> bool:
        """Whether bytes wait to be read; the other side's end is none."""
        try:
            return bool(self._socket.recv(1, socket.MSG_PEEK))
        except BlockingIOError:
            return False
        except ConnectionResetError:
            return False

    def hears_more(self, deadline: float) -> bool:
        """Whether the other side, which is about to go, says anything more before it does so, or the deadline."""
        watch = _Deadline(deadline)
        while True:
            try:
                return bool(self._socket.recv(1, socket.MSG_PEEK))
            except ConnectionResetError:
                return False
            except BlockingIOError:
                try:
                    self._wait(watch, select.POLLIN)
                except SilenceError:
                    return False

    def close(self) -> None:
        self._socket.close()

    def _exactly(self, size: int, watch: Watch) -> bytearray:
        parts = bytearray()
        while len(parts) < size:
            try:
                data = self._socket.recv(min(size - len(parts), _CHUNK))
            except BlockingIOError:
                self._wait(watch, select.POLLIN)
                continue
            except ConnectionResetError:
                data = b""
            if not data:
                if parts:
                    raise BrokenFrameError("a frame that ends too early")
                raise EOFError
            parts += data
            if len(parts) < size:
                watch.patience_ms()  # who sends byte after byte is late all the same
        return parts

    def _wait(self, watch: Watch, event: int) -> None:
        self._poll.modify(self._socket, event)
        ready = self._poll.poll(watch.patience_ms())
        if not ready:
            watch.look()
        asked = self._refusals
        for descriptor, what in ready:
            if asked is None or descriptor != asked.descriptor:
                continue
            if what & select.POLLIN:
                asked.answer()
            else:  # who could ask is gone
                self._poll.unregister(descriptor)
                self._refusals = None
