"""One completion in the sandbox: it gets its inputs, together (see `together`) or one by one; an `Outcome` for each.

The parent holds the clock, measures CPU time and memory itself, and kills the whole tree when a limit is exceeded. One
by one, it sends input i+1 only after the answer to i. It uses the process's messages only for display and as candidate
answers.
"""

from __future__ import annotations

import marshal
import math
import socket
import time
from collections.abc import Callable, Sequence
from typing import Protocol

import msgspec

from evaluator.model import Limits
from evaluator.options import Way
from evaluator.sandbox.answer_file import first_few
from evaluator.sandbox.answers import REPORT_CAP, AnswerReader
from evaluator.sandbox.case_template import Template
from evaluator.sandbox.child import Child
from evaluator.sandbox.limits.exceeded import FILES_MB, OPEN_FILES, mark_exceeded
from evaluator.sandbox.limits.refusals import may_try
from evaluator.sandbox.limits.watch import LimitExceeded, LimitWatch, counted_s
from evaluator.sandbox.outcomes import Outcome, Status
from evaluator.sandbox.preambles import header_of
from evaluator.sandbox.program import FaultError, Program
from evaluator.sandbox.reports import report, stack_of, traceback_of
from evaluator.sandbox.together import Together
from evaluator.sandbox.wire import BrokenFrameError, SilenceError
from evaluator.sandbox.zygotes import Zygote

_MIB = 2**20
_LEAST_S = 0.01
_READY_S = 10.0
"""For a process to get ready, not counting the compiling of the program: more than a busy machine needs."""
_SPARE_TASKS = 4
"""The process itself, its namespace's first process, and the threads that libraries start."""
_CLOSING_S = 0.5
_BACKSTOP_CPU_S = 2


class Case(Protocol):
    """The messages with a completion that a test suite uses, for one test case."""

    def run(self, completion: Child, watch: LimitWatch, outcome: Outcome) -> None: ...


Exchange = Callable[[Child, LimitWatch, Outcome], None]


