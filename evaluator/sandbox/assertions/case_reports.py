"""What a check says of one test case."""

from __future__ import annotations

import msgspec

from evaluator.sandbox.wire import BrokenFrameError


class CaseReport(msgspec.Struct, kw_only=True):
    """What the check found in one test case."""

    status: str
    """passed, failed, raised, skipped; unloadable, where its module could not be run."""
    type: str = ""
    message: str = ""
    line: int = 0
    failure: int | None = None
    op: str = ""
    actual: str | None = None
    expected: str | None = None
    source: str = ""
    names: list[tuple[str, str]] = []
    """Names that a failed assert reads, its sides apart, and their values."""
    setup: bool = False
    asserts: int = 0
    asked: int = 0
    """How often the completion has been asked for something in this process."""
    asked_now: int = 0
    """As often in this test case."""
    report: str = ""
    """Of the completion's exception that ended the case: type, message and lines, as JSON."""
    calls: list[str] = []
    """What was noted of the test's calls: see `inside/check_calls.py`."""
    lacking: list[str] = []
    """What the code asked of the machine that is not to be had in the sandbox, where that was to be noted."""
    memory_kib: int = 0
    """Of the completion's process, as it says."""
    final: bool = True
    """Whether a failure stands, for plain data decided it."""
    last: str = ""
    """What the test did last with an object of the completion's."""
    unsure: list[str] = []
    subclasses: list[str] = []


class LastWord(msgspec.Struct):
    """What a check's process says before it ends in the middle of a test case."""

    text: str
    final: bool
    last: str


def last_word_in(payload: bytes) -> LastWord:
    """Raises `BrokenFrameError`."""
    try:
        return msgspec.json.decode(payload, type=LastWord)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise BrokenFrameError("a last word that can't be read") from None


def case_report_in(payload: bytes) -> CaseReport:
    """Raises `BrokenFrameError`."""
    try:
        return msgspec.json.decode(payload, type=CaseReport)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise BrokenFrameError("a finding that can't be read") from None
