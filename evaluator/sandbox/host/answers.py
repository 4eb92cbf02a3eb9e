"""Reads what a completion's process answered, and how it ended, into an `Outcome`."""

from __future__ import annotations

import signal

from evaluator.model import Flag
from evaluator.sandbox.host import values
from evaluator.sandbox.host.answer_file import Answer
from evaluator.sandbox.host.child import Child
from evaluator.sandbox.host.limits.exceeded import mark_killed
from evaluator.sandbox.host.limits.watch import LimitWatch
from evaluator.sandbox.host.outcomes import Outcome, Status
from evaluator.sandbox.host.processes import Processes
from evaluator.sandbox.host.program import FaultError
from evaluator.sandbox.host.reports import REPORT_CAP, Ended, report, traceback_of
from evaluator.sandbox.host.wire import BrokenFrameError

_USUAL = b'{"clean":true}'


class AnswerReader:
    """For one program. Its methods raise `BrokenFrameError` for what no honest process sends."""

    def __init__(self, processes: Processes) -> None:
        setup = processes.setup
        self._processes = processes
        self._source = setup.program.source
        self._limits = setup.limits
        self._is_call = setup.is_call
        self._answer_cap = max(setup.output_bytes, REPORT_CAP) + 1024

    def read_answer(self, child: Child, watch: LimitWatch, outcome: Outcome) -> None:
        if self._is_call and not child.loaded and not self.read_loading(child, watch, outcome):
            return
        kind, payload = child.connection.receive(watch, self._answer_cap)
        if self._is_call and kind in (b"V", b"X", b"O"):
            outcome.memory_mb = int.from_bytes(payload[:8], "big") / 1024
            self._read_result(kind, payload[8:], outcome)
        elif not self._is_call and kind == b"D":
            outcome.memory_mb = report(payload).memory_kib / 1024
            if not self._read_report(payload, outcome):
                self.read_last(child, watch, outcome)
        else:
            raise BrokenFrameError("a frame of an unexpected kind")

    def read_ahead(self, answer: Answer, right: bytes | None) -> tuple[Outcome, bool]:
        """The outcome of one of several inputs that were sent together; False if the process ends after it.

        `right`: the text of the right answer to a call, if there is only one.
        """
        outcome = Outcome(status=Status.ANSWERED, stdout=answer.stdout, stderr=answer.stderr)
        outcome.memory_mb, outcome.wall_s, outcome.cpu_s = answer.memory_mb, answer.wall_s, answer.cpu_s
        goes_on = True
        if answer.kind == b"V" and answer.payload == right:
            outcome.right = True
        elif self._is_call and answer.kind in (b"V", b"X", b"O"):
            self._read_result(answer.kind, answer.payload, outcome)
        elif not self._is_call and answer.kind == b"D":
            goes_on = self._read_report(answer.payload or _USUAL, outcome)
        else:
            raise BrokenFrameError("an answer of an unexpected kind")
        return outcome, goes_on

    def _read_report(self, payload: bytes, outcome: Outcome) -> bool:
        """How a program's run ended; returns whether its process can be used again."""
        end = report(payload)
        outcome.exit_status = end.exit_status
        outcome.failure = traceback_of(end, self._source)
        if outcome.failure is not None:
            outcome.status = Status.RAISED
        return end.clean

    def read_loading(self, child: Child, watch: LimitWatch, outcome: Outcome) -> bool:
        """Whether the code, which runs here for the first time, could be loaded."""
        kind, payload = child.connection.receive(watch, REPORT_CAP)
        if kind == b"C":
            outcome.status = Status.NOT_LOADED
            outcome.failure = traceback_of(report(payload), self._source)
        elif kind != b"L":
            raise BrokenFrameError("a frame before the code was loaded")
        child.loaded = kind == b"L"
        return child.loaded

    def _read_result(self, kind: bytes, payload: bytes, outcome: Outcome) -> None:
        if kind == b"X":
            outcome.status = Status.RAISED
            outcome.failure = traceback_of(report(payload), self._source)
        elif kind == b"O":
            outcome.status = Status.OUTPUT
            outcome.message = f"the returned value is larger than {self._limits.output_mb:g} MiB (limits.output_mb)"
        else:
            try:
                outcome.value, subclasses = values.answered(payload)
                outcome.notes += tuple(Flag("subclass", text) for text in subclasses)
            except values.BadValueError as error:
                raise BrokenFrameError(str(error)) from None

    def read_last(self, child: Child, watch: LimitWatch, outcome: Outcome) -> None:
        """The process announced its end: its actual end counts more than that message."""
        ended = child.wait(watch)
        self._measure(ended, watch, outcome)
        if child.connection.has_input():
            raise BrokenFrameError("a frame after its last")
        outcome.exit_status = ended.exit_status
        if ended.exit_status < 0:
            self._read_death(ended, outcome)

    def read_end(self, ended: Ended, watch: LimitWatch, outcome: Outcome) -> None:
        """The process has ended without an answer: a call died; a program ended in its own way."""
        self._measure(ended, watch, outcome)
        outcome.exit_status = ended.exit_status
        if self._is_call or ended.exit_status < 0:
            self._read_death(ended, outcome)

    def _read_death(self, ended: Ended, outcome: Outcome) -> None:
        outcome.status, outcome.message = Status.DIED, ended.text()
        if ended.exit_status == -signal.SIGKILL:
            if self._processes.zygote.out_of_memory():
                mark_killed(outcome, self._limits)
            elif self._processes.zygote.machine_out_of_memory():
                raise FaultError("the machine, or the container, ran out of memory")

    def _measure(self, ended: Ended, watch: LimitWatch, outcome: Outcome) -> None:
        outcome.cpu_s = ended.cpu_s - watch.cpu_before
        outcome.memory_mb = ended.memory_kib / 1024
