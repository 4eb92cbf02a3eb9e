"""The process that runs a test suite, seen from the parent.

It has its own connection to the completion's process, and reads the answers as the parent would, with the same caps.
The parent holds both clocks and measures both processes. What ends the completion's process ends the test case here,
and is never raised in the suite.
"""

from __future__ import annotations

import contextlib
import marshal
import time

import msgspec

from evaluator.model import Limits
from evaluator.sandbox import Sandbox
from evaluator.sandbox.host.child import Child, Forker
from evaluator.sandbox.host.limits.watch import LimitExceeded, LimitWatch
from evaluator.sandbox.host.outcomes import Outcome, Status, report, traceback_of
from evaluator.sandbox.host.program import FaultError, Program, confinement
from evaluator.sandbox.host.wire import CONNECTION_ERRORS, BrokenFrameError, SilenceError, Watch
from evaluator.suites.host.cases import REPORT_CAP, CaseReport, LastMessage, SuiteCode, message_in

NOT_POSSIBLE = "not possible in two processes: "
"""How a message begins, if the test must run in the completion's process."""
_TASKS = 16
_GONE_S = 0.5
_PATIENCE_S = 3600.0
_OUT_OF_MEMORY = "ended by the kernel: out of memory (limits.memory_mb)"


class SuiteProcess:
    """One process that runs a suite, test case after test case. Close it."""

    def __init__(
        self,
        sandbox: Sandbox,
        program: Program,
        suite: SuiteCode,
        limits: Limits,
        completion: Child,
    ) -> None:
        """`completion`: the process that `Execution.restart` returned. Raises `FaultError`, `SandboxUnavailable`."""
        zygote = self._zygote = sandbox.suite_zygote(suite.test, suite.preamble, suite.definitions)
        self._program = program
        self._suite = suite
        self._compiled = sandbox.compiled
        self._limits = msgspec.structs.replace(limits, processes=0, threads=max(limits.threads, _TASKS))
        self._may_send_code = False
        self.usable = True
        """Whether another test case can run in it: not once it has ended or stopped in the middle of one."""
        zygote.limit_memory(limits.memory_mb)
        try:
            self.child = Child.started(self._forker(completion.own_files), peer=completion.peer)
        except CONNECTION_ERRORS as error:
            raise self.fault(error) from error
        if completion.peer is not None:
            completion.peer.close()
        self.child.used = True
        if completion.refusals is not None:
            self.child.attend(completion.refusals)
        try:
            self._start(completion.own_files)
        except (*CONNECTION_ERRORS, LimitExceeded) as error:
            self.close()
            raise self.fault(error) from error

    def _forker(self, files: int | None) -> Forker:
        """A template's forks all have the same files, so a process that shares a completion's comes from the zygote."""
        if files is None:
            return self._zygote.template(self._confinement("suites"))
        self._zygote.end_template()
        return self._zygote

    def _start(self, files: int | None) -> None:
        connection, watch = self.child.connection, self._watch()
        order = self._order() if files is None else self._order() | self._confinement("suite")
        connection.send(b"I", marshal.dumps(order, 2), watch)
        if files is None:
            return
        connection.send_descriptors(b"\0\0\0\1M", [files])
        kind, _ = connection.receive(watch, REPORT_CAP)
        if kind != b"L":
            raise BrokenFrameError("it does not start")

    def _order(self) -> dict[str, object]:
        suite, code = self._suite, self._compiled.of(self._suite)
        self._may_send_code = not code
        return {**msgspec.structs.asdict(suite), "code": code}

    def _confinement(self, role: str) -> dict[str, object]:
        """The limits of the process that runs the suite, or of the template that it is forked from."""
        forks, counted = role == "suites", self._zygote.memory is not None
        confined = confinement(self._limits, memory_counted=counted, forks=forks, spare_tasks=_TASKS)
        return {**confined, "role": role, "shares_files": "" if forks else "takes"}

    def receive(self, watch: Watch) -> tuple[bytes, bytes]:
        """Kind and payload of its report on a test case. Raises as `Connection.receive` does.

        Its first message may be its compiled code, for the next completion: it has heard nothing of this one yet.
        """
        kind, payload = self.child.connection.receive(watch, REPORT_CAP)
        may_send, self._may_send_code = self._may_send_code, False
        if kind != b"C" or not may_send:
            return kind, payload
        if payload:
            self._compiled.keep(self._suite, payload)
        return self.child.connection.receive(watch, REPORT_CAP)

    def _watch(self) -> LimitWatch:
        """Watches its CPU time and memory; the wall clock is the completion's, which it waits for."""
        return LimitWatch(self.child, self._limits, self._limits.total_s + _PATIENCE_S)

    def fault(self, error: Exception) -> FaultError:
        """The sandbox failed; its zygote must not be used again."""
        self._zygote.kill()
        return FaultError(f"the test suite's process does not answer: {error!r}")

    def case(self, index: int) -> SuiteCase:
        """One test case, for `Execution.run_case`."""
        return SuiteCase(self, index, self._program.source)

    def soon(self, completion: Child) -> LimitWatch:
        """How long to wait for a completion that is about to end."""
        return LimitWatch(completion, self._limits, _GONE_S)

    def last_message(self) -> LastMessage | None:
        """Its report if the completion's process ended in the middle of a test case; None if none came."""
        try:
            kind, payload = self.child.connection.receive(time.monotonic() + _GONE_S, REPORT_CAP)
            return message_in(payload, LastMessage) if kind == b"E" else None
        except CONNECTION_ERRORS:
            return None

    def begin(self) -> LimitWatch:
        """Prepares for a test case and returns the watch over it."""
        if self.child.connection.has_input():
            raise self.fault(BrokenFrameError("an unrequested frame"))
        return self._watch()

    def why_ended(self, watch: LimitWatch) -> tuple[Status, str]:
        """Why it ended in the middle of a test case. Raises `FaultError` if the zygote ended."""
        try:
            ended = self.child.wait(watch).text()
        except (*CONNECTION_ERRORS, LimitExceeded) as error:
            fault = self.fault(error)
            if not self._zygote.out_of_memory():
                raise fault from error
            return Status.MEMORY, _OUT_OF_MEMORY
        return (Status.MEMORY, _OUT_OF_MEMORY) if self._zygote.out_of_memory() else (Status.DIED, ended)

    def close(self) -> None:
        """Ends it with all that is in it."""
        was_usable, self.usable = self.usable, False
        with contextlib.suppress(*CONNECTION_ERRORS):
            if was_usable:
                self._close_politely()
            self.child.kill()
        if self.child.ended is None:
            self._zygote.kill()
        self.child.close()

    def _close_politely(self) -> None:
        """It waits for its next order, so it ends by itself, and what forked it can fork again."""
        with contextlib.suppress(SilenceError):
            self.child.connection.send(b"G")
            self.child.wait(time.monotonic() + _GONE_S)


