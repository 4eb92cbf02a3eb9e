"""A trace as data, read from what the traced process wrote: bounded, typed, and trusted only for display."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal, NamedTuple

import msgspec

_MOST_BYTES = 2 * 2**20

_Count = Annotated[int, msgspec.Meta(ge=0, le=10**12)]
_Line = Annotated[int, msgspec.Meta(ge=0, le=10**7)]
_Name = Annotated[str, msgspec.Meta(max_length=200)]
_Text = Annotated[str, msgspec.Meta(max_length=400)]
_Names = Annotated[dict[_Name, _Text], msgspec.Meta(max_length=64)]


class _StepRecord(msgspec.Struct, array_like=True, tag="step", forbid_unknown_fields=True):
    number: _Count
    line: _Line
    function: _Name
    depth: _Count
    frame: _Count
    before: _Count
    changed: _Names
    items: _Names
    whole: _Names


class _ReturnRecord(msgspec.Struct, array_like=True, tag="return", forbid_unknown_fields=True):
    at: _Count
    changed: _Names
    how: Literal["returned", "yielded", "ended"]
    """A generator without a result has ended."""
    value: _Text


class _RaiseRecord(msgspec.Struct, array_like=True, tag="raise", forbid_unknown_fields=True):
    at: _Count
    changed: _Names
    error: _Name
    message: _Text


class End(msgspec.Struct, frozen=True, array_like=True, tag="end", forbid_unknown_fields=True):
    """How the traced run ended, as its process says."""

    how: Literal["ended", "raised", "exited", "stopped"]
    steps: _Count
    value: Annotated[str, msgspec.Meta(max_length=5_000)] = ""
    """What the call returned, or the exception's message."""
    error: _Name = ""
    """The exception's type."""
    line: _Line = 0


_DECODER = msgspec.json.Decoder(_StepRecord | _ReturnRecord | _RaiseRecord | End)


class Change(NamedTuple):
    """A variable and its value, as text."""

    name: str
    value: str


class Step(msgspec.Struct):
    """One executed line: what it was about to read, and what changed until the frame's next line."""

    number: int
    """From 1. The numbers jump where steps were dropped."""
    line: int
    function: str
    depth: int
    frame: int
    """Which call it belongs to."""
    changed: list[Change] = msgspec.field(default_factory=list)
    items: list[Change] = msgspec.field(default_factory=list)
    """What the line reads by subscript, before it runs."""
    whole: list[Change] = msgspec.field(default_factory=list)
    """At some steps: the frame's variables before the line runs."""
    said: str = ""
    """What it returned, yielded or raised."""


class Trace(msgspec.Struct):
    """The first and the last steps of a run, and its end; without one, the process was killed."""

    steps: list[Step]
    end: End | None
    broken: bool = False
    """Whether it has lines that can't be read."""


def read(data: bytes, word: str, lines: int, first: int, last: int) -> Trace:
    """The trace among all that a process wrote, at most its `first` and its `last` steps. Never raises.

    `lines`: how many the code has.
    """
    trace = Trace([], None)
    by_number: dict[int, Step] = {}
    for raw in _records(data[:_MOST_BYTES], word.encode()):
        try:
            record = _DECODER.decode(raw)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            trace.broken = True
            continue
        if isinstance(record, End):
            trace.end = record
        elif isinstance(record, _StepRecord):
            before = trace.steps[-1].number if trace.steps else 0
            if record.number <= before or not 0 < record.line <= lines:
                trace.broken = True
                continue
            _change(by_number.get(record.before), record.changed)
            step = Step(record.number, record.line, record.function, min(record.depth, 10_000), record.frame)
            step.items, step.whole = _changes(record.items), _changes(record.whole)
            by_number[step.number] = step
            trace.steps.append(step)
        else:
            step_ended = by_number.get(record.at)
            _change(step_ended, record.changed)
            if step_ended is not None:
                step_ended.said = _said(record, step_ended.said)
    if len(trace.steps) > first + last:
        trace.steps = trace.steps[:first] + trace.steps[len(trace.steps) - last :]
    return trace


def _records(data: bytes, word: bytes) -> Iterator[bytes]:
    """The lines that begin with the word. The last one counts only if it is complete."""
    for line in data.split(b"\n")[:-1]:
        if line.startswith(word):
            yield line[len(word) :]


def _change(step: Step | None, changed: dict[str, str]) -> None:
    if step is not None:
        step.changed += _changes(changed)


def _changes(found: dict[str, str]) -> list[Change]:
    return [Change(name, value) for name, value in found.items()]


def _said(record: _ReturnRecord | _RaiseRecord, before: str) -> str:
    if isinstance(record, _RaiseRecord):
        return f"raised {record.error}: {record.message}" if record.message else f"raised {record.error}"
    if record.how == "ended":
        return f"{before}, ended" if before.startswith("yielded") else "ended"
    return f"{record.how} {record.value}" if record.value else ""
