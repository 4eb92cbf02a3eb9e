"""A gate that lets many workers in at once, or one alone, also when they are processes of their own."""

from __future__ import annotations

import contextlib
import fcntl
import os
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from evaluator.stages import stage

_LOCK: Final = struct.Struct("hhqqi4x")  # struct flock
_TURNSTILE: Final = 0
_ROOM: Final = 1


class Gate:
    """Workers enter with `shared`; inside, `alone` waits until every other worker is outside.

    A worker that waits to be alone counts as outside, so two of them can't wait for each other. And nobody enters
    while one waits to be alone, so it need not wait for long.

    Two bytes of a file in memory are locked: the turnstile for the moment of entering, the room while one is inside. A
    lock belongs to an opened file, so each thread opens it anew; the kernel releases it, however a process ends.
    """

    def __init__(self, descriptor: int | None = None) -> None:
        """`descriptor`: that of the gate of another process, inherited from it; it is this gate's. None: a new gate."""
        self.descriptor: Final = os.memfd_create("gate") if descriptor is None else descriptor
        self._opened = threading.local()

    def __del__(self) -> None:
        with contextlib.suppress(OSError):
            os.close(self.descriptor)

    @contextmanager
    def shared(self) -> Iterator[None]:
        door = self._door()
        try:
            with stage("queue"):
                door.lock(_TURNSTILE, fcntl.F_RDLCK)
                door.lock(_ROOM, fcntl.F_RDLCK)
                door.lock(_TURNSTILE, fcntl.F_UNLCK)
            yield
        finally:
            door.lock(_TURNSTILE, fcntl.F_UNLCK)  # if Ctrl-C came in between
            door.lock(_ROOM, fcntl.F_UNLCK)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Use it inside `shared`."""
        door = self._door()
        try:
            with stage("queue"):
                door.lock(_ROOM, fcntl.F_UNLCK)
                door.lock(_TURNSTILE, fcntl.F_WRLCK)
                door.lock(_ROOM, fcntl.F_WRLCK)
            yield
        finally:  # also if Ctrl-C ends the wait: the gate is used again
            with stage("queue"):
                door.lock(_ROOM, fcntl.F_RDLCK)
            door.lock(_TURNSTILE, fcntl.F_UNLCK)

    def _door(self) -> _Door:
        """This thread's own."""
        door: _Door | None = getattr(self._opened, "door", None)
        if door is None:
            door = self._opened.door = _Door(self.descriptor)
        return door


class _Door:
    """The file, opened anew. It is closed when the thread ends, or with the gate."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = os.open(f"/proc/self/fd/{descriptor}", os.O_RDWR | os.O_CLOEXEC)

    def __del__(self) -> None:
        with contextlib.suppress(OSError):
            os.close(self._descriptor)

    def lock(self, byte: int, how: int) -> None:
        """Waits for the lock. From one kind to another it changes at once, so nobody comes in between."""
        fcntl.fcntl(self._descriptor, fcntl.F_OFD_SETLKW, _LOCK.pack(how, os.SEEK_SET, byte, 1, 0))
