"""Why a judge gave no score, in one line for the user."""

from __future__ import annotations

_LONGEST = 300


class JudgeError(Exception):
    """There is no judgement. One line: what failed, and how to fix it if that helps."""


class CallError(Exception):
    """One call gave no judgement. `again`: whether another may; `wait_s`: the wait that the server requests first."""

    def __init__(self, message: str, *, again: bool, wait_s: float | None = None) -> None:
        super().__init__(message)
        self.again = again
        self.wait_s = wait_s


def one_line(text: str, longest: int = _LONGEST) -> str:
    """The text with its white space folded and without control characters, cut at its limit."""
    folded = " ".join(text[: 8 * longest].split())
    shown = "".join(character if character.isprintable() else "?" for character in folded)
    return shown if len(shown) <= longest else shown[: longest - 3] + "..."
