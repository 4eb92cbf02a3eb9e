"""The messages of a test suite's process about one test case."""

from __future__ import annotations

import msgspec

from evaluator.sandbox.host.wire import BrokenFrameError


class CaseReport(msgspec.Struct, kw_only=True):
    """The test suite's report on one test case."""

    status: str
    """passed, failed, raised, skipped; unloadable if its module could not be run."""
    type: str = ""
    message: str = ""
    line: int = 0
    failure: int | None = None
    op: str = ""
    actual: str | None = None
    expected: str | None = None
    source: str = ""
    names: list[tuple[str, str]] = []
    """Names that a failed assert reads, except its sides, and their values."""
    setup: bool = False
    asserts: int = 0
    requests: int = 0
    """How many requests the completion got in this process."""
    case_requests: int = 0
    """The same for this test case."""
    report: str = ""
    """The completion's exception that ended the case: type, message and lines, as JSON."""
    lacking: list[str] = []
    """What the code needed from the machine and can't get in the sandbox, if that is noted."""
    memory_kib: int = 0
    """Of the completion's process, as reported by it."""
    final: bool = True
    """Whether a failure stands, because plain data decided it."""
    last: str = ""
    """The test's last operation on one of the completion's objects."""
    unsure: list[str] = []
    subclasses: list[str] = []


class LastMessage(msgspec.Struct):
    """The last message of a suite's process that ends in the middle of a test case."""

    text: str
    final: bool
    last: str


def last_message_in(payload: bytes) -> LastMessage:
    """Raises `BrokenFrameError`."""
    try:
        return msgspec.json.decode(payload, type=LastMessage)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise BrokenFrameError("an unreadable last message") from None


def case_report_in(payload: bytes) -> CaseReport:
    """Raises `BrokenFrameError`."""
    try:
        return msgspec.json.decode(payload, type=CaseReport)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise BrokenFrameError("an unreadable report") from None
