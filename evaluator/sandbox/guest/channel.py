"""Length-prefixed frames over a socket, seen from inside."""

from __future__ import annotations

import _socket
import fcntl
import marshal
import os
import struct
import termios
from json import encoder
from typing import Any

STACK_SIGNAL = 63
"""Makes a process write its stack to `STACK_DESCRIPTOR`; a real-time signal, which few programs use."""

FLUSHED = b"Output is flushed.\n"
"""What it writes there after its stack, when it has also written what it had printed."""
CHANNEL = 3
"""The parent's connection."""

STACK_DESCRIPTOR = 4

ANSWERS_DESCRIPTOR = 5
"""The file for answers to inputs that came together; see `ahead`."""

PEER_DESCRIPTOR = 6
"""The connection between a completion and its test suite."""

_DESCRIPTOR = struct.calcsize("i")
MOST_DESCRIPTORS = 7
"""That one message passes."""

# Runs no Python code, so a program that has replaced `isinstance` or `str` can't influence it.
json_chunks = encoder.c_make_encoder(  # type: ignore[attr-defined]
    None, repr, encoder.encode_basestring_ascii, None, ":", ",", False, False, True
)


def as_json(record: dict[str, Any]) -> bytes:
    """A record of texts, numbers, lists and tuples, as ASCII."""
    return "".join(json_chunks(record, 0)).encode()


_HEADER = struct.Struct("!I")
_LEAST = 5
"""Bytes of the shortest frame."""
_SHORT = 8192


class ClosedError(Exception):
    """The other side is closed."""


class TooLongError(Exception):
    """A frame is longer than allowed."""


class UnrequestedError(Exception):
    """More arrived than the expected frame."""


def send(descriptor: int, kind: bytes, payload: bytes = b"", write: Any = os.write) -> None:
    """Sends one frame: four bytes of length, one of kind, the payload."""
    data = _HEADER.pack(len(payload) + 1) + kind + payload
    sent = write(descriptor, data)
    while sent < len(data):
        sent += write(descriptor, memoryview(data)[sent:])


def receive(descriptor: int, read: Any = os.read) -> tuple[bytes, Any]:
    """Kind and unmarshalled payload of the parent's next frame. Raises `ClosedError` at the end."""
    kind, payload = receive_raw(descriptor, read)
    return kind, marshal.loads(payload) if payload else None  # noqa: S302 - the parent is trusted


def receive_raw(descriptor: int, read: Any = os.read, most: int = 2**31) -> tuple[bytes, bytes]:
    """Kind and payload of the next frame. Raises `ClosedError` at the end, `TooLongError` for more than `most`."""
    (size,) = _HEADER.unpack(_exactly(descriptor, 4, read))
    if size > most:
        raise TooLongError
    body = _exactly(descriptor, size, read)
    return body[:1], body[1:]


def next_request(descriptor: int, write: Any, read: Any, leave: Any) -> bytes:
    """The parent's next `R`: one input. Ends the process when the parent is gone, and at `G`, which it answers."""
    try:
        kind, payload = receive_raw(descriptor, read)
    except ClosedError:
        leave(0)
    if kind == b"G":
        send(descriptor, b"G", b"", write)
        leave(0)
    return payload


def receive_alone(descriptor: int, read: Any = os.read, most: int = 2**31) -> tuple[bytes, bytes]:
    """As `receive_raw`, from a side that waits for an answer to its frame: one call suffices for a short one.

    Raises `UnrequestedError` if more arrives with it.
    """
    data = read(descriptor, _SHORT)
    if len(data) < _LEAST:
        data = _completed(descriptor, data, _LEAST, read)
    (size,) = _HEADER.unpack_from(data)
    if size > most:
        raise TooLongError
    end = size + _LEAST - 1
    if len(data) != end:
        if len(data) > end:
            raise UnrequestedError
        data = _completed(descriptor, data, end, read)
    return data[4:_LEAST], data[_LEAST:]


def _exactly(descriptor: int, size: int, read: Any) -> bytes:
    data = read(descriptor, size)
    return data if len(data) == size else _completed(descriptor, data, size, read)


def _completed(descriptor: int, data: bytes, size: int, read: Any) -> bytes:
    """`data` and the rest up to `size` bytes."""
    parts = bytearray(data)
    while data and len(parts) < size:
        data = read(descriptor, size - len(parts))
        parts += data
    if len(parts) < size:
        raise ClosedError
    return bytes(parts)


def has_input(descriptor: int) -> bool:
    """Whether unread bytes are there; the other side's end does not count."""
    waiting = bytearray(4)
    fcntl.ioctl(descriptor, termios.FIONREAD, waiting)
    return any(waiting)


def receive_with_descriptors(connection: _socket.socket, most: int, size: int = 1) -> tuple[bytes, list[int]]:
    """A message of `size` bytes and its descriptors. Raises `ClosedError` at the end.

    With `_socket`, because `socket` is large, and each forked process maps what the zygote has loaded.
    """
    message, received, _flags, _address = connection.recvmsg(size, _socket.CMSG_LEN(most * _DESCRIPTOR))
    if not message:
        raise ClosedError
    descriptors: list[int] = []
    for _, _, data in received:
        descriptors += memoryview(data).cast("i")
    return message, descriptors


def send_descriptor(connection: int, kind: bytes, descriptor: int) -> None:
    """Sends a frame without payload, and a descriptor."""
    given = struct.pack("i", descriptor)
    sending = _socket.socket(fileno=connection)
    sending.sendmsg([_HEADER.pack(1) + kind], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, given)])
    sending.detach()
