"""The result of one run: how it ended and what it left, never whether that was right."""

from __future__ import annotations

from enum import Enum
from typing import Literal

import msgspec

from evaluator.model import Flag, Traceback

Doubt = Literal["", "starved", "unknown"]


class Status(Enum):
    """How a run on one input ended."""

    ANSWERED = "answered"
    """It returned a value (call), or ended by itself (stdin; see `exit_status`)."""
    RAISED = "raised"
    NOT_LOADED = "not loaded"
    """The code does not compile, or raised while it was loaded."""
    DIED = "died"
    """The process ended without an answer; `exit_status` says how."""
    TIME = "time"
    MEMORY = "memory"
    OUTPUT = "output"
    REJECTED = "rejected"
    """It broke the protocol."""
    FAULT = "fault"
    """The sandbox itself failed; this says nothing about the program."""


class Stream(msgspec.Struct, frozen=True):
    """What was written to stdout or stderr, up to the output cap."""

    data: bytes = b""
    size: int = 0

    def text(self) -> str:
        """As text; bytes that are not UTF-8 become escapes."""
        return self.data.decode("utf-8", "backslashreplace")


class Outcome(msgspec.Struct, kw_only=True):
    """One run: times in seconds, memory in MiB, and what it left. `value` is set for an ANSWERED call."""

    status: Status
    value: object = None
    right: bool = False
    """Whether a call returned exactly the value given to `run_ahead`; `value` is not set then."""
    exit_status: int | None = None
    """Negative: the signal that ended it."""
    failure: Traceback | None = None
    """The exception; for TIME and MEMORY the place at which it was stopped, with an empty type."""
    message: str = ""
    """For TIME, REJECTED, DIED and FAULT: what was observed."""
    doubt: Doubt = ""
    """For TIME, why the program may not be slow: it got no CPU (starved), or that is not counted (unknown)."""
    stdout: Stream = msgspec.field(default_factory=Stream)
    stderr: Stream = msgspec.field(default_factory=Stream)
    wall_s: float = 0.0
    cpu_s: float = 0.0
    memory_mb: float = 0.0
    notes: tuple[Flag, ...] = ()
    """What else was observed, with the evidence."""
