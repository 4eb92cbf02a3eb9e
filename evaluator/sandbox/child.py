"""A completion's process, seen from the parent: its connection and the files that are its 0, 1 and 2."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import time
from collections.abc import Sequence
from typing import Protocol

from evaluator.sandbox.inside.channel import STACK_SIGNAL
from evaluator.sandbox.launch.memory_cgroup import MemoryCgroup
from evaluator.sandbox.limits.refusals import Refusals
from evaluator.sandbox.limits.starvation import Priority
from evaluator.sandbox.reports import Ended
from evaluator.sandbox.streams import MemoryFile
from evaluator.sandbox.wire import BrokenFrameError, Connection, Watch

_START_S = 10.0
_GRACE_S = 10.0
"""For the kernel to end a process and free its memory, on a busy machine."""
_STACK_S, _STACK_LOOK_S, _STACK_CAP = 0.5, 0.002, 64 * 1024
"""How long to wait for a stack: on a busy machine a process may well get no CPU for a tenth of a second."""


class Forker(Protocol):
    """Forks processes, one at a time: a zygote, or a process that forks for each test case."""

    folder: str | None
    memory: MemoryCgroup | None
    usual: Priority | None

    def fork(self, descriptors: Sequence[int]) -> None: ...
    def kill_child(self) -> None: ...
    def await_end(self, watch: Watch | float) -> Ended: ...


class Child:
    """Forked by `forker`, which has one child at a time. To be ended by `wait` or `kill`, then closed."""

    def __init__(self, forker: Forker, stdin: bytes, peer: socket.socket | None = None) -> None:
        """Starts it and waits until it says so. Raises `OSError`, `EOFError`, or `SilenceError`.

        `peer`: its end of a connection to another process.
        """
        self._forker = forker
        self.folder = forker.folder
        """Where it may write, when that is in our own file system."""
        self.memory = forker.memory
        """What counts its memory, where the kernel does."""
        self.usual = forker.usual
        """The priority that it was started with; None where the kernel does not say how long it waits for a CPU."""
        self.loaded = False
        self.used = False
        self._listens = False
        self.ended: Ended | None = None
        self.refusals: Refusals | None = None
        self.peer: socket.socket | None = None
        """The other end of a connection that it has, for the process that it is to speak with; closed with this."""
        self.own_files: int | None = None
        """A descriptor of its /tmp, where it gives that to another process; closed with this."""
        self._files = MemoryFile(stdin), MemoryFile(), MemoryFile()
        self._stack = MemoryFile()
        ours, theirs = socket.socketpair()
        # The kernel tells the process's number with its first frame.
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self.connection = Connection(ours)
        try:
            with theirs:
                forker.fork([theirs.fileno(), *self.given, *([peer.fileno()] if peer is not None else ())])
            self.number = self.connection.receive_hello(time.monotonic() + _START_S)
            # It waits for its order now, so the number is still its own; later it may be another process's.
            self._handle = os.fdopen(os.pidfd_open(self.number), "rb", buffering=0)
        except BaseException:
            self._close_files()
            raise

    @property
    def given(self) -> tuple[int, ...]:
        """The descriptors of all files that it was given, here."""
        return tuple(file.descriptor for file in (*self._files, self._stack))

    @property
    def output(self) -> tuple[MemoryFile, MemoryFile]:
        """stdout and stderr."""
        return self._files[1:]

    def listen(self, watch: Watch, threads: int) -> None:
        """Takes the descriptor by which the kernel tells of refused calls. Raises as `receive_descriptor` does."""
        self.refusals = Refusals(self.connection.receive_descriptor(b"N", watch), threads)
        self._listens = True
        self.connection.attend(self.refusals)

    def attend(self, refusals: Refusals) -> None:
        """Those of the template that forked it, who has the same filter."""
        self.refusals = refusals
        self.connection.attend(refusals)

    def renew(self, stdin: bytes) -> None:
        """Makes the files as new for the next input. Raises `BrokenFrameError` when a frame came unasked."""
        if self.connection.has_input():
            raise BrokenFrameError("a frame that nobody asked for")
        for file, content in zip(self._files, (stdin, b"", b""), strict=True):
            file.replace(content)

    def wait(self, watch: Watch | float) -> Ended:
        """How it ended, when it and everything that it started are gone. Raises what `watch` raises, `EOFError`."""
        if self.ended is None:
            self.ended = self._forker.await_end(watch)
        return self.ended

    def stack(self) -> bytes:
        """Where it is at this moment, as Python's faulthandler writes it; empty when it does not say so at once."""
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._handle.fileno(), STACK_SIGNAL)
        deadline = time.monotonic() + _STACK_S
        while time.monotonic() < deadline:
            told = self._stack.read(_STACK_CAP).data
            if told.endswith(b"\n") and told.count(b"\n") > 1:
                return told
            time.sleep(_STACK_LOOK_S)
        return b""

    def kill(self) -> Ended:
        """Kills it with everything that it started; returns when all is gone."""
        if self.ended is None:
            self._forker.kill_child()
            self.ended = self._forker.await_end(time.monotonic() + _GRACE_S)
        return self.ended

    def close(self) -> None:
        self._handle.close()
        self._close_files()

    def _close_files(self) -> None:
        self.connection.close()
        if self.peer is not None:
            self.peer.close()
        if self.own_files is not None:
            os.close(self.own_files)
            self.own_files = None
        if self._listens and self.refusals is not None:
            self.refusals.close()
        for file in (*self._files, self._stack):
            file.close()