class Execution:
    """One program. Use it with `with`; `run` is called once for each input, from one thread."""

    def __init__(
        self,
        zygotes: Callable[[bool], Zygote],
        way: Way,
        program: Program,
        limits: Limits,
        *,
        reuse: bool,
        several: bool,
    ) -> None:
        """`zygotes`: the zygote with shared namespaces or, for False, with new ones for each process.

        `reuse`: whether a stdin program may run several times in one process (see docs/sandbox.md). `several`: whether
        more than one input will come. Raises `SandboxUnavailable`, `FaultError`.
        """
        if way is not Way.NAMESPACES:
            limits = msgspec.structs.replace(limits, processes=0)  # they could be left behind
        alone = limits.processes == 0
        self._loopback = program.loopback and way is Way.NAMESPACES
        self._is_call = program.entry_point is not None or program.suite is not None or program.runner is not None
        bare = program.suite is None and program.runner is None
        shares = reuse and several and alone and not self._is_call
        self._header = header_of(program.preamble) if shares or (bare and self._is_call) else None
        self._may_fork = several and not self._is_call and alone
        self._forks = self._may_fork and not reuse
        self._zygotes = zygotes
        self._may_run_ahead = reuse and alone and bare
        apart = self._forks or self._loopback or program.system or not (alone and bare)
        self._shared = way is Way.NAMESPACES and not apart
        self._zygote = zygotes(self._shared)
        self._zygote.limit_memory(limits.memory_mb)
        self._template: Template | None = None
        self._program = program
        self._limits = limits
        self._output_bytes = int(limits.output_mb * _MIB)
        self._child: Child | None = None
        self._not_loaded: Outcome | None = None
        suite = program.suite
        self._shares_files = suite is not None and not program.shares_process and "files" in suite.uses
        self._reports_calls = self._zygote.reports_threads or may_try(program.source)
        self._reader = AnswerReader(self._zygote, program.source, limits, is_call=self._is_call)
        self._has_answered_all = False
        self._compiled_s = 0.0
        self._used_s = 0.0
        self._rest_s = 0.0
        """What is left of the last run's time."""

    def __enter__(self) -> Execution:
        return self

    def __exit__(self, *_: object) -> None:
        child, template = self._child, self._template
        self._child = self._template = None
        parted = False
        try:
            if child is not None and template is None:
                self._zygote.part_with(child)
            elif template is not None:
                _end(child, template)
            parted = True
        except (OSError, EOFError, SilenceError, BrokenFrameError):
            pass
        finally:
            if not parted:  # also after Ctrl-C
                self._zygote.kill()

    def run_ahead(
        self, payloads: Sequence[bytes], *, wall_s: float, right: Sequence[bytes | None] | None = None
    ) -> list[Outcome]:
        """Runs the first inputs together: their outcomes. `run` is for the others, and there may be none here.

        To be called first, with all inputs, which are like that of `run`. `right`: for each call the right answer, as
        `values.encoded_answer` writes it, so that it need not be read; None if there are several. Raises `FaultError`.
        """
        given = first_few(payloads)
        if not given or not self._may_run_ahead or (not self._is_call and self._header is None and len(payloads) > 1):
            return []
        try:
            child = self._child = self._zygote.take()
            outcomes = self._together(child, given, wall_s, right or [None] * len(given))
            if outcomes and child.ended is not None:
                self._release(child, outcomes[-1])
            elif len(outcomes) < len(given) or outcomes[-1].status is Status.TIME:
                self._child = None  # it has seen inputs whose time has not begun
                self._zygote.part_with(child)
            elif len(outcomes) == len(payloads):
                self._has_answered_all = True
        except (OSError, EOFError, SilenceError, BrokenFrameError) as error:
            raise self._fault(error) from error
        return outcomes

    def _together(
        self, child: Child, payloads: Sequence[bytes], wall_s: float, right: Sequence[bytes | None]
    ) -> list[Outcome]:
        """No outcomes if they have to be run one by one."""
        together = Together(child, self._reader, self._program.source, self._limits, wall_s, right)
        watch = together.watch
        frames = [(b"I", self._order(ahead=True)), (b"A", marshal.dumps(list(payloads), 2))]
        child.connection.send_all(frames, watch)
        self._zygote.prepare_next()
        try:
            if self._reports_calls:
                child.listen(watch, self._limits.threads + _SPARE_TASKS)
            outcomes = together.outcomes(len(payloads))
        except (LimitExceeded, EOFError, BrokenFrameError):
            return []
        child.used = child.loaded = True
        self._used_s += watch.wall_s() if outcomes else 0.0
        self._rest_s = wall_s - watch.wall_s()
        return outcomes

    def run(self, payload: bytes, *, wall_s: float) -> Outcome:
        """Runs the program on one input: stdin's bytes, or a call's arguments as written by `values.encoded_call`.

        Raises `FaultError`.
        """

        def exchange(child: Child, watch: LimitWatch, outcome: Outcome) -> None:
            child.connection.send(b"R", payload if self._is_call else b"", watch)
            self._reader.read_answer(child, watch, outcome)

        return self._run(exchange, b"" if self._is_call else payload, wall_s)

    def run_case(self, case: Case, *, wall_s: float) -> Outcome:
        """Runs one test case of the program's test suite. Raises `FaultError`, and what `case` raises."""

        def exchange(child: Child, watch: LimitWatch, outcome: Outcome) -> None:
            if child.loaded or self._reader.read_loading(child, watch, outcome):
                case.run(child, watch, outcome)

        return self._run(exchange, b"", wall_s)

    @property
    def left_s(self) -> float:
        """What is left of `limits.total_s`, the time for all runs; see `LimitWatch.wall_s`."""
        return self._limits.total_s - self._used_s

    @property
    def begun(self) -> bool:
        """Whether a process runs that has executed a test case, and whose state later ones may need."""
        return self._child is not None

    def start(self, *, wall_s: float) -> Child | None:
        """Starts the process, unless it runs; None if the program does not compile. Raises `FaultError`."""
        try:
            child = self._child or (None if self._not_loaded else self._start(b"", wall_s))
        except (OSError, EOFError, SilenceError, BrokenFrameError) as error:
            raise self._fault(error) from error
        if child is None or child.ended is None:
            return child
        self._child = None
        child.close()
        return None

    @property
    def not_loaded(self) -> Outcome | None:
        """The outcome if the program could not be loaded; then nothing of it can be run."""
        return self._not_loaded

    def start_again(self) -> None:
        """Ends the process: the next test case gets a new one. Raises `FaultError`."""
        child, self._child = self._child, None
        if child is None:
            return
        try:
            child.kill()
        except (OSError, EOFError, SilenceError, BrokenFrameError) as error:
            raise self._fault(error) from error
        finally:
            child.close()

    def _run(self, exchange: Exchange, stdin: bytes, wall_s: float) -> Outcome:
        if self._not_loaded is not None:
            return self._not_loaded
        try:
            child = self._child or self._start(stdin, wall_s)
            outcome = self._not_loaded or self._run_in(child, exchange, stdin, wall_s)
            self._compiled_s = 0.0
            if child.ended is not None:
                self._release(child, outcome)
        except (OSError, EOFError, SilenceError, BrokenFrameError) as error:
            if not self._zygote.out_of_memory():
                raise self._fault(error) from error
            self._zygote.kill()  # its template may be gone
            outcome = self._not_loaded = Outcome(status=Status.MEMORY)
            self._reader.mark_killed(outcome)
        if outcome.status is Status.NOT_LOADED:
            self._not_loaded = outcome
        return outcome

    def finish(self) -> str:
        """Does the closing handshake; returns how the process broke the protocol, or an empty text.

        Raises `FaultError`.
        """
        child = self._child
        if child is None or self._not_loaded is not None or self._has_answered_all:
            return ""
        try:
            child.connection.send(b"G")
            reply = child.connection.receive(LimitWatch(child, self._limits, max(_CLOSING_S, self._rest_s)), 0)
            if reply == (b"G", b"") and not child.connection.receives_more(time.monotonic() + _CLOSING_S):
                return ""
        except (LimitExceeded, SilenceError):
            return "it was busy with something else after its last answer, until its time was up"
        except EOFError:
            return self._early_end(child)
        except BrokenFrameError:
            pass
        except OSError as error:
            raise self._fault(error) from error
        return "it wrote to the protocol channel after its last answer"

    def _early_end(self, child: Child) -> str:
        """Why the process ended too early; raises `FaultError` if that was not its own doing."""
        try:
            child.wait(LimitWatch(child, self._limits, _CLOSING_S))
        except LimitExceeded:
            return "it closed the protocol channel after its last answer"
        except (OSError, EOFError) as error:
            raise self._fault(error) from error
        return "it ended after its last answer, before the closing handshake"

    def _fault(self, error: Exception) -> FaultError:
        """Ends the zygote, whose state is unknown."""
        self._zygote.kill()
        return FaultError(f"the sandbox's process does not answer: {error!r}")

    def _start(self, stdin: bytes, wall_s: float) -> Child:
        """A process for the next input; it has ended if the program does not compile."""
        if self._template is None:
            if self._forks and self._shared:
                self._leave_shared()
            child = self._child = self._forked(b"" if self._forks else stdin)
            self._not_loaded = self._compile(child, wall_s)
            if self._not_loaded or not self._forks:
                return child
            self._template, self._child = Template(child), None
        self._child = Child.started(self._template, stdin)
        if self._template.child.refusals is not None:
            self._child.attend(self._template.child.refusals)
        return self._child

    def _leave_shared(self) -> None:
        """A template can't be in shared namespaces: it forks."""
        self._shared = False
        self._zygote = self._reader.zygote = self._zygotes(False)
        self._zygote.limit_memory(self._limits.memory_mb)

    def _forked(self, stdin: bytes) -> Child:
        if self._program.suite is None or self._program.shares_process:
            child = self._zygote.take()
            child.give(stdin)
            return child
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                child = Child.started(self._zygote, stdin, theirs)
            except BaseException:
                ours.close()
                raise
        child.peer = ours
        return child

    def _release(self, child: Child, outcome: Outcome) -> None:
        """Decides, after a process has ended, whether the next input gets a new process or a fork of a template."""
        child.close()
        self._child = None
        if self._template is None:
            ended_by_itself = outcome.status in (Status.ANSWERED, Status.RAISED)
            self._forks = self._forks or (self._may_fork and ended_by_itself)
        elif not self._template.usable:
            self._template.close()
            self._template = None
            self._may_fork = self._forks = False  # each template would be used once

    def _compile(self, child: Child, wall_s: float) -> Outcome | None:
        """Compiles the program and runs nothing of it. Returns None on success, else ends the process.

        The clock of the first run starts with the program. Only the CPU time used here counts towards it: other delays
        are the machine's or ours.
        """
        refused = Outcome(status=Status.NOT_LOADED)
        watch = LimitWatch(child, self._limits, wall_s + _READY_S, wall_s)
        try:
            child.connection.send(b"I", self._order(), watch)
            self._zygote.prepare_next()
            if self._shares_files:
                child.own_files = child.connection.receive_descriptor(b"M", watch)
            if self._reports_calls:
                child.listen(watch, self._limits.threads + _SPARE_TASKS)
            kind, payload = child.connection.receive(watch, REPORT_CAP)
            if kind == b"L":
                self._compiled_s = watch.cpu_s()
                return None
            if kind != b"C":
                raise FaultError(payload.decode("utf-8", "replace"))
            refused.failure = traceback_of(report(payload), self._program.source)
        except LimitExceeded as passed:
            if passed.status is Status.TIME and watch.cpu_s() < wall_s:  # compiling does not sleep
                raise FaultError(f"a process was not ready in time: {passed.message}") from None
            refused.status, refused.message = passed.status, f"while compiling: {passed.message}"
        except EOFError:
            refused.message = "Python's compiler crashed on it"
            if self._zygote.out_of_memory():
                self._reader.mark_killed(refused)
        child.kill()  # raises if the zygote itself has ended
        return refused

    def _order(self, *, ahead: bool = False) -> bytes:
        limits = self._limits
        order = {
            **self._role(),
            "source": self._program.source,
            "entry_point": self._program.entry_point,
            "preamble": self._program.preamble,
            "header": self._header,
            "ahead": ahead,
            "forks": self._forks,
            "reports_calls": self._reports_calls,
            "memory_counted": self._zygote.memory is not None,
            "processes": limits.processes,
            "loopback": self._loopback,
            "audits": self._program.audits,
            "files_mb": FILES_MB,
            "shares_files": "gives" if self._shares_files else "",
            "virtual_bytes": int(limits.virtual_mb * _MIB),
            "output_bytes": self._output_bytes,
            "cpu_s": math.ceil(limits.total_s) + _BACKSTOP_CPU_S,
            "open_files": OPEN_FILES,
            "tasks": limits.threads + limits.processes + _SPARE_TASKS + self._forks,
        }
        return marshal.dumps(order, 2)

    def _role(self) -> dict[str, object]:
        """The role of the process, and what is specific to it."""
        suite = self._program.suite
        if suite is None:
            return {"role": "runner" if self._program.runner else "program"}
        if self._program.shares_process:
            return {"role": "shared_process"}
        return {"role": "server", **suite.for_completion()}

    def _run_in(self, child: Child, exchange: Exchange, stdin: bytes, wall_s: float) -> Outcome:
        outcome = Outcome(status=Status.ANSWERED)
        owed_s = counted_s(self._compiled_s)
        left_s = max(wall_s - owed_s, _LEAST_S)
        watch = LimitWatch(child, self._limits, left_s, wall_s)
        try:
            try:
                if child.used:
                    child.renew(stdin)
                child.used = True
                exchange(child, watch, outcome)
                if child.ended is None:
                    watch.last_look()
            except EOFError:
                self._reader.read_end(child.wait(watch), watch, outcome)
        except LimitExceeded as passed:
            outcome.status, outcome.message, outcome.doubt = passed.status, passed.message, passed.doubt
            outcome.wall_s = owed_s + watch.wall_s()
            outcome.failure = stack_of(child.stack(), self._program.source)
        except BrokenFrameError as error:
            outcome.status, outcome.failure = Status.REJECTED, None
            outcome.message = f"it wrote to the protocol channel: {error}"
        outcome.wall_s = outcome.wall_s or owed_s + watch.wall_s()
        self._used_s += outcome.wall_s
        self._rest_s = wall_s - outcome.wall_s
        outcome.cpu_s = max(watch.cpu_s(), outcome.cpu_s)
        outcome.memory_mb = max(outcome.memory_mb, watch.peak.total)
        outcome.stdout, outcome.stderr = (file.read(self._output_bytes) for file in child.output)
        if child.refusals is not None:
            outcome.notes += child.refusals.notes()
        if self._limits.processes and self._zygote.out_of_memory():  # also a process that it started
            self._reader.mark_killed(outcome)
        mark_exceeded(outcome, self._limits)
        if outcome.status in (Status.TIME, Status.MEMORY, Status.REJECTED, Status.DIED):
            child.kill()
        return outcome


def _end(child: Child | None, template: Template) -> None:
    """Ends a template and its fork. Raises `OSError`, `EOFError`, `SilenceError`, or `BrokenFrameError`."""
    try:
        if child is not None:
            child.kill()
        template.close()
    finally:
        for process in (child, template.child):
            if process is not None:
                process.close()
