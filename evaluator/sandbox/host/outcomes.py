"""The result of one run: how it ended and what it left, never whether that was right."""

from __future__ import annotations

import re
import signal
from collections.abc import Mapping
from enum import Enum
from typing import Final, Literal

import msgspec

from evaluator.model import Flag, Frame, Traceback
from evaluator.sandbox.host.wire import BrokenFrameError
from evaluator.syntax import lines_of

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


NOTHING: Final = Stream()

Right = Mapping[bytes, str]
"""Answers to one input that need not be read to know that they are right: the texts of a call's answer, as
`values.encoded_answer` writes them, or what a program may write to stdout; each with what `Outcome.right` is then."""


class Outcome(msgspec.Struct, kw_only=True):
    """One run: times in seconds, memory in MiB, and what it left. `value` is set for an ANSWERED call."""

    status: Status
    value: object = None
    right: str | None = None
    """What `Right` has for the answer, if that is one of its; `value` is not set then."""
    exit_status: int | None = None
    """Negative: the signal that ended it."""
    failure: Traceback | None = None
    """The exception; for TIME and MEMORY the place at which it was stopped, with an empty type."""
    message: str = ""
    """For TIME, REJECTED, DIED and FAULT: what was observed."""
    doubt: Doubt = ""
    """For TIME, why the program may not be slow: it got no CPU (starved), or that is not counted (unknown)."""
    stdout: Stream = NOTHING
    stderr: Stream = NOTHING
    wall_s: float = 0.0
    cpu_s: float = 0.0
    memory_mb: float = 0.0
    notes: tuple[Flag, ...] = ()
    """What else was observed, with the evidence."""


REPORT_CAP = 256 * 1024
_TYPE_CAP, _MESSAGE_CAP, _FUNCTION_CAP, _LINE_CAP = 200, 2100, 200, 500
_KEPT_FRAMES = 30
_MOST_OMITTED = 10**9
_MOST_KIB = 2**53


class Report(msgspec.Struct, forbid_unknown_fields=True):
    """How a run ended, as reported by the completion's process.

    Neither this nor any other message from inside holds a field of any shape, so that none is nested deeply.
    """

    failure: tuple[str, str, list[tuple[int, str]], int] | None = None
    exit_status: int = 0
    memory_kib: int = 0
    clean: bool = False


class Ended(msgspec.Struct, forbid_unknown_fields=True):
    """How a process ended, as reported by the zygote, which waited for it."""

    exit_status: int
    cpu_s: float
    memory_kib: int
    clean: bool = False
    """Whether the same template can fork another: its files are unchanged."""

    def text(self) -> str:
        """For a message."""
        if self.exit_status >= 0:
            return f"the process ended with status {self.exit_status} before it answered"
        try:
            return f"ended by {signal.Signals(-self.exit_status).name}"
        except ValueError:
            return f"ended by signal {-self.exit_status}"


def report(payload: bytes) -> Report:
    """Raises `BrokenFrameError`."""
    try:
        decoded = msgspec.json.decode(payload, type=Report)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise BrokenFrameError("a report that can't be read") from None
    if not (0 <= decoded.exit_status <= 255 and 0 <= decoded.memory_kib <= _MOST_KIB):
        raise BrokenFrameError("a report with impossible numbers")
    return decoded


def traceback_of(ended: Report, source: str) -> Traceback | None:
    """The exception of a report, with the source line of each frame. A frame without such a line is left out."""
    if ended.failure is None:
        return None
    kind, message, frames, omitted = ended.failure
    lines = lines_of(source)
    if lines[-1]:
        lines.append("")  # a SyntaxError may be one line after the last
    shown = tuple(
        Frame(line, function[:_FUNCTION_CAP], lines[line - 1].strip()[:_LINE_CAP])
        for line, function in frames[-_KEPT_FRAMES:]
        if 0 < line <= len(lines)
    )
    return Traceback(kind[:_TYPE_CAP], message[:_MESSAGE_CAP], shown, min(max(omitted, 0), _MOST_OMITTED))


_STACK_LINE = re.compile(rb'^  File "(?:main|solution)\.py", line (\d{1,9}) in (.*)$', re.MULTILINE)


def stack_of(dump: bytes, source: str) -> Traceback | None:
    """Where a process was when it was stopped, from the dump of Python's faulthandler; None if that has no frames."""
    frames = [(int(line), function.decode("utf-8", "replace")) for line, function in _STACK_LINE.findall(dump)]
    if not frames:
        return None
    return traceback_of(Report(failure=("", "", frames[::-1], 0)), source)
