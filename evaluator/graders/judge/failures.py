"""Why a judge did not judge, in one line that a user reads."""

from __future__ import annotations

_LONGEST = 300


class JudgeError(Exception):
    """There is no judgement. One line: what failed, and where it helps, how to mend it."""


class CallError(Exception):
    """One call gave no judgement. `again`: whether another may; `wait_s`: how long the server asks to wait first."""

    def __init__(self, message: str, *, again: bool, wait_s: float | None = None) -> None:
        super().__init__(message)
        self.again = again
        self.wait_s = wait_s


def one_line(text: str, longest: int = _LONGEST) -> str:
    """The text with its white space folded and without control characters, cut at its limit."""
    folded = " ".join(text[: 8 * longest].split())
    shown = "".join(character if character.isprintable() else "?" for character in folded)
    return shown if len(shown) <= longest else shown[: longest - 3] + "..."
