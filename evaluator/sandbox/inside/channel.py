"""Length-prefixed frames over a socket, seen from inside."""

from __future__ import annotations

import fcntl
import marshal
import os
import socket
import struct
import termios
from json import encoder
from typing import Any

STACK_SIGNAL = 63
"""Asks a process to write where it is to `STACK_DESCRIPTOR`; a real-time signal, which few programs know."""

STACK_DESCRIPTOR = 7

PEER_DESCRIPTOR = 8
"""Where a completion and its check have a connection to each other."""

# Without Python in between, so a program that has replaced `isinstance` or `str` does not reach it.
_chunks_of = encoder.c_make_encoder(  # type: ignore[attr-defined]
    None, repr, encoder.encode_basestring_ascii, None, ":", ",", False, False, True
)


def as_json(record: dict[str, Any]) -> bytes:
    """A record of texts, numbers, lists and tuples, as ASCII."""
    return "".join(_chunks_of(record, 0)).encode()


_HEADER = struct.Struct("!I")


class ClosedError(Exception):
    """The other side has gone."""


class TooLongError(Exception):
    """A frame is longer than it may be."""


def send(descriptor: int, kind: bytes, payload: bytes = b"", write: Any = os.write) -> None:
    """Sends one frame: four bytes of length, one of kind, the payload."""
    data = memoryview(_HEADER.pack(len(payload) + 1) + kind + payload)
    while data:
        data = data[write(descriptor, data) :]


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


def _exactly(descriptor: int, size: int, read: Any) -> bytes:
    data = read(descriptor, size)
    if len(data) == size:
        return bytes(data)
    parts = bytearray(data)
    while data and len(parts) < size:
        data = read(descriptor, size - len(parts))
        parts += data
    if len(parts) < size:
        raise ClosedError
    return bytes(parts)


def has_input(descriptor: int) -> bool:
    """Whether bytes wait to be read; the other side's end is none."""
    waiting = bytearray(4)
    fcntl.ioctl(descriptor, termios.FIONREAD, waiting)
    return any(waiting)


def receive_with_descriptors(connection: socket.socket, most: int) -> tuple[bytes, list[int]]:
    """A one-byte message and the descriptors that came with it. Raises `ClosedError` at the end."""
    message, descriptors, _flags, _address = socket.recv_fds(connection, 1, most)
    if not message:
        raise ClosedError
    return message, descriptors
