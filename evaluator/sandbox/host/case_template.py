"""A completion's process that forks once for each test case, seen from the parent."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from evaluator.sandbox.host.child import Child
from evaluator.sandbox.host.reports import Ended
from evaluator.sandbox.host.wire import BrokenFrameError, Watch

_ANSWER_CAP = 4096


class Template:
    """Forks processes like a zygote, but is already confined and has compiled the program."""

    def __init__(self, child: Child) -> None:
        """`child`: a process that has compiled the program and waits."""
        self.child = child
        self.folder, self.memory, self.priority = child.folder, child.memory, child.priority
        self.usable = True
        """Whether it can fork another: it is alive, and its files are unchanged."""

    def fork(self, descriptors: Sequence[int]) -> None:
        """Starts a child with the parent's connection and its descriptors 0, 1 and 2. Raises `OSError`."""
        self.child.connection.send_descriptors(b"F", descriptors)

    def kill_child(self) -> None:
        """Kills the child and the template. Raises `OSError`, `EOFError`, or `SilenceError`."""
        self.usable = False
        self.child.kill()

    def await_end(self, watch: Watch | float) -> Ended:
        """Waits for the child's end and returns how it ended.

        Raises what `watch` raises, or `EOFError` if the template has ended, which no child of it can cause.
        """
        if self.child.ended is not None:
            return self.child.ended
        try:
            _, payload = self.child.connection.receive(watch, _ANSWER_CAP)
            ended = msgspec.json.decode(payload, type=Ended)
        except (BrokenFrameError, msgspec.DecodeError):
            raise EOFError("the template sent a malformed reply") from None
        self.usable = self.usable and ended.clean
        return ended

    def close(self) -> None:
        """Ends it. Raises `OSError`, `EOFError`, or `SilenceError`."""
        self.child.end()
