"""JSON reports from inside the sandbox: how a run or a process ended. Read strictly, trusted only for display."""

from __future__ import annotations

import re
import signal

import msgspec

from evaluator.model import Frame, Traceback
from evaluator.sandbox.host.wire import BrokenFrameError
from evaluator.syntax import lines_of

REPORT_CAP = 256 * 1024
_TYPE_CAP, _MESSAGE_CAP, _FUNCTION_CAP, _LINE_CAP = 200, 2100, 200, 500
_KEPT_FRAMES = 30
_MOST_OMITTED = 10**9
_MOST_KIB = 2**53


class Report(msgspec.Struct):
    """How a run ended, as reported by the completion's process."""

    failure: tuple[str, str, list[tuple[int, str]], int] | None = None
    exit_status: int = 0
    memory_kib: int = 0
    clean: bool = False


class Ended(msgspec.Struct):
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
