"""What a task is made of: its mode, its test cases, its limits, and the error for a row that can't be a record."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final

import msgspec

JsonValue = Any
"""A decoded JSON value. Rows of users' files can't be typed more precisely before they are validated."""


class RecordError(ValueError):
    """A row that can't be a record. The message names the wrong field and the fix."""


MADE_ID: Final = "prompt-"
"""How a task's id begins that was made from its prompt."""
_BRIEF: Final = reprlib.Repr()
_BRIEF.maxstring = _BRIEF.maxother = 120


def brief(value: JsonValue) -> str:
    """A value of a user's file for a message: its `repr`, without the middle if it is long."""
    try:
        return _BRIEF.repr(value)
    except ValueError:  # Python writes no number of over 4,300 digits
        return f"{type(value).__name__} with a very long number"


class Mode(StrEnum):
    """How a task's test cases are run."""

    CALL = "call"
    STDIN = "stdin"
    ASSERT = "assert"
    UNITTEST = "unittest"
    ANSWER = "answer"
    """No program: the answer itself is graded (see `evaluator.graders`)."""


_MOST: Final = 10**9
_MOST_AT_ONCE: Final = 10_000
"""More than any machine has, and less than the kernel's functions accept."""


class Limits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a completion may use. Seconds, mebibytes and counts; each limit has its own verdict.

    `wall_s`, `cpu_s`, `memory_mb` (resident), `virtual_mb` (address space) and `output_mb` apply to each
    test case, `total_s` to the whole completion, `threads` and `processes` at any moment.
    """

    wall_s: float = 10.0
    cpu_s: float = 10.0
    total_s: float = 60.0
    memory_mb: float = 1024.0
    virtual_mb: float = 4096.0
    output_mb: float = 4.0
    threads: int = 64
    processes: int = 0

    def replaced(self, overrides: Mapping[str, float] | None) -> Limits:
        """These limits, some fields replaced. Raises `RecordError` for an unknown field or a bad value."""
        if not overrides:
            return self
        return limits_from(msgspec.structs.asdict(self) | dict(overrides))


def limits_from(row: Mapping[str, JsonValue]) -> Limits:
    """Limits from a row's `limits` object; absent fields take their defaults. Raises `RecordError`."""
    try:
        limits = msgspec.convert(dict(row), Limits)
    except (msgspec.ValidationError, UnicodeEncodeError) as error:  # the second: half a surrogate pair
        known = ", ".join(Limits.__struct_fields__)
        wrong = error if isinstance(error, msgspec.ValidationError) else "Expected numbers, got text"
        raise RecordError(f"limits: {wrong} (fields: {known})") from None
    for name, value in msgspec.structs.asdict(limits).items():
        most = _MOST_AT_ONCE if name in ("threads", "processes") else _MOST
        if not 0 <= value < math.inf or (value == 0 and name != "processes"):
            raise RecordError(f"limits.{name} is {value}: give a number above 0")
        if value > most:
            raise RecordError(f"limits.{name} is too large: give at most {most:,}")
    return limits


class TestCase(msgspec.Struct, frozen=True):
    """One input with its expected output, both as text.

    call: `input` has one JSON value per line, one line per argument; `expected` is one JSON value.
    stdin: the whole input and the whole expected output.
    assert: `input` is the statement's source, `expected` the source of the expected value.
    """

    __test__ = False  # otherwise pytest collects it as a test class

    index: int
    input: str
    expected: str
    also: str | None = None
    """call: another JSON value that is right, where nothing says which one is meant (see `given_tests`)."""
