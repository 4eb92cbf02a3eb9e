"""What can go wrong: with one rollout, with one request, or with the whole collection."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

_LONGEST: Final = 500


class FailureClass(StrEnum):
    """What `_ng_failure_class` says, in the words of `nemo_gym/failure_kinds.py` (release 0.7.0)."""

    AGENT_REQUEST_FAILED = "agent_request_failed"
    """The model could not be asked: no connection, no answer in time, or an overloaded endpoint."""
    AGENT_RUN_ERROR = "agent_run_error"
    """The endpoint refused this request, or what it answered is no answer."""
    TRANSPORT_UNREACHABLE = "transport_unreachable"
    """The resources server could not be reached."""
    VERIFIER_ERROR = "verifier_error"
    """The resources server refused the rollout, or what it answered is no verified rollout."""
    SESSION_LOST = "session_lost"
    """The resources server was started anew again and again while the rollout was under way."""


class CollectError(Exception):
    """The collection can't begin or go on. One line: what is wrong, and how to mend it."""


class RolloutError(Exception):
    """One rollout came to nothing. The message is one line, without a key."""

    def __init__(self, kind: FailureClass, message: str, *, status: int | None = None, terminal: bool = False) -> None:
        super().__init__(one_line(message))
        self.kind = kind
        self.status = status
        """Of the HTTP answer, where there was one."""
        self.terminal = terminal
        """Whether the same request would be refused again."""


class TransientError(RolloutError):
    """The request may go well when it is made again. `wait_s`: how long the server asks to wait first."""

    def __init__(
        self, kind: FailureClass, message: str, *, status: int | None = None, wait_s: float | None = None
    ) -> None:
        super().__init__(kind, message, status=status)
        self.wait_s = wait_s


class SessionLostError(RolloutError):
    """The resources server no longer has what the rollout's tool calls did there: the rollout begins anew."""

    def __init__(self) -> None:
        super().__init__(FailureClass.SESSION_LOST, "the resources server lost the session of this rollout")


def one_line(text: str, longest: int = _LONGEST) -> str:
    """The text with its white space folded and nothing that could move a terminal's cursor, cut at its limit."""
    folded = " ".join(text[: 8 * longest].split())
    shown = "".join(character if character.isprintable() else "?" for character in folded)
    return shown if len(shown) <= longest else shown[: longest - 3] + "..."
