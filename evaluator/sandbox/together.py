"""A check in the completion's own process, the last resort: what is said there is nothing but the completion's word."""

from __future__ import annotations

import marshal

import msgspec

from evaluator.sandbox.checks import Check
from evaluator.sandbox.child import Child
from evaluator.sandbox.found import Found, found_in
from evaluator.sandbox.outcomes import Outcome
from evaluator.sandbox.watch import LimitWatch
from evaluator.sandbox.wire import BrokenFrameError

_CAP = 1024 * 1024


class TogetherCase:
    """One test case's conversation, for `Execution.converse`. The check is sent when the completion is loaded."""

    def __init__(self, check: Check, index: int) -> None:
        self._payload = marshal.dumps((index, msgspec.structs.asdict(check)), 2)
        self.found: Found | None = None
        self.gave_up: str | None = None

    @property
    def asked(self) -> bool:
        """Whether the completion has had a part in what was found."""
        return self.found is None or self.found.status != "unloadable"

    def hold(self, completion: Child, watch: LimitWatch, _outcome: Outcome) -> None:
        """Raises what `watch` raises, `EOFError` and `BrokenFrameError`."""
        completion.connection.send(b"R", self._payload, watch)
        kind, payload = completion.connection.receive(watch, _CAP)
        if kind != b"D":
            raise BrokenFrameError("a frame of a kind that has no place here")
        self.found = found_in(payload)
