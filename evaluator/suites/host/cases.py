"""A test suite as it is sent into the sandbox, and the messages about one test case that come back."""

from __future__ import annotations

import marshal
from typing import TypeVar

import msgspec

from evaluator.sandbox.host.child import Child
from evaluator.sandbox.host.limits.watch import LimitWatch
from evaluator.sandbox.host.outcomes import Outcome, Status, report, traceback_of
from evaluator.sandbox.host.program import SuiteNeeds
from evaluator.sandbox.host.wire import BrokenFrameError

REPORT_CAP = 1024 * 1024
"""Bytes of a message."""
_Message = TypeVar("_Message", bound=msgspec.Struct)


class SuiteCode(SuiteNeeds, frozen=True, kw_only=True):
    """What the process that runs a suite gets."""

    test: str
    """Source of the test module."""
    form: str
    """"statements" of `check`; "module" for top-level statements; "methods" of classes, or test functions."""
    spans: tuple[tuple[int, int, bool], ...]
    """For statements: each case's first and last, and whether the last one judges; (0, -1, True) is the whole body."""
    methods: tuple[tuple[str, str], ...]
    """For methods: class and method of each case; the class of a function is empty."""
    preamble: str
    definitions: str
    """Source of the prompt's helpers, and of imports that the test needs but lacks."""
    entry_point: str | None
    names: tuple[str, ...]
    """Names that the test reads and the dataset does not define: the completion's. Rather too many than too few."""
    touched: tuple[str, ...] = ()
    """Names of the test that may refer to the completion: for the description of a failure."""


class CaseReport(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
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
    nothing: bool = False
    """Whether arrays without items were compared."""
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
    unsure: list[str] = []
    subclasses: list[str] = []


class LastMessage(msgspec.Struct, forbid_unknown_fields=True):
    """The last message of a suite's process that ends in the middle of a test case."""

    text: str
    final: bool


def message_in(payload: bytes, kind: type[_Message]) -> _Message:
    """A message of this kind. Raises `BrokenFrameError`."""
    try:
        return msgspec.json.decode(payload, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise BrokenFrameError(f"an unreadable {kind.__name__}") from None


class SharedProcessCase:
    """One test case of a suite in the completion's own process, which could have forged the report.

    For `Execution.run_case`. The suite is sent once the completion is loaded.
    """

    def __init__(self, suite: SuiteCode, index: int, source: str, code: bytes) -> None:
        """`code`: the suite's compiled code, or empty."""
        self._source = source
        self._payload = marshal.dumps((index, msgspec.structs.asdict(suite), code), 2)
        self.report: CaseReport | None = None

    @property
    def used_completion(self) -> bool:
        """Whether the completion took part in the result."""
        return self.report is None or self.report.status != "unloadable"

    def run(self, completion: Child, watch: LimitWatch, outcome: Outcome) -> None:
        """Raises what `watch` raises, `EOFError` and `BrokenFrameError`."""
        completion.connection.send(b"R", self._payload, watch)
        kind, payload = completion.connection.receive(watch, REPORT_CAP)
        if kind != b"D":
            raise BrokenFrameError("a frame of an unexpected kind")
        self.report = message_in(payload, CaseReport)
        outcome.memory_mb = max(outcome.memory_mb, self.report.memory_kib / 1024)
        if self.report.report:
            outcome.status = Status.RAISED
            outcome.failure = traceback_of(report(self.report.report.encode()), self._source)
