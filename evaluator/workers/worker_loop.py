"""What a worker does with its messages, whatever carries them: it grades with a sandbox of its own.

One thread is in `run`, where it grades. Another one carries the messages: it calls `take` with each that arrives,
`tick` whenever `patience` seconds have passed without one, and `end` when nobody wants grades any more.
"""

from __future__ import annotations

import contextlib
import math
import os
import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from typing import Final, NamedTuple

from evaluator.model import Grade, Rollout, Task
from evaluator.options import Options
from evaluator.runs.schema import columns_of
from evaluator.sandbox import InterpreterError, Sandbox, SandboxUnavailable
from evaluator.stages import Spent, measured
from evaluator.workers.gate import Gate
from evaluator.workers.messages import (
    Call,
    Done,
    FromWorker,
    Job,
    Proof,
    Ready,
    Returned,
    Setup,
    Stay,
    ToWorker,
    Work,
    call_in,
    packed,
    returned,
    task_in,
)
from evaluator.workers.slots import Slot
from evaluator.workers.worker import FAULTS, Worker

_MOST_OPTIONS: Final = 64
_LEAST_S: Final = 1e-5


class _Finished(NamedTuple):
    number: int
    rollout: Rollout
    grade: Grade
    seconds: float


class WorkerLoop:
    """One worker's work."""

    def __init__(self, send: Callable[[FromWorker], None], gate: Gate) -> None:
        """`send` is called in both threads, one at a time. `gate`: that of all workers of the same caller."""
        self._send = send
        self._gate = gate
        self._changed = threading.Condition()
        self._sending = threading.Lock()
        self._setup: Setup | None = None
        self._todo: deque[Job | Call] = deque()
        self._tasks: dict[int, tuple[Task, Worker]] = {}
        self._workers: dict[Options, Worker] = {}
        self._finished: list[_Finished] = []
        self._since = 0.0
        """When the first of the finished ones was finished."""
        self._measure = False
        self._busy = False
        self._ending = False
        self._sandbox: Sandbox | None = None
        self._slot: Slot | None = None

    # ---- the thread that carries messages

    def take(self, message: ToWorker) -> None:
        """Does what a message says, or leaves it to the other thread."""
        if isinstance(message, Stay):
            self._stay(message.core)
            return
        with self._changed:
            if isinstance(message, Work):
                self._measure = message.measure
                for number in message.forget:
                    self._tasks.pop(number, None)
                for each in message.tasks:
                    task, options = task_in(each)
                    self._tasks[each.number] = task, self._worker(options)
                self._todo.extend(message.jobs)
            elif isinstance(message, Call):
                self._todo.append(message)
            elif isinstance(message, Setup):
                self._setup = message
            self._changed.notify()

    def patience(self) -> float | None:
        """Seconds after which to call `tick`; None while there is no need."""
        return self._setup.linger_s if self._busy and self._setup is not None and self._setup.linger_s else None

    def tick(self) -> None:
        """Sends grades that have waited for long enough, whatever takes the next one so long."""
        if self._finished and self._setup is not None and time.monotonic() - self._since >= self._setup.linger_s:
            self._flush()

    def end(self) -> None:
        """Makes `run` return soon, in the middle of a completion too."""
        with self._changed:
            self._ending = True
            self._todo.clear()
            if self._sandbox is not None:
                self._sandbox.abort()
            self._changed.notify()

    @property
    def waits_for_slot(self) -> bool:
        """Whether it waits for other processes, which nothing interrupts."""
        return self._slot is not None and self._slot.waiting

    def _stay(self, core: int) -> None:
        with contextlib.suppress(OSError):  # the core is not ours any more: all goes on as before
            os.sched_setaffinity(os.getpid(), {core})  # the thread that grades
        if self._sandbox is not None:
            self._sandbox.stay(core)

    def _worker(self, options: Options) -> Worker:
        worker = self._workers.get(options)
        if worker is None:
            if len(self._workers) >= _MOST_OPTIONS:
                self._write_caches()
                self._workers.clear()
            worker = self._workers[options] = Worker(options, self._gate, self._sandbox)
        return worker

    # ---- the thread that grades

    def run(self) -> None:
        """Grades until `end`, and closes the sandbox."""
        with self._changed:
            self._changed.wait_for(lambda: self._setup is not None or self._ending)
            setup = self._setup
        try:
            if setup is None or not self._start(setup):
                return
            while (job := self._next()) is not None:
                if isinstance(job, Call):
                    self._call(job)
                else:
                    self._grade(job, setup)
        finally:
            self.close()

    def close(self) -> None:
        """Ends the sandbox's processes, and waits for that; what the caches of grades have not written is written."""
        self._write_caches()
        if self._sandbox is not None:
            self._sandbox.close()

    def _write_caches(self) -> None:
        for worker in list(self._workers.values()):
            worker.close()

    def _start(self, setup: Setup) -> bool:
        if setup.machine_wide:
            self._slot = Slot()
        sandbox = Sandbox(setup.sandbox)
        if setup.proof is not None:
            sandbox = Sandbox.trusting(setup.proof.settings, setup.proof.unproved)
        with self._changed:
            self._sandbox = sandbox
            if self._ending:
                return False
        ready = Ready()
        try:
            sandbox.warm_up()
        except SandboxUnavailable as error:
            ready = Ready(reason=error.reason, mend=error.mend)
        except (InterpreterError, *FAULTS) as error:
            ready = Ready(reason=str(error) or repr(error), bad_interpreter=isinstance(error, InterpreterError))
        if sandbox.proof is not None:
            ready.proof = Proof(*sandbox.proof)
        self._tell(ready)
        return not ready.reason

    def _next(self) -> Job | Call | None:
        """The next one, or None at the end; before it waits, it sends what is finished."""
        with self._changed:
            if self._todo and not self._ending:
                return self._todo.popleft()
            self._busy = False
        if self._slot is not None:
            self._slot.give()
        self._flush()
        self._write_caches()
        with self._changed:
            self._changed.wait_for(lambda: self._todo or self._ending)
            self._busy = True
            return None if self._ending else self._todo.popleft()

    def _grade(self, job: Job, setup: Setup) -> None:
        task, worker = self._tasks[job.task]
        spent = Spent()
        with measured() if self._measure else contextlib.nullcontext(spent) as spent:
            if self._slot is not None:
                self._slot.take()
            began = time.monotonic()
            grade = worker.grade(task, job.rollout)
        if self._ending:
            return
        done = _Finished(job.number, job.rollout, grade, time.monotonic() - began)
        if worker.no_sandbox or self._measure:
            self._flush()
            self._tell_done([done], spent, no_sandbox=worker.no_sandbox)
            return
        with self._changed:
            if not self._finished:
                self._since = time.monotonic()
            self._finished.append(done)
            waited = max(done.seconds, time.monotonic() - self._since)
            # Half of what was to do is done: the caller sends more when it hears of that.
            enough = len(self._finished) >= len(self._todo)
        if enough or waited >= setup.linger_s:
            self._flush()

    def _call(self, call: Call) -> None:
        self._flush()
        function, arguments, options = call_in(call)
        if self._slot is not None:
            self._slot.take()
        try:
            answer = returned(call.number, self._worker(options).call(function, arguments))
        except Exception as error:
            answer = _failed(call.number, error)
        if not self._ending:
            self._tell(answer)

    # ---- either

    def _flush(self) -> None:
        with self._changed:
            finished, self._finished = self._finished, []
        if finished:
            self._tell_done(finished, Spent())

    def _tell_done(self, finished: list[_Finished], spent: Spent, *, no_sandbox: bool = False) -> None:
        grades = [each.grade for each in finished]
        message = Done(
            [each.number for each in finished],
            packed(grades),
            Counter(grade.verdict.value for grade in grades),
            sum(grade.cached for grade in grades),
            sum(each.seconds for each in finished),
            math.exp(sum(math.log(each.seconds + _LEAST_S) for each in finished) / len(finished)),
            spent=spent.seconds,
            no_sandbox=no_sandbox,
        )
        if self._setup is not None and self._setup.columns:
            message.columns = columns_of([each.rollout for each in finished], grades)
        self._tell(message)

    def _tell(self, message: FromWorker) -> None:
        with self._sending:
            self._send(message)


def _failed(number: int, error: Exception) -> Returned:
    try:
        return returned(number, error, raised=True)
    except Exception:  # it can't be pickled
        return returned(number, RuntimeError(repr(error)), raised=True)
