"""Failures of one request, of one rollout, or of the whole collection."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from evaluator.graders.judge import call

_LONGEST: Final = 500


class FailureClass(StrEnum):
    """The values of `_ng_failure_class`, as in `nemo_gym/failure_kinds.py` (release 0.7.0)."""

    AGENT_REQUEST_FAILED = "agent_request_failed"
    """The model gave no answer: no connection, a time-out, or an overloaded endpoint."""
    AGENT_RUN_ERROR = "agent_run_error"
    """The endpoint refused this request or sent a malformed reply."""
    TRANSPORT_UNREACHABLE = "transport_unreachable"
    """The resources server could not be reached."""
    VERIFIER_ERROR = "verifier_error"
    """The resources server refused the rollout or sent a malformed reply."""
    SESSION_LOST = "session_lost"
    """The resources server restarted again and again during the rollout."""


class CollectError(Exception):
    """The collection can't start or continue. One line: what is wrong, and how to fix it."""


class RolloutError(Exception):
    """One rollout failed. The message is one line, without a key."""

    def __init__(self, kind: FailureClass, message: str, *, status: int | None = None, terminal: bool = False) -> None:
        super().__init__(one_line(message))
        self.kind = kind
        self.status = status
        """Of the HTTP answer, if there was one."""
        self.terminal = terminal
        """Whether the same request would be refused again."""


class TransientError(RolloutError):
    """A retry of the request may succeed. `wait_s`: seconds that the server asks to wait first."""

    def __init__(
        self, kind: FailureClass, message: str, *, status: int | None = None, wait_s: float | None = None
    ) -> None:
        super().__init__(kind, message, status=status)
        self.wait_s = wait_s


class SessionLostError(RolloutError):
    """The resources server lost the effects of the rollout's tool calls: the rollout starts again."""

    def __init__(self) -> None:
        super().__init__(FailureClass.SESSION_LOST, "the resources server lost the session of this rollout")


def one_line(text: str, longest: int = _LONGEST) -> str:
    """The text, at most `longest` characters, without line breaks and terminal control characters."""
    return call.one_line(text, longest)
