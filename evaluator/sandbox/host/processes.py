"""Makes the processes of one program."""

from __future__ import annotations

import socket
from collections.abc import Sequence

from evaluator.sandbox.host.child import Child
from evaluator.sandbox.host.limits.watch import LimitExceeded, LimitWatch, mark_killed
from evaluator.sandbox.host.outcomes import REPORT_CAP, Outcome, Status, report, traceback_of
from evaluator.sandbox.host.program import SPARE_TASKS, FaultError, ProgramSetup, program_order
from evaluator.sandbox.host.wire import CONNECTION_ERRORS
from evaluator.sandbox.host.zygotes import Zygote

_READY_S = 10.0
"""For a process to get ready, not counting the compiling of the program: more than a busy machine needs."""


class Processes:
    """Has one process at a time, `child`."""

    def __init__(self, setup: ProgramSetup, zygote: Zygote) -> None:
        """`zygote`: with shared namespaces, or with new ones for each process, as the setup says."""
        self.setup = setup
        self.child: Child | None = None
        self.zygote = zygote

    @property
    def can_run_ahead(self) -> bool:
        """Whether the next process may be one that gets its inputs with the program."""
        return self.setup.runs_ahead and self.child is None

    def take(self) -> Child:
        """A process that waits for its order. Raises `OSError`, `EOFError`, or `SilenceError`."""
        self._limit_memory()
        child = self.child = self.zygote.take()
        return child

    def start(self, stdin: bytes, wall_s: float) -> Child | Outcome:
        """A process for the next input, which has compiled the program; or how that failed.

        Raises `FaultError`, or what a connection raises.
        """
        child = self.child = self._forked(stdin)
        refused = self._compile(child, wall_s)
        if refused is None:
            return child
        self.release()
        return refused

    def _forked(self, stdin: bytes) -> Child:
        program = self.setup.program
        self._limit_memory()
        if program.suite is None or program.shares_process:
            child = self.zygote.take()
            child.give(stdin)
            return child
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                child = Child.started(self.zygote, stdin, theirs)
            except BaseException:
                ours.close()
                raise
        child.peer = ours
        return child

    def _limit_memory(self) -> None:
        """Before each process: one of another program may have been forked from the zygote since the last."""
        self.zygote.limit_memory(self.setup.limits.memory_mb)

    def send_order(self, child: Child, watch: LimitWatch, inputs: Sequence[bytes] | None = None) -> None:
        """Sends the program, and with it the inputs if they come together. Raises what a connection raises."""
        setup = self.setup
        order = program_order(
            setup,
            inputs=inputs,
            memory_counted=self.zygote.memory is not None,
        )
        child.connection.send(b"I", order, watch)
        self.zygote.prepare_next()
        if setup.shares_files:
            child.own_files = child.connection.receive_descriptor(b"M", watch)
        if setup.reports_calls:
            child.listen(watch, setup.limits.threads + SPARE_TASKS)

    def _compile(self, child: Child, wall_s: float) -> Outcome | None:
        """Compiles the program and runs nothing of it. Returns None on success, else ends the process.

        The clock of the first run starts with the program. Only the CPU time used here counts towards it: other delays
        are the machine's or ours.
        """
        refused = Outcome(status=Status.NOT_LOADED)
        watch = LimitWatch(child, self.setup.limits, wall_s + _READY_S, wall_s)
        try:
            self.send_order(child, watch)
            kind, payload = child.connection.receive(watch, REPORT_CAP)
            if kind == b"L":
                child.compiled_s = watch.cpu_s()
                return None
            if kind != b"C":
                raise FaultError(payload.decode("utf-8", "replace"))
            refused.failure = traceback_of(report(payload), self.setup.program.source)
        except LimitExceeded as passed:
            if passed.status is Status.TIME and watch.cpu_s() < wall_s:  # compiling does not sleep
                raise FaultError(f"a process was not ready in time: {passed.message}") from None
            refused.status, refused.message = passed.status, f"while compiling: {passed.message}"
        except EOFError:
            refused.message = "Python's compiler crashed on it"
            if self.zygote.out_of_memory():
                mark_killed(refused, self.setup.limits)
        child.kill()  # raises if the zygote itself has ended
        return refused

    def release(self) -> None:
        """Closes the process, which has ended. The next input gets a new one."""
        child, self.child = self.child, None
        if child is not None:
            child.close()

    def end(self) -> None:
        """Ends what runs, if need be with the zygote. The next input gets a new process."""
        child, self.child = self.child, None
        ended = False
        try:
            if child is not None:
                self.zygote.part_with(child)
            ended = True
        except CONNECTION_ERRORS:
            pass
        finally:
            if not ended:  # also after Ctrl-C
                self.zygote.kill()

    def fault(self, error: Exception) -> FaultError:
        """Ends the zygote, whose state is unknown."""
        self.zygote.kill()
        return FaultError(f"the sandbox's process does not answer: {error!r}")
