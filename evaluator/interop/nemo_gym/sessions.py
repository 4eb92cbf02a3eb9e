"""Sessions: state between the requests of one rollout, such as a Python that keeps names from one code to the next."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from evaluator.interop.nemo_gym.wire import ExecuteCodeResponse, JsonObject
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
                with stoppable(self._sandbox.abort):
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


_MOST: Final = 10_000
"""How many sessions are remembered; more than a training step has rollouts at once."""


@dataclass
class _Session:
    row: JsonObject | None = None
    interpreter: Interpreter | None = None
    used: float = 0.0
    had: bool = False
    """Whether it may have had an interpreter before."""


class Sessions:
    """The rows and interpreters of sessions. Thread-safe."""

    def __init__(self, make: Callable[[], Interpreter], most: int, idle_s: float) -> None:
        """`make`: makes an interpreter. At most `most` exist: the one idle longest is ended to make room, and so is
        each that was idle for `idle_s` seconds."""
        self._make, self._most, self._idle_s = make, most, idle_s
        self._lock = threading.Lock()
        self._sessions: dict[str, _Session] = {}
        self._by_name: dict[str, str | None] = {}
        """Session by an Environment Server's name for it; None: it was closed."""

    def seed(self, session: str, row: JsonObject, name: str | None = None) -> bool:
        """Starts or restarts a session with a row; a named one only once. False if that was closed."""
        if name is not None:
            with self._lock:
                if name in self._by_name:
                    return self._by_name[name] is not None
                self._name(name, session)
        self.close(session)
        with self._lock:
            self._known(session).row = row
        return True

    def close(self, session: str, name: str | None = None) -> None:
        """Forgets a session, known or not; a named one, whose name can't be reused, in its place."""
        with self._lock:
            if name is not None:
                session = self._by_name.pop(name, None) or ""
                self._name(name, None)
            kept = self._sessions.pop(session, None)
        if kept is not None and kept.interpreter is not None:
            kept.interpreter.close()

    def row(self, session: str) -> JsonObject | None:
        """The session's row; None if it has none or was closed."""
        with self._lock:
            found = self._sessions.get(session)
            return found.row if found else None

    def note_lost(self, session: str) -> None:
        """Notes that a session belonged to an earlier process: its state is lost."""
        with self._lock:
            if session not in self._sessions:
                self._known(session).had = True

    def interpreter(self, session: str) -> tuple[Interpreter, bool]:
        """The session's interpreter, and whether an earlier one was lost."""
        with self._lock:
            found = self._known(session)
            lost = found.interpreter is None and found.had
            interpreter = found.interpreter = found.interpreter or self._make()
            found.had, found.used = True, time.monotonic()
        self.close_idle()
        return interpreter, lost

    def close_idle(self) -> None:
        """Ends the interpreters that were idle too long, and the idlest ones that are too many."""
        with self._lock:
            now = time.monotonic()
            live = [each for each in self._sessions.values() if each.interpreter is not None]
            live.sort(key=lambda each: each.used, reverse=True)
            ended = [each for place, each in enumerate(live) if place >= self._most or now - each.used > self._idle_s]
            interpreters = [_taken(each) for each in ended]
        for interpreter in interpreters:
            interpreter.close()

    def close_all(self) -> None:
        """Ends every interpreter."""
        with self._lock:
            interpreters = [_taken(each) for each in self._sessions.values() if each.interpreter is not None]
        for interpreter in interpreters:
            interpreter.close()

    def _known(self, session: str) -> _Session:
        found = self._sessions.setdefault(session, _Session())
        if len(self._sessions) > _MOST:
            del self._sessions[next(each for each, other in self._sessions.items() if other.interpreter is None)]
        return found

    def _name(self, name: str, session: str | None) -> None:
        self._by_name[name] = session
        if len(self._by_name) > _MOST:
            del self._by_name[next(iter(self._by_name))]


def _taken(session: _Session) -> Interpreter:
    interpreter, session.interpreter = session.interpreter, None
    assert interpreter is not None
    return interpreter
