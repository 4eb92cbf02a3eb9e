"""Sessions: state between the requests of one rollout, such as a Python that keeps names from one code to the next."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final, TypeVar

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


Value = TypeVar("Value")

_MOST: Final = 10_000
"""How many sessions are remembered; more than a training step has rollouts at once."""


class Sessions:
    """The rows and interpreters of sessions. Thread-safe."""

    def __init__(self, make: Callable[[], Interpreter], most: int, idle_s: float) -> None:
        """`make`: makes an interpreter. At most `most` exist: the one idle longest is ended to make room, and so is
        each that was idle for `idle_s` seconds."""
        self._make, self._most, self._idle_s = make, most, idle_s
        self._lock = threading.Lock()
        self._rows: OrderedDict[str, JsonObject] = OrderedDict()
        self._interpreters: OrderedDict[str, tuple[Interpreter, float]] = OrderedDict()
        self._by_name: OrderedDict[str, str | None] = OrderedDict()
        """Session by an Environment Server's name for it; None: it was closed."""
        self._had: OrderedDict[str, None] = OrderedDict()
        """Sessions that may have had an interpreter before."""

    def seed(self, session: str, row: JsonObject) -> None:
        """Starts or restarts a session with a row."""
        self.close(session)
        with self._lock:
            _put(self._rows, session, row)

    def seed_named(self, name: str, session: str, row: JsonObject) -> bool:
        """Starts a named session, unless it was started already. False if it was closed."""
        with self._lock:
            if name in self._by_name:
                return self._by_name[name] is not None
            _put(self._by_name, name, session)
        self.seed(session, row)
        return True

    def close_named(self, name: str) -> None:
        """Forgets a session by its name, which can't be reused."""
        with self._lock:
            session = self._by_name.pop(name, None)
            _put(self._by_name, name, None)
        if session is not None:
            self.close(session)

    def row(self, session: str) -> JsonObject | None:
        """The session's row; None if it has none or was closed."""
        with self._lock:
            return self._rows.get(session)

    def note_lost(self, session: str) -> None:
        """Notes that a session belonged to an earlier process: its state is lost."""
        with self._lock:
            if session not in self._rows and session not in self._interpreters:
                _put(self._had, session, None)

    def interpreter(self, session: str) -> tuple[Interpreter, bool]:
        """The session's interpreter, and whether an earlier one was lost."""
        with self._lock:
            now = time.monotonic()
            kept = self._interpreters.pop(session, None)
            lost = kept is None and session in self._had
            interpreter = kept[0] if kept else self._make()
            _put(self._had, session, None)
            self._interpreters[session] = interpreter, now
            ended = list(self._outdated(now))
        for each in ended:
            each.close()
        return interpreter, lost

    def close(self, session: str) -> None:
        """Forgets a session, known or not."""
        with self._lock:
            self._rows.pop(session, None)
            self._had.pop(session, None)
            kept = self._interpreters.pop(session, None)
        if kept is not None:
            kept[0].close()

    def close_all(self) -> None:
        """Ends every interpreter."""
        with self._lock:
            kept = list(self._interpreters.values())
            self._interpreters.clear()
        for interpreter, _ in kept:
            interpreter.close()

    def close_idle(self) -> None:
        """Ends the interpreters that were idle too long."""
        with self._lock:
            ended = list(self._outdated(time.monotonic()))
        for each in ended:
            each.close()

    def _outdated(self, now: float) -> list[Interpreter]:
        ended = []
        while self._interpreters:
            session, (interpreter, used) = next(iter(self._interpreters.items()))
            if len(self._interpreters) <= self._most and now - used <= self._idle_s:
                break
            del self._interpreters[session]
            ended.append(interpreter)
        return ended


def _put(kept: OrderedDict[str, Value], key: str, value: Value) -> None:
    """Adds an entry, and drops the oldest beyond the limit."""
    kept[key] = value
    while len(kept) > _MOST:
        kept.popitem(last=False)
