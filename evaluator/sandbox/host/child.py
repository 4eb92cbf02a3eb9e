"""A completion's process, seen from the parent: its connection and the files behind its descriptors 0, 1 and 2."""

from __future__ import annotations

import _socket
import contextlib
import os
import signal
import socket
import time
from collections.abc import Sequence
from typing import Protocol, Self

from evaluator.model import Flag
from evaluator.sandbox.guest.channel import FLUSHED, STACK_SIGNAL
from evaluator.sandbox.host.launch.memory_cgroup import MemoryCgroup
from evaluator.sandbox.host.limits.refusals import Refusals
from evaluator.sandbox.host.limits.starvation import Priority
from evaluator.sandbox.host.outcomes import NOTHING, Ended, Stream
from evaluator.sandbox.host.wire import BrokenFrameError, Connection, Watch

_START_S = 10.0
GRACE_S = 10.0
"""For the kernel to end a process and free its memory, on a busy machine."""
_STACK_S, _STACK_LOOK_S, _STACK_CAP = 0.5, 0.002, 64 * 1024
"""How long to wait for a stack: on a busy machine a process may get no CPU for a tenth of a second."""
_FLUSHED_S = 0.1
"""How much longer for what it had printed: a call into C that does not return keeps it."""


class Forker(Protocol):
    """Forks processes, one at a time: a zygote or a template."""

    folder: str | None
    memory: MemoryCgroup | None
    priority: Priority | None

    def fork(self, descriptors: Sequence[int]) -> None: ...
    def kill_child(self) -> None: ...
    def await_end(self, watch: Watch | float) -> Ended: ...


class Child:
    """Forked by `forker`, which has one child at a time. End it by `wait` or `kill`, then close it."""

    def __init__(self, forker: Forker, peer: socket.socket | None = None) -> None:
        """Starts it; `greet` waits until it has begun. Raises `OSError`.

        `peer`: its end of a connection to another process.
        """
        self._forker = forker
        self.folder = forker.folder
        """Where it may write, if that is in our own file system."""
        self.memory = forker.memory
        """Its control group, if the kernel counts its memory."""
        self.priority = forker.priority
        """The priority that it was started with; None if the kernel does not count its waits for a CPU."""
        self.number = 0
        self._handle: int | None = None
        self.loaded = False
        self.used = False
        self.compiled_s = 0.0
        """CPU seconds of compiling, which its next run has still to count."""
        self._listens = False
        self.ended: Ended | None = None
        self.refusals: Refusals | None = None
        self.peer: socket.socket | None = None
        """The other end of its connection to another process, to be passed to that one; closed with this."""
        self.own_files: int | None = None
        """A descriptor of its /tmp, if it shares that with another process; closed with this."""
        self.descriptors: list[int] = []
        """Ours, of all files that it got from us: they have no names, and stay until the program has ended."""
        ours, theirs = _socket.socketpair()
        self.connection = Connection(ours)
        try:
            for _ in range(5):
                self.descriptors.append(os.memfd_create("stream", os.MFD_CLOEXEC))
            self._stdin, self._stdout, self._stderr, self._stack, self._answers = self.descriptors
            # The kernel sends the process's number with its first frame.
            ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
            streams, others = self.descriptors[:3], self.descriptors[3:]
            forker.fork([*streams, theirs.fileno(), *others, *([peer.fileno()] if peer is not None else ())])
        except BaseException:
            self.close()
            raise
        finally:
            theirs.close()

    @classmethod
    def started(cls, forker: Forker, stdin: bytes = b"", peer: socket.socket | None = None) -> Self:
        """One that has begun, with this input. Raises `OSError`, `EOFError`, or `SilenceError`."""
        child = cls(forker, peer)
        try:
            child.greet()
            child.give(stdin)
        except BaseException:
            child.close()
            raise
        return child

    def greet(self) -> None:
        """Waits for its hello. Raises `OSError`, `EOFError`, or `SilenceError`."""
        self.number = self.connection.receive_hello(time.monotonic() + _START_S)
        # It waits for its order now, so the number is still its own; later it may belong to another process.
        self._handle = os.pidfd_open(self.number)

    def give(self, stdin: bytes) -> None:
        """Its first input."""
        if stdin:
            _replace(self._stdin, stdin)

    def printed(self, most: int) -> tuple[Stream, Stream]:
        """stdout and stderr, up to `most` bytes of each."""
        return _read(self._stdout, most), _read(self._stderr, most)

    def refused_calls(self) -> tuple[Flag, ...]:
        """What the kernel refused since the last call of this; see `Refusals.notes`."""
        return self.refusals.notes() if self.refusals is not None else ()

    def listen(self, watch: Watch, threads: int) -> None:
        """Receives the descriptor by which the kernel reports refused calls. Raises as `receive_descriptor` does."""
        self.attend(Refusals(self.connection.receive_descriptor(b"N", watch), threads))
        self._listens = True

    def attend(self, refusals: Refusals) -> None:
        """Answers the refused calls of its template, which has the same filter."""
        self.refusals = refusals
        self.connection.attend(refusals)

    def renew(self, stdin: bytes) -> None:
        """Resets the files for the next input. Raises `BrokenFrameError` for an unrequested frame."""
        if self.connection.has_input():
            raise BrokenFrameError("an unrequested frame")
        _replace(self._stdin, stdin)
        _replace(self._stdout, b"")
        _replace(self._stderr, b"")

    def answers(self, most: int) -> bytes:
        """The file of answers to inputs that came together, up to `most` bytes."""
        return _read(self._answers, most).data

    def wait(self, watch: Watch | float) -> Ended:
        """Waits until it and all that it started have ended; returns how. Raises `EOFError`, or what `watch` raises."""
        if self.ended is None:
            self.ended = self._forker.await_end(watch)
        return self.ended

    def stack(self) -> bytes:
        """Its current stack, as Python's faulthandler writes it; empty if it does not answer at once.

        It then writes what it had printed, too, if it runs Python.
        """
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._handle or -1, STACK_SIGNAL)
        text, is_whole, until = b"", False, time.monotonic() + _STACK_S
        while not text.endswith(FLUSHED) and time.monotonic() < until:
            time.sleep(_STACK_LOOK_S)
            text = _read(self._stack, _STACK_CAP).data
            if not is_whole and text.endswith(b"\n") and text.count(b"\n") > 1:
                is_whole, until = True, min(until, time.monotonic() + _FLUSHED_S)
        return text if is_whole else b""

    def kill(self) -> Ended:
        """Kills it and everything that it started; returns when all have ended."""
        if self.ended is None:
            self._forker.kill_child()
            self.ended = self._forker.await_end(time.monotonic() + GRACE_S)
        return self.ended

    def end(self) -> None:
        """Kills and closes it. Raises as `kill` does."""
        try:
            self.kill()
        finally:
            self.close()

    def close(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None
        self.connection.close()
        if self.peer is not None:
            self.peer.close()
        if self.own_files is not None:
            os.close(self.own_files)
            self.own_files = None
        if self._listens and self.refusals is not None:
            self.refusals.close()
        while self.descriptors:
            os.close(self.descriptors.pop())


def _replace(descriptor: int, content: bytes) -> None:
    os.ftruncate(descriptor, 0)
    view = memoryview(content)
    offset = 0
    while offset < len(view):
        offset += os.pwrite(descriptor, view[offset:], offset)


def _read(descriptor: int, most: int) -> Stream:
    """The first `most` bytes, and the size."""
    size = os.fstat(descriptor).st_size
    return Stream(os.pread(descriptor, min(size, most), 0), size) if size else NOTHING
