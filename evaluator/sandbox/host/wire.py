"""Frames over a socket, as read by the parent: length-prefixed, capped, with a deadline."""

from __future__ import annotations

import _socket
import select
import socket
import struct
import time
from array import array
from collections.abc import Sequence
from typing import Protocol

from evaluator.sandbox.guest import channel

_HEADER = struct.Struct("!I")
_CREDENTIALS = struct.Struct("iII")
_DESCRIPTOR = struct.Struct("i")
_ROOM = socket.CMSG_SPACE(_CREDENTIALS.size) + socket.CMSG_SPACE(_DESCRIPTOR.size)
_LEAST = 5
"""Bytes of the shortest frame."""
_SHORT, _CHUNK = 1 << 12, 1 << 16
_AT_ONCE = int(socket.MSG_DONTWAIT)
"""For each call: it would take a call more for each socket to say it once."""
_WITH_DESCRIPTOR = int(socket.MSG_DONTWAIT | socket.MSG_CMSG_CLOEXEC)
_PEEK = int(socket.MSG_DONTWAIT | socket.MSG_PEEK)


class BrokenFrameError(Exception):
    """A malformed or unexpected frame."""


class SilenceError(Exception):
    """Nothing arrived before the deadline."""


CONNECTION_ERRORS = (OSError, EOFError, SilenceError, BrokenFrameError)
"""What a connection raises if the process at its other end has ended, or does not do what it should."""


class Watch(Protocol):
    """Decides how long to wait, and checks the other side meanwhile. Both methods may raise to end the wait."""

    def patience_ms(self) -> float: ...
    def look(self) -> None: ...


class Requests(Protocol):
    """Requests to answer while we wait for the other side, which waits for these answers itself."""

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
    """One side of a socket pair. Reads raise `EOFError` if the other side is closed."""

    def __init__(self, connection: _socket.socket) -> None:
        self._socket = connection
        self._poll = select.poll()
        self._poll.register(connection, select.POLLIN)
        self._buffer = b""
        """Bytes read beyond the frames that were returned. No descriptor follows a frame."""
        self._refusals: Requests | None = None

    def send(self, kind: bytes, payload: bytes = b"", watch: Watch | None = None) -> None:
        """Sends one frame; `watch` ends the wait for a side that does not read.

        A closed other side raises nothing here: the next `receive` gets its last frames, or its end.
        """
        data = memoryview(_HEADER.pack(len(payload) + 1) + kind + payload)
        while data:
            try:
                data = data[self._socket.send(data, _AT_ONCE) :]
            except BlockingIOError:
                self._poll.modify(self._socket, select.POLLOUT)
                try:
                    self._wait(watch or _Deadline(time.monotonic() + 10))
                finally:
                    self._poll.modify(self._socket, select.POLLIN)
            except (BrokenPipeError, ConnectionResetError):
                return

    def send_descriptors(self, message: bytes, descriptors: Sequence[int]) -> None:
        passed = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array("i", descriptors))] if descriptors else []
        self._socket.sendmsg([message], passed, _AT_ONCE)

    def receive(self, watch: Watch | float, most: int) -> tuple[bytes, bytes]:
        """Kind and payload of the next frame, at most `most` bytes.

        Raises `EOFError`, `BrokenFrameError`, `SilenceError` (`watch` a deadline), or what `watch` raises.
        """
        patience = _Deadline(watch) if isinstance(watch, float) else watch
        data = self._buffer
        if len(data) < _HEADER.size:
            data = self._filled(_HEADER.size, patience)
        (size,) = _HEADER.unpack_from(data)
        if not 0 < size <= most + 1:
            raise BrokenFrameError(f"a frame of {size} bytes, over the limit of {most + 1}")
        end = _HEADER.size + size
        if len(data) < end:
            data = self._filled(end, patience)
        self._buffer = data[end:]
        return data[_HEADER.size : _LEAST], data[_LEAST:end]

    def receive_hello(self, deadline: float) -> int:
        """Receives the first frame, `H`; returns its sender's process number, which the kernel supplies.

        Raises `EOFError` or `SilenceError`.
        """
        try:
            data, attached = self._receive_attached(_Deadline(deadline), socket.SCM_CREDENTIALS)
        except ConnectionResetError:
            raise EOFError from None
        if data != b"\0\0\0\1H":
            raise EOFError
        number: int = _CREDENTIALS.unpack(attached[: _CREDENTIALS.size])[0] if attached else 0
        return number

    def receive_descriptor(self, kind: bytes, watch: Watch) -> int:
        """The descriptor that is sent with an empty frame. Raises `BrokenFrameError`, or what `watch` raises."""
        data, attached = self._receive_attached(watch, socket.SCM_RIGHTS)
        if data != b"\0\0\0\1" + kind or not attached:
            raise BrokenFrameError("a descriptor was expected")
        number: int = _DESCRIPTOR.unpack(attached[: _DESCRIPTOR.size])[0]
        return number

    def _receive_attached(self, watch: Watch, what: int) -> tuple[bytes, bytes]:
        """An empty frame, and what the kernel sends with it, if it does."""
        while True:
            try:
                data, attached, _flags, _address = self._socket.recvmsg(5, _ROOM, _WITH_DESCRIPTOR)
                return data, b"".join([content for _, kind, content in attached if kind == what][:1])
            except BlockingIOError:
                self._wait(watch)

    def attend(self, refusals: Requests) -> None:
        """Answers these, too, while waiting for the other side."""
        self._refusals = refusals
        self._poll.register(refusals.descriptor, select.POLLIN)

    def has_input(self) -> bool:
        """Whether unread bytes are there; the other side's end does not count."""
        return bool(self._buffer) or channel.has_input(self._socket.fileno())

    def receives_more(self, deadline: float) -> bool:
        """Whether the other side, which is about to end, sends anything more before its end or the deadline."""
        watch = _Deadline(deadline)
        while not self._buffer:
            try:
                return bool(self._socket.recv(1, _PEEK))
            except ConnectionResetError:
                return False
            except BlockingIOError:
                try:
                    self._wait(watch)
                except SilenceError:
                    return False
        return True

    def close(self) -> None:
        self._socket.close()

    def _filled(self, size: int, watch: Watch) -> bytes:
        """The buffer, when it has at least so many bytes: an answer rarely arrives at once."""
        parts = bytearray(self._buffer)
        try:
            while len(parts) < size:
                self._wait(watch)  # a side that sends byte by byte is late, too
                try:
                    data = self._socket.recv(_SHORT if size <= _SHORT else _CHUNK, _AT_ONCE)
                except BlockingIOError:
                    continue
                except ConnectionResetError:
                    data = b""
                if not data:
                    if parts:
                        raise BrokenFrameError("a truncated frame")
                    raise EOFError
                parts += data
        finally:
            self._buffer = bytes(parts)
        return self._buffer

    def _wait(self, watch: Watch) -> None:
        ready = self._poll.poll(watch.patience_ms())
        if not ready:
            watch.look()
        refusals = self._refusals
        for descriptor, what in ready:
            if refusals is None or descriptor != refusals.descriptor:
                continue
            if what & select.POLLIN:
                refusals.answer()
            else:  # all that could send requests have ended
                self._poll.unregister(descriptor)
                self._refusals = None
