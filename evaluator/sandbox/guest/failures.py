"""Describes an exception: its type, its message and the lines of the completion's own code."""

from __future__ import annotations

import os
import sys
from types import TracebackType

from evaluator.sandbox.guest.encode import type_name

SOURCE_NAMES = ("main.py", "solution.py")
_KEPT = 15
_MESSAGE_CAP = 2000

Frames = list[tuple[int, str]]
Report = tuple[str, str, Frames, int]
"""Type, message, (line, function) of each frame outermost first, number of frames left out of the middle."""


def report(error: BaseException) -> Report:
    kind = type(error)
    frames, message = _own_frames(error.__traceback__), _message(error)
    if isinstance(error, SyntaxError) and error.filename in SOURCE_NAMES:
        frames.append((error.lineno or 1, "<module>"))
        message = _shortened(str(error.msg))  # str(error) repeats file and line
    omitted = max(0, len(frames) - 2 * _KEPT)
    if omitted:
        frames = frames[:_KEPT] + frames[-_KEPT:]
    return type_name(kind), message, frames, omitted


def _own_frames(traceback: TracebackType | None) -> Frames:
    frames: Frames = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if code.co_filename in SOURCE_NAMES:
            frames.append((traceback.tb_lineno or code.co_firstlineno, code.co_name))
        traceback = traceback.tb_next
    return frames


def _message(error: BaseException) -> str:
    try:
        text = str(error)
    except BaseException:
        return "(its message can't be shown: __str__ raises)"
    return _shortened(text)


def _shortened(text: str) -> str:
    kept = text if len(text) <= _MESSAGE_CAP else text[:_MESSAGE_CAP] + f"... ({len(text)} characters)"
    return kept.encode("utf-8", "backslashreplace").decode()


def lines_of(source: str) -> list[str]:
    """The lines as Python's compiler counts them: `str.splitlines` also splits at form feeds and the like."""
    return source.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def printed(error: BaseException, source_lines: list[str]) -> str:
    """The traceback as Python prints it, with only the completion's own frames."""
    kind, message, frames, omitted = report(error)
    lines = ["Traceback (most recent call last):"]
    for position, (line, function) in enumerate(frames):
        if omitted and position == _KEPT:
            lines.append(f"  [{omitted} more frames]")
        lines.append(f'  File "{SOURCE_NAMES[0]}", line {line}, in {function}')
        if 0 < line <= len(source_lines):
            lines.append(f"    {source_lines[line - 1].strip()}")
    lines.append(f"{kind}: {message}" if message else kind)
    return "\n".join(lines) + "\n"


def exit_status(error: SystemExit) -> int:
    """The exit status that Python would use; a code that is not a number is printed on stderr and counts as 1."""
    code = error.code
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xFF
    try:
        print(code, file=sys.stderr)
    except Exception:
        os.write(2, b"\n")
    return 1
