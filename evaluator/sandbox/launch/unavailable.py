"""The error that says why no sandbox can be had, and what mends it."""

from __future__ import annotations


class SandboxUnavailable(RuntimeError):  # noqa: N818 - a state of the machine, and the name that callers know
    """No sandbox can be had on this machine. `mend` is one line that says what to do."""

    def __init__(self, reason: str, mend: str) -> None:
        super().__init__(f"no sandbox: {reason}; {mend}")
        self.reason = reason
        self.mend = mend
