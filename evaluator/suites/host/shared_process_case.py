"""One test case of a suite that runs in the completion's own process, which could have forged the report."""

from __future__ import annotations

import marshal

import msgspec

from evaluator.sandbox.host.child import Child
from evaluator.sandbox.host.limits.watch import LimitWatch
from evaluator.sandbox.host.outcomes import Outcome, Status, report, traceback_of
from evaluator.sandbox.host.wire import BrokenFrameError
from evaluator.suites.host.case_reports import CaseReport, case_report_in
from evaluator.suites.host.suite_code import SuiteCode

_CAP = 1024 * 1024


class SharedProcessCase:
    """One test case, for `Execution.run_case`. The suite is sent once the completion is loaded."""

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
        kind, payload = completion.connection.receive(watch, _CAP)
        if kind != b"D":
            raise BrokenFrameError("a frame of an unexpected kind")
        self.report = case_report_in(payload)
        outcome.memory_mb = max(outcome.memory_mb, self.report.memory_kib / 1024)
        if self.report.report:
            outcome.status = Status.RAISED
            outcome.failure = traceback_of(report(self.report.report.encode()), self._source)
