"""Frames over a socket, as the parent reads them: length-prefixed, capped, with a deadline."""

from __future__ import annotations

import fcntl
import select
import socket
import struct
import termios
import time
from collections.abc import Sequence
from typing import Protocol

_HEADER = struct.Struct("!I")
_CREDENTIALS = struct.Struct("iII")
_DESCRIPTOR = struct.Struct("i")
_LEAST = 5
"""Bytes of the shortest frame."""
_SHORT, _CHUNK = 1 << 12, 1 << 16


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
        self._held = bytearray()
        """What has been read beyond the frames that were asked for. No descriptor comes after a frame."""
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
        held = self._held
        if len(held) < _HEADER.size:
            self._fill(_HEADER.size, patience)
        (size,) = _HEADER.unpack_from(held)
        if not 0 < size <= most + 1:
            raise BrokenFrameError(f"a frame of {size} bytes where at most {most + 1} belong")
        end = _HEADER.size + size
        if len(held) < end:
            self._fill(end, patience)
        kind, payload = bytes(held[_HEADER.size : _LEAST]), bytes(memoryview(held)[_LEAST:end])
        del held[:end]
        return kind, payload

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
        if self._held:
            return True
        waiting = bytearray(4)
        fcntl.ioctl(self._socket, termios.FIONREAD, waiting)
        return any(waiting)

    def hears_more(self, deadline: float) -> bool:
        """Whether the other side, which is about to go, says anything more before it does so, or the deadline."""
        watch = _Deadline(deadline)
        while not self._held:
            try:
                return bool(self._socket.recv(1, socket.MSG_PEEK))
            except ConnectionResetError:
                return False
            except BlockingIOError:
                try:
                    self._wait(watch, select.POLLIN)
                except SilenceError:
                    return False
        return True

    def close(self) -> None:
        self._socket.close()

    def _fill(self, size: int, watch: Watch) -> None:
        """Reads on until so many bytes are held, and what else is there: an answer is seldom there at once."""
        held = self._held
        while len(held) < size:
            self._wait(watch, select.POLLIN)  # who sends byte after byte is late all the same
            try:
                data = self._socket.recv(_SHORT if size <= _SHORT else _CHUNK)
            except BlockingIOError:
                continue
            except ConnectionResetError:
                data = b""
            if not data:
                if held:
                    raise BrokenFrameError("a frame that ends too early")
                raise EOFError
            held += data

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