class _BothClocks:
    """The clocks of a completion and of its suite: the suite's time does not count as the completion's."""

    def __init__(self, completion: LimitWatch, suite: LimitWatch) -> None:
        self._completion = completion
        self._suite = suite
        self._started = False

    def patience_ms(self) -> float:
        if self._started:
            return min(self._own(), self._others())
        self._started = True  # neither has used any time yet
        return min(self._suite.patience_ms(), self._completion.patience_ms())

    def look(self) -> None:
        self._others()
        self._completion.look()
        self._suite.look()

    def _own(self) -> float:
        try:
            return self._suite.patience_ms()
        except LimitExceeded as passed:
            raise _SuiteEndedError(passed.status, passed.message) from None

    def _others(self) -> float:
        self._completion.exclude(self._suite.busy_s())
        return self._completion.patience_ms()


class SuiteCase:
    """One test case: the suite's report on it, or how it ended without one."""

    def __init__(self, process: SuiteProcess, index: int, source: str) -> None:
        self._process = process
        self._index = index
        self._source = source
        self.report: CaseReport | None = None
        self._message: LastMessage | None = None
        self._may_come = False
        """Whether the suite may say something of it: not before it was sent, and not after a long silence."""

    @property
    def final(self) -> bool:
        """Whether a failure stands, because plain data decided it."""
        message = self.report or self._received()
        return message is not None and message.final

    def _received(self) -> LastMessage | None:
        if self._message is None and self._may_come:
            self._may_come = False
            self._message = self._process.last_message()
        return self._message

    @property
    def used_completion(self) -> bool:
        """Whether the completion took part in the result."""
        return self.report is None or self.report.requests > 0

    def run(self, completion: Child, watch: LimitWatch, outcome: Outcome) -> None:
        """Raises what `watch` raises, `EOFError` and `BrokenFrameError` for the completion's process."""
        process = self._process
        process.usable = False  # until it has finished the test case
        self._may_come = True
        own = process.begin()
        both = _BothClocks(watch, own)
        try:
            process.child.connection.send(b"R", self._index.to_bytes(4, "big"), both)
            kind, payload = process.receive(both)
        except _SuiteEndedError as ended:
            self._end(ended.status, ended.message, outcome)
        except EOFError:
            self._end(*process.why_ended(own), outcome)
        except BrokenFrameError as error:
            raise process.fault(error) from error
        else:
            self._read(kind, payload, completion, outcome)

    def _end(self, status: Status, message: str, outcome: Outcome) -> None:
        self._message = LastMessage("", final=False)
        outcome.status, outcome.message = status, f"in the test's own code: {message}"

    def _read(self, kind: bytes, payload: bytes, completion: Child, outcome: Outcome) -> None:
        if kind == b"D":
            self._read_report(payload, outcome)
            return
        if kind not in _LAST_KINDS:
            raise FaultError(f"the test suite's process: {payload.decode('utf-8', 'replace')}")
        try:
            self._message = message_in(payload, LastMessage)
        except BrokenFrameError as error:
            raise self._process.fault(error) from error
        text = self._message.text
        if kind == b"U":
            outcome.status, outcome.message = Status.RAISED, NOT_POSSIBLE + text
        elif kind == b"Y":
            self._fail(text, outcome)
        elif kind == b"O":
            outcome.status, outcome.message = Status.OUTPUT, text
        elif kind == b"T":
            outcome.status, outcome.message = Status.RAISED, text
        elif kind == b"B":
            raise BrokenFrameError(text)
        else:
            self._await_end(completion)

    def _await_end(self, completion: Child) -> None:
        """The completion closed its connection to the suite: it ends, or breaks the protocol."""
        with contextlib.suppress(LimitExceeded):
            completion.connection.receive(self._process.soon(completion), 0)
        raise BrokenFrameError("it closed its connection to the test")

    def _read_report(self, payload: bytes, outcome: Outcome) -> None:
        try:
            case_report = self.report = message_in(payload, CaseReport)
        except BrokenFrameError as error:
            raise FaultError(f"the test suite's process: {error}") from error
        self._process.usable = True
        outcome.memory_mb = max(outcome.memory_mb, case_report.memory_kib / 1024)
        if case_report.failure is not None:
            self._fail(case_report.report, outcome)

    def _fail(self, failure: str, outcome: Outcome) -> None:
        """The completion's own exception failed the test case."""
        outcome.status = Status.RAISED
        if failure:
            outcome.failure = traceback_of(report(failure.encode()), self._source)


_LAST_KINDS = frozenset((b"U", b"Y", b"O", b"T", b"B", b"E"))


class _SuiteEndedError(Exception):
    def __init__(self, status: Status, message: str) -> None:
        self.status = status
        self.message = message
