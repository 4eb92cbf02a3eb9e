"""A completion's process that forks once for each test case, seen from the parent."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from evaluator.sandbox.child import Child
from evaluator.sandbox.reports import Ended
from evaluator.sandbox.wire import BrokenFrameError, Watch

_ANSWER_CAP = 4096


class Template:
    """Forks processes as a zygote does, but confined already and with the program compiled."""

    def __init__(self, child: Child) -> None:
        """`child`: it has compiled the program and waits."""
        self.child = child
        self.folder, self.memory, self.usual = child.folder, child.memory, child.usual
        self.usable = True
        """Whether it can fork another: it lives, and its files are as they were."""

    def fork(self, descriptors: Sequence[int]) -> None:
        """Starts a child with the parent's connection and what becomes its 0, 1 and 2. Raises `OSError`."""
        self.child.connection.send_descriptors(b"F", descriptors)

    def kill_child(self) -> None:
        """Kills the child, and the template with it. Raises `OSError`, `EOFError`, or `SilenceError`."""
        self.usable = False
        self.child.kill()

    def await_end(self, watch: Watch | float) -> Ended:
        """How the child ended, when it is gone.

        Raises `EOFError` when the template has gone, which what it forks can't bring about, or what `watch` raises.
        """
        if self.child.ended is not None:
            return self.child.ended
        try:
            _, payload = self.child.connection.receive(watch, _ANSWER_CAP)
            ended = msgspec.json.decode(payload, type=Ended)
        except (BrokenFrameError, msgspec.DecodeError):
            raise EOFError("the template speaks nonsense") from None
        self.usable = self.usable and ended.clean
        return ended

    def close(self) -> None:
        """Ends it. Raises `OSError`, `EOFError`, or `SilenceError`."""
        try:
            self.child.kill()
        finally:
            self.child.close()
