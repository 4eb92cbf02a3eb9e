"""A Python in the sandbox that keeps names from one piece of code to the next, like a notebook."""

from __future__ import annotations

import threading

from evaluator.interop.nemo_gym.wire import ExecuteCodeResponse
from evaluator.interop.program_run import LIMITS, killed_by, return_code
from evaluator.model import Limits
from evaluator.sandbox import Execution, FaultError, Outcome, Program, Sandbox, Settings, Status, encoded_call
from evaluator.workers.interrupts import stoppable

OUTPUT_CHARACTERS = 65_536


_SOURCE = '''
import io, linecache, sys, traceback

_names = {"__name__": "__main__", "__builtins__": __builtins__}
_count = 0


def step(source, stdin):
    """Runs one piece; what a program would end with."""
    global _count
    _count += 1
    name = f"<cell {_count}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    sys.stdin = io.StringIO(stdin)
    try:
        exec(compile(source, name, "exec"), _names)
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return int(end.code or 0)
        print(end.code, file=sys.stderr)
        return 1
    except BaseException as error:
        trace = error.__traceback__
        error.__traceback__ = trace.tb_next if trace is not None else None
        traceback.print_exception(error)
        return 1
    return 0
'''


class Interpreter:
    """The interpreter of one session, in its own sandbox. Thread-safe: it runs one piece at a time."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._lock = threading.Lock()
        self._sandbox: Sandbox | None = None
        self._execution: Execution | None = None
        self._gave_up = False
        """Whether a run was abandoned since the last answer, and earlier definitions with it."""

    def run(self, code: str, stdin: str) -> ExecuteCodeResponse:
        """Runs one piece of code; `state` of the answer says whether earlier definitions survived.

        Raises `FaultError`, `SandboxUnavailable`; earlier definitions are lost then.
        """
        with self._lock:
            first = self._execution is None
            execution = self._execution or self._begin()
            assert self._sandbox is not None
            try:
                with stoppable(self._sandbox):
                    outcome = execution.run(encoded_call((code, stdin), {}), wall_s=self._limits.wall_s)
                if outcome.status is Status.FAULT:
                    raise FaultError(outcome.message)
            except BaseException:
                self._gave_up = True
                self._end()
                raise
            answer, gave_up = answer_of(outcome), self._gave_up
            self._gave_up = False
            if outcome.status is not Status.ANSWERED:
                self._end()
                answer.state = "lost"
                answer.stderr += "What was defined before in this session is gone.\n"
                return answer
            answer.returncode = outcome.value if isinstance(outcome.value, int) else 1
            answer.state = "lost" if gave_up else "new" if first else "kept"
            answer.stderr += "What was defined before in this session is gone: a run was given up.\n" if gave_up else ""
            return answer

    def close(self) -> None:
        """Ends it, even during a run."""
        if self._sandbox is not None:
            self._sandbox.abort()
        with self._lock:
            self._end()

    def _begin(self) -> Execution:
        self._sandbox = Sandbox(Settings())
        try:
            self._execution = self._sandbox.execute(Program(_SOURCE, "step"), self._limits)
        except BaseException:
            self._end()
            raise
        return self._execution

    def _end(self) -> None:
        execution, sandbox = self._execution, self._sandbox
        self._execution = self._sandbox = None
        try:
            if execution is not None:
                execution.close()
        finally:
            if sandbox is not None:
                sandbox.close()


def answer_of(outcome: Outcome) -> ExecuteCodeResponse:
    """What the model sees of a program's run."""
    stderr = outcome.stderr.text()[:OUTPUT_CHARACTERS]
    if killed := killed_by(outcome):
        stderr += killed
    elif outcome.failure is not None and not stderr:  # it does not compile, so nothing wrote to stderr
        stderr = f"line {outcome.failure.line}: {outcome.failure.type}: {outcome.failure.message}\n"
    return ExecuteCodeResponse(
        stdout=outcome.stdout.text()[:OUTPUT_CHARACTERS],
        stderr=stderr,
        returncode=return_code(outcome),
        limit=LIMITS.get(outcome.status),
    )
