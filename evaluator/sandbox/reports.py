"""What comes in JSON from inside: how a run or a process ended. Read strictly, trusted for display alone."""

from __future__ import annotations

import re
import signal

import msgspec

from evaluator.model import Frame, Traceback
from evaluator.sandbox.wire import BrokenFrameError
from evaluator.syntax import lines_of

_TYPE_CAP, _MESSAGE_CAP, _FUNCTION_CAP, _LINE_CAP = 200, 2100, 200, 500
_KEPT_FRAMES = 30
_MOST_OMITTED = 10**9
_MOST_KIB = 2**53


class Report(msgspec.Struct):
    """How a run ended, as the completion's process says."""

    failure: tuple[str, str, list[tuple[int, str]], int] | None = None
    exit_status: int = 0
    memory_kib: int = 0
    clean: bool = False


class Ended(msgspec.Struct):
    """How a process ended, as the zygote, which waited for it, says."""

    exit_status: int
    cpu_s: float
    memory_kib: int
    clean: bool = False
    """Whether another may be forked where it was: its files are as they were."""

    def told(self) -> str:
        """In words."""
        if self.exit_status >= 0:
            return f"the process ended with status {self.exit_status} before it answered"
        try:
            return f"ended by {signal.Signals(-self.exit_status).name}"
        except ValueError:
            return f"ended by signal {-self.exit_status}"


def report(payload: bytes) -> Report:
    """Raises `BrokenFrameError`."""
    try:
        told = msgspec.json.decode(payload, type=Report)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise BrokenFrameError("a report that can't be read") from None
    if not (0 <= told.exit_status <= 255 and 0 <= told.memory_kib <= _MOST_KIB):
        raise BrokenFrameError("a report of what can't be")
    return told


def traceback_of(told: Report, source: str) -> Traceback | None:
    """The exception of a report, its frames with their lines of the source. A frame of no such line is left out."""
    if told.failure is None:
        return None
    kind, message, frames, omitted = told.failure
    lines = lines_of(source)
    if lines[-1]:
        lines.append("")  # a SyntaxError may stand one line after the last
    shown = tuple(
        Frame(line, function[:_FUNCTION_CAP], lines[line - 1].strip()[:_LINE_CAP])
        for line, function in frames[-_KEPT_FRAMES:]
        if 0 < line <= len(lines)
    )
    return Traceback(kind[:_TYPE_CAP], message[:_MESSAGE_CAP], shown, min(max(omitted, 0), _MOST_OMITTED))


_STACK_LINE = re.compile(rb'^  File "(?:main|solution)\.py", line (\d{1,9}) in (.*)$', re.MULTILINE)


def stack_of(told: bytes, source: str) -> Traceback | None:
    """Where a process was when it was stopped, from what Python's faulthandler wrote; None when it told nothing."""
    frames = [(int(line), function.decode("utf-8", "replace")) for line, function in _STACK_LINE.findall(told)]
    if not frames:
        return None
    return traceback_of(Report(failure=("", "", frames[::-1], 0)), source)
