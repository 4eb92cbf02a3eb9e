"""One completion on several inputs that are sent together, so that neither side waits for the other after each.

A program could hide the work of one input in the time of another, so the answers count only if all of them came within
one input's limits. In every doubtful case there are no outcomes: the inputs are then run one by one, and that decides.
"""

from __future__ import annotations

from collections.abc import Sequence

from evaluator.sandbox.host.answer_file import FREE_S, Answer, read_answers
from evaluator.sandbox.host.answers import AnswerReader
from evaluator.sandbox.host.child import Child
from evaluator.sandbox.host.limits.exceeded import mark_exceeded
from evaluator.sandbox.host.limits.watch import LimitExceeded, LimitWatch
from evaluator.sandbox.host.outcomes import Outcome, Status
from evaluator.sandbox.host.processes import Processes
from evaluator.sandbox.host.reports import stack_of
from evaluator.sandbox.host.wire import BrokenFrameError


class Together:
    """For one process, which waits for its order."""

    def __init__(
        self,
        child: Child,
        processes: Processes,
        reader: AnswerReader,
        wall_s: float,
        right: Sequence[bytes | None],
    ) -> None:
        """`wall_s`: the time of one input. `right`: see `Execution.run_ahead`."""
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
        answers = read_answers(self._child.answers(self._setup.output_bytes + 1), done, partial=False)
        outcomes = self._read(answers)
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
        answers = read_answers(self._child.answers(self._setup.output_bytes + 1), number, partial=True)
        before_s = sum(answer.wall_s for answer in answers)
        if len(answers) == number or before_s > FREE_S or (answers and self._child.refused_calls()):
            return []
        late = Outcome(status=Status.TIME, message=passed.message, failure=stack_of(stack, self._setup.program.source))
        late.notes += self._child.refused_calls()
        late.memory_mb = self.watch.peak.total
        late.stdout, late.stderr = self._child.printed(self._setup.output_bytes)
        late.wall_s = max(0.0, self.watch.wall_s() - before_s)
        late.cpu_s = max(self.watch.cpu_s() - sum(answer.cpu_s for answer in answers), 0.0)
        return [*self._read(answers), late]

    def _read(self, answers: Sequence[Answer]) -> list[Outcome]:
        """The last one may say that the process ends after it: then it has ended."""
        outcomes = []
        for answer, right in zip(answers, self._right, strict=False):
            outcome, goes_on = self._reader.read_ahead(answer, right)
            if not goes_on:
                self._reader.read_last(self._child, self.watch, outcome)
                outcome.cpu_s = answer.cpu_s
            mark_exceeded(outcome, self._setup.limits)
            outcomes.append(outcome)
        return outcomes


def _share(outcomes: Sequence[Outcome], wall_s: float, cpu_s: float) -> None:
    """The process's own times are for display: together they are no more than what was measured."""
    wall, cpu = sum(each.wall_s for each in outcomes), sum(each.cpu_s for each in outcomes)
    for outcome in outcomes:
        outcome.wall_s *= min(1.0, wall_s / wall) if wall else 1.0
        outcome.cpu_s *= min(1.0, cpu_s / cpu) if cpu else 1.0
