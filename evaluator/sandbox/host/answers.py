"""Reads what a run's process answered, and how it ended, into an `Outcome`; several inputs may be sent together.

On real sets 88 % of the completions got all their inputs together, 2 % some (see docs/concepts/sandbox.md,
"How often").

A program could hide the work of one input in the time of another, so the answers count only if all of them came within
one input's limits. In every doubtful case there are no outcomes: the inputs are then run one by one, and that decides.
"""

from __future__ import annotations

import signal
from collections.abc import Sequence

from evaluator.model import Flag
from evaluator.sandbox.guest.ahead import RECORD
from evaluator.sandbox.host import values
from evaluator.sandbox.host.child import Child
from evaluator.sandbox.host.limits.watch import LimitExceeded, LimitWatch, mark_exceeded, mark_killed
from evaluator.sandbox.host.outcomes import (
    REPORT_CAP,
    Ended,
    Outcome,
    Right,
    Status,
    Stream,
    report,
    stack_of,
    traceback_of,
)
from evaluator.sandbox.host.processes import Processes
from evaluator.sandbox.host.program import FaultError
from evaluator.sandbox.host.wire import BrokenFrameError

FREE_S = 0.1
"""What a test case may take more than its limit, for the ones answered before it in the same time."""
_MOST_BYTES = 256 * 1024
_MOST_KIB = 2**53


def first_few(payloads: Sequence[bytes]) -> Sequence[bytes]:
    """As many inputs as may be sent together."""
    room = _MOST_BYTES
    for number, payload in enumerate(payloads):
        room -= len(payload)
        if room < 0:
            return payloads[:number]
    return payloads


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

    def read_ahead(self, kind: bytes, payload: bytes, outcome: Outcome, right: Right) -> bool:
        """The answer to one of several inputs that were sent together; False if the process ends after it."""
        if self._is_call and kind in (b"V", b"X", b"O"):
            if kind == b"V":
                outcome.right = right.get(payload)
            if outcome.right is None:
                self._read_result(kind, payload, outcome)
            return True
        if self._is_call or kind != b"D":
            raise BrokenFrameError("an answer of an unexpected kind")
        outcome.right = right.get(outcome.stdout.data)
        if payload:
            return self._read_report(payload, outcome)
        outcome.exit_status = 0  # what is usual is not reported
        return True

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


class Together:
    """For one process, which waits for its order."""

    def __init__(
        self,
        child: Child,
        processes: Processes,
        reader: AnswerReader,
        wall_s: float,
        right: Sequence[Right],
    ) -> None:
        """`wall_s`: the time of one input. `right`: of each input."""
        self._child = child
        self._processes = processes
        self._reader = reader
        self._setup = processes.setup
        self._wall_s = wall_s
        self._right = right
        self.watch = LimitWatch(child, self._setup.limits, wall_s, free_s=FREE_S)

    def outcomes(self, inputs: Sequence[bytes]) -> list[Outcome]:
        """Of the first inputs, perhaps of all; none if they have to be run one by one. The process may have ended then.

        Fewer than all if the rest is to be run one by one, in another process: this one has seen it. Raises `OSError`
        or `SilenceError` if the sandbox failed.
        """
        try:
            self._processes.send_order(self._child, self.watch, inputs)
            outcomes = self._answered(len(inputs))
        except (LimitExceeded, EOFError, BrokenFrameError):
            return []
        self._child.used = self._child.loaded = True
        return outcomes

    def _answered(self, number: int) -> list[Outcome]:
        """Raises `EOFError`, `BrokenFrameError` and `LimitExceeded` in case of doubt, too."""
        try:
            kind, payload = self._child.connection.receive(self.watch, 4)
        except LimitExceeded as passed:
            return self._until(passed, number)
        done = int.from_bytes(payload, "big")
        if kind != b"Z" or not 0 < done <= number:
            raise BrokenFrameError("not the end of the answers")
        self.watch.last_look()
        outcomes = self._read(done, partial=False)
        used_s, cpu_s = self.watch.wall_s(), self.watch.cpu_s()
        if used_s > self._wall_s or cpu_s > self._setup.limits.cpu_s or self._child.refused_calls():
            return []
        _share(outcomes, used_s, cpu_s)
        return outcomes

    def _until(self, passed: LimitExceeded, number: int) -> list[Outcome]:
        """The outcomes up to the input that took too long, which had at least its own time; none if that is unsure."""
        if passed.status is not Status.TIME or passed.doubt:
            return []
        stack = self._child.stack()
        outcomes = self._read(number, partial=True)
        before_s = sum(outcome.wall_s for outcome in outcomes)
        if len(outcomes) == number or before_s > FREE_S or (outcomes and self._child.refused_calls()):
            return []
        late = Outcome(status=Status.TIME, message=passed.message, failure=stack_of(stack, self._setup.program.source))
        late.notes += self._child.refused_calls()
        late.memory_mb = self.watch.peak.total
        late.stdout, late.stderr = self._child.printed(self._setup.output_bytes)
        late.wall_s = max(0.0, self.watch.wall_s() - before_s)
        late.cpu_s = max(self.watch.cpu_s() - sum(outcome.cpu_s for outcome in outcomes), 0.0)
        return [*outcomes, late]

    def _read(self, most: int, *, partial: bool) -> list[Outcome]:
        """The outcomes of the answers in the file, at most `most`. Raises `BrokenFrameError`.

        `partial`: whether the last one may be unfinished. All is hostile, except for the sizes. The last answer may say
        that the process ends after it: then it has ended.
        """
        data, limits = self._child.answers(self._setup.output_bytes + 1), self._setup.limits
        outcomes: list[Outcome] = []
        place = 0
        for right in self._right[:most]:
            if len(data) - place < RECORD.size:
                break
            kind, size, out, err, memory_kib, wall_s, cpu_s = RECORD.unpack_from(data, place)
            stdout = place + RECORD.size + size
            stderr = stdout + out
            if len(data) < stderr + err:
                break
            if not (memory_kib <= _MOST_KIB and 0 <= wall_s < 1e6 and 0 <= cpu_s < 1e6):
                raise BrokenFrameError("an answer with impossible numbers")
            payload, place = data[place + RECORD.size : stdout], stderr + err
            outcome = Outcome(status=Status.ANSWERED, wall_s=wall_s, cpu_s=cpu_s, memory_mb=memory_kib / 1024)
            if out:
                outcome.stdout = Stream(data[stdout:stderr], out)
            if err:
                outcome.stderr = Stream(data[stderr:place], err)
            if not self._reader.read_ahead(kind, payload, outcome, right):
                self._reader.read_last(self._child, self.watch, outcome)
                outcome.cpu_s = cpu_s
            mark_exceeded(outcome, limits)
            outcomes.append(outcome)
        if not partial and (len(outcomes) != most or place != len(data)):
            raise BrokenFrameError("not as many answers as announced")
        return outcomes


def _share(outcomes: Sequence[Outcome], wall_s: float, cpu_s: float) -> None:
    """The process's own times are for display: together they are no more than what was measured."""
    wall, cpu = sum([each.wall_s for each in outcomes]), sum([each.cpu_s for each in outcomes])
    if wall <= wall_s and cpu <= cpu_s:
        return
    for outcome in outcomes:
        outcome.wall_s *= min(1.0, wall_s / wall) if wall else 1.0
        outcome.cpu_s *= min(1.0, cpu_s / cpu) if cpu else 1.0
