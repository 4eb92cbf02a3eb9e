"""A zygote whose next process is forked and confined while one runs; see `guest/sharing.py`."""

from __future__ import annotations

import time
from collections.abc import Sequence

from evaluator.options import Settings, Way
from evaluator.sandbox.guest.sharing import ENDED
from evaluator.sandbox.host.child import GRACE_S, Child
from evaluator.sandbox.host.launch.settings import Warm
from evaluator.sandbox.host.reports import Ended
from evaluator.sandbox.host.wire import BrokenFrameError, Watch
from evaluator.sandbox.host.zygotes import Zygote

_ANSWER_CAP = 4096


class SharedZygote(Zygote):
    """Has one process that runs, one that waits, and perhaps one whose end nobody waits for yet."""

    def __init__(self, settings: Settings, way: Way, warm: Warm) -> None:
        """Raises as `Zygote` does."""
        self._forked = 0
        self._taken = 0
        self._ended = 0
        """How many processes have started, were taken, and have ended. They end in the order in which they started."""
        self._ready: Child | None = None
        super().__init__(settings, way, warm)

    def take(self) -> Child:
        """The process that waits, or a new one. The one before it ends before this returns.

        Raises `OSError`, `EOFError`, or `SilenceError`.
        """
        child, self._ready = self._ready, None
        child = child or Child(self)
        try:
            child.greet()
            while self._ended < self._taken:
                self._receive_end(time.monotonic() + GRACE_S)
        except BaseException:
            child.close()
            raise
        self._taken += 1
        return child

    def prepare_next(self) -> None:
        """Starts the process after the one that was taken. Raises `OSError`."""
        if self._ready is None:
            self._ready = Child(self)

    def part_with(self, child: Child) -> None:
        """Ends the process that was taken, and waits for its end only before the next order. Raises `OSError`."""
        try:
            if child.ended is None:
                self.kill_child()
        finally:
            child.close()

    def fork(self, descriptors: Sequence[int]) -> None:
        self._control.send_descriptors(b"F" + bytes([self._forked % 256]), descriptors)
        self._forked += 1

    def kill_child(self) -> None:
        self._control.send_descriptors(b"K" + bytes([(self._taken - 1) % 256]), [])

    def await_end(self, watch: Watch | float) -> Ended:
        """Raises also `EOFError` if another process has ended: only the waiting one can, and should not."""
        return self._receive_end(watch)

    def _receive_end(self, watch: Watch | float) -> Ended:
        try:
            kind, record = self._control.receive(watch, _ANSWER_CAP)
        except BrokenFrameError:
            kind, record = b"", b""
        if kind != b"E":
            raise EOFError("the zygote sent a malformed reply")
        number, exit_status, cpu_s, memory_kib = ENDED.unpack(record)
        if number != self._ended % 256:
            raise EOFError("a process ended before it got its order")
        self._ended += 1
        return Ended(exit_status, cpu_s, memory_kib)

    def close(self) -> None:
        if self._ready is not None:
            self._ready.close()
            self._ready = None
        super().close()
