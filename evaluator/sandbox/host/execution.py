"""One completion in the sandbox: its inputs go in, together (see `answers`) or one by one; for each comes an `Outcome`.

The parent holds the clock, measures CPU time and memory itself, and kills the whole tree when a limit is exceeded. One
by one, it sends input i+1 only after the answer to i. It uses the process's messages only for display and as candidate
answers.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Protocol

from evaluator.sandbox.host.answers import AnswerReader, Together, first_few
from evaluator.sandbox.host.child import Child
from evaluator.sandbox.host.limits.watch import LimitExceeded, LimitWatch, counted_s, mark_exceeded, mark_killed
from evaluator.sandbox.host.outcomes import Outcome, Right, Status, stack_of
from evaluator.sandbox.host.processes import Processes
from evaluator.sandbox.host.program import ProgramSetup
from evaluator.sandbox.host.wire import CONNECTION_ERRORS, BrokenFrameError, SilenceError
from evaluator.sandbox.host.zygotes import Zygote

_LEAST_S = 0.01

Exchange = Callable[[Child, LimitWatch, Outcome], None]
"""Sends the input and reads the answer into the outcome."""


def run_once(
    child: Child, exchange: Exchange, stdin: bytes, wall_s: float, processes: Processes, reader: AnswerReader
) -> Outcome:
    """What it did within so many seconds. The process may have ended then. Raises what a connection raises."""
    setup, outcome = processes.setup, Outcome(status=Status.ANSWERED)
    owed_s, child.compiled_s = counted_s(child.compiled_s), 0.0
    watch = LimitWatch(child, setup.limits, max(wall_s - owed_s, _LEAST_S), wall_s)
    try:
        try:
            if child.used:
                child.renew(stdin)
            child.used = True
            exchange(child, watch, outcome)
            if child.ended is None:
                watch.last_look()
        except EOFError:
            reader.read_end(child.wait(watch), watch, outcome)
    except LimitExceeded as passed:
        outcome.status, outcome.message, outcome.doubt = passed.status, passed.message, passed.doubt
        outcome.wall_s = owed_s + watch.wall_s()
        outcome.failure = stack_of(child.stack(), setup.program.source)
    except BrokenFrameError as error:
        outcome.status, outcome.failure = Status.REJECTED, None
        outcome.message = f"it wrote to the protocol channel: {error}"
    outcome.wall_s = outcome.wall_s or owed_s + watch.wall_s()
    outcome.cpu_s = max(watch.cpu_s(), outcome.cpu_s)
    outcome.memory_mb = max(outcome.memory_mb, watch.peak.total)
    outcome.stdout, outcome.stderr = child.printed(setup.output_bytes)
    outcome.notes += child.refused_calls()
    if setup.limits.processes and processes.zygote.out_of_memory():  # also a process that it started
        mark_killed(outcome, setup.limits)
    mark_exceeded(outcome, setup.limits)
    if outcome.status in (Status.TIME, Status.MEMORY, Status.REJECTED, Status.DIED):
        child.kill()
    return outcome


_CLOSING_S = 0.5


class Case(Protocol):
    """The messages with a completion that a test suite uses, for one test case."""

    def run(self, completion: Child, watch: LimitWatch, outcome: Outcome) -> None: ...


class Execution:
    """One program. Close it, or use it with `with`; from one thread. Its methods may be called in any order.

    They raise `FaultError`. Once the program could not be loaded, every run has that outcome.
    """

    def __init__(self, setup: ProgramSetup, zygote: Zygote) -> None:
        """`zygote`: see `Processes`."""
        self._setup = setup
        self._processes = Processes(setup, zygote)
        self._reader = AnswerReader(self._processes)
        self._not_loaded: Outcome | None = None
        self._used_s = 0.0
        self._rest_s = 0.0
        """What is left of the last run's time."""

    def __enter__(self) -> Execution:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends its process."""
        self._processes.end()

    def run_ahead(
        self, payloads: Sequence[bytes], *, wall_s: float, right: Sequence[Right] | None = None
    ) -> list[Outcome]:
        """Runs the first inputs together: their outcomes. `run` is for the others, and there may be none here.

        `payloads`: all inputs, which are like that of `run`. `right`: for each of them.
        """
        given, processes = first_few(payloads), self._processes
        if not given or not processes.can_run_ahead:
            return []
        try:
            child = processes.take()
            together = Together(child, processes, self._reader, wall_s, right or [{}] * len(given))
            outcomes = together.outcomes(given)
            used_s = together.watch.wall_s()
            self._used_s += used_s if outcomes else 0.0
            self._rest_s = wall_s - used_s
            if outcomes and child.ended is not None:
                processes.release()
            elif len(outcomes) != len(given) or len(outcomes) == len(payloads) or outcomes[-1].status is Status.TIME:
                processes.end()  # it has seen inputs whose time has not begun, or there are no more
        except CONNECTION_ERRORS as error:  # none of which is the completion's doing here
            raise processes.fault(error) from error
        return outcomes

    def run(self, payload: bytes, *, wall_s: float) -> Outcome:
        """Runs the program on one input: stdin's bytes, or a call's arguments as written by `values.encoded_call`."""
        is_call = self._setup.is_call

        def exchange(child: Child, watch: LimitWatch, outcome: Outcome) -> None:
            child.connection.send(b"R", payload if is_call else b"", watch)
            self._reader.read_answer(child, watch, outcome)

        return self._run(exchange, b"" if is_call else payload, wall_s)

    def run_case(self, case: Case, *, wall_s: float) -> Outcome:
        """Runs one test case of the program's test suite. Raises also what `case` raises."""

        def exchange(child: Child, watch: LimitWatch, outcome: Outcome) -> None:
            if child.loaded or self._reader.read_loading(child, watch, outcome):
                case.run(child, watch, outcome)

        return self._run(exchange, b"", wall_s)

    def restart(self, *, wall_s: float) -> Child | Outcome:
        """A new process, which has run nothing, in place of the present one; or how the program can't be loaded."""
        if self._not_loaded is None:
            self._processes.end()
        try:
            return self._ready(b"", wall_s)
        except CONNECTION_ERRORS as error:
            raise self._processes.fault(error) from error

    @property
    def left_s(self) -> float:
        """What is left of `limits.total_s`, the time for all runs; see `LimitWatch.wall_s`."""
        return self._setup.limits.total_s - self._used_s

    @property
    def begun(self) -> bool:
        """Whether a process runs that has executed a test case, and whose state later ones may need."""
        return self._processes.child is not None and self._not_loaded is None

    def _run(self, exchange: Exchange, stdin: bytes, wall_s: float) -> Outcome:
        processes = self._processes
        try:
            child = self._ready(stdin, wall_s)
            if isinstance(child, Outcome):
                return child
            outcome = run_once(child, exchange, stdin, wall_s, processes, self._reader)
            self._used_s += outcome.wall_s
            self._rest_s = wall_s - outcome.wall_s
            if child.ended is not None:
                processes.release()
        except CONNECTION_ERRORS as error:
            if not processes.zygote.out_of_memory():
                raise processes.fault(error) from error
            processes.zygote.kill()
            outcome = self._not_loaded = Outcome(status=Status.MEMORY)
            mark_killed(outcome, self._setup.limits)
        if outcome.status is Status.NOT_LOADED:
            self._not_loaded = outcome
        return outcome

    def _ready(self, stdin: bytes, wall_s: float) -> Child | Outcome:
        """The process for the next input, or how the program can't be loaded. Raises what a connection raises."""
        if self._not_loaded is not None:
            return self._not_loaded
        ready = self._processes.child or self._processes.start(stdin, wall_s)
        if isinstance(ready, Outcome):
            self._not_loaded = ready
        return ready

    def finish(self) -> str:
        """Does the closing handshake; returns how the process broke the protocol, or an empty text."""
        child = self._processes.child
        if child is None or self._not_loaded is not None:
            return ""
        try:
            said = self._closing(child)
        except CONNECTION_ERRORS as error:
            raise self._processes.fault(error) from error
        self._processes.end()
        return said

    def _closing(self, child: Child) -> str:
        limits = self._setup.limits
        try:
            child.connection.send(b"G")
            reply = child.connection.receive(LimitWatch(child, limits, max(_CLOSING_S, self._rest_s)), 0)
            if reply == (b"G", b"") and not child.connection.receives_more(time.monotonic() + _CLOSING_S):
                return ""
        except (LimitExceeded, SilenceError):
            return "it was busy with something else after its last answer, until its time was up"
        except EOFError:
            return self._early_end(child)
        except BrokenFrameError:
            pass
        return "it wrote to the protocol channel after its last answer"

    def _early_end(self, child: Child) -> str:
        """Why the process ended too early."""
        try:
            child.wait(LimitWatch(child, self._setup.limits, _CLOSING_S))
        except LimitExceeded:
            return "it closed the protocol channel after its last answer"
        return "it ended after its last answer, before the closing handshake"
