"""The error of a machine without a sandbox, with the fix."""

from __future__ import annotations


class SandboxUnavailable(RuntimeError):  # noqa: N818 - a state of the machine, and the name that callers know
    """This machine has no sandbox. `mend` says in one line how to fix it."""

    def __init__(self, reason: str, mend: str) -> None:
        super().__init__(f"no sandbox: {reason}; {mend}")
        self.reason = reason
        self.mend = mend

    def __reduce__(self) -> tuple[type[SandboxUnavailable], tuple[str, str]]:
        return type(self), (self.reason, self.mend)
