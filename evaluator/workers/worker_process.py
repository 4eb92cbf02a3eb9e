"""The process that grades for another one, with a sandbox of its own. It is started by exec, and imports little.

One thread is in `run`, where it grades. Another one is in `listen`. The process ends when its caller closes the socket,
and at once when its caller is gone, however that ended. Nothing that it started outlives it.
"""

from __future__ import annotations

import contextlib
import gc
import math
import os
import select
import signal
import socket
import sys
import threading
import time
from collections import deque
from typing import Final, NamedTuple

from evaluator.model import Grade, Rollout, Task
from evaluator.options import Options
from evaluator.runs.schema import columns_of
from evaluator.sandbox import InterpreterError, Sandbox, SandboxUnavailable
from evaluator.workers.locks import Gate, Slot
from evaluator.workers.messages import (
    Call,
    Frames,
    FromWorker,
    Job,
    Ready,
    Returned,
    Setup,
    ToWorker,
    Work,
    done_of,
    framed,
    pickled,
    unpickled,
)
from evaluator.workers.worker import FAULTS, Worker

_READ: Final = 1 << 20
_STACK_BYTES: Final = 8 << 20
_ENDS_WITHIN_S: Final = 2.0
"""How long a grader that is in the middle of something, and runs no completion, may take to notice the end."""
_MOST_OPTIONS: Final = 64
_LEAST_S: Final = 1e-5


def main(descriptor: int, gate: int, caller: int) -> None:
    """Grades for the process `caller` at the other end of the socket until that is closed. Does not return."""
    gc.set_threshold(100_000)  # as in the command
    threading.stack_size(_STACK_BYTES)  # the default is the caller's RLIMIT_STACK, which may be larger than memory
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the caller's, who then says what happens here
    loop = WorkerLoop(socket.socket(fileno=descriptor), Gate(gate))
    threading.Thread(target=loop.listen, args=(caller,), daemon=True).start()
    try:
        loop.run()
    finally:
        loop.ended.set()
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        os._exit(0)


class _Finished(NamedTuple):
    number: int
    rollout: Rollout
    grade: Grade
    seconds: float


class WorkerLoop:
    """One worker's work."""

    def __init__(self, connection: socket.socket, gate: Gate) -> None:
        """`gate`: that of all workers of the same caller."""
        self._connection = connection
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
        self._linger_s = 0.0
        self._busy = False
        self._ending = False
        self._sandbox: Sandbox | None = None
        self._slot: Slot | None = None
        self.ended = threading.Event()

    # ---- the thread that listens

    def listen(self, caller: int) -> None:
        """Takes messages until there is nobody at the other end, and then has `run` return, or ends the process."""
        frames = Frames[ToWorker](ToWorker)
        poll = select.poll()
        poll.register(self._connection, select.POLLIN)
        lifeline = _lifeline(caller)
        if lifeline is not None:
            poll.register(lifeline, select.POLLIN)
        while True:
            ready = dict(poll.poll(self._linger_s * 1000 if self._linger_s and self._busy else None))
            if lifeline in ready or (self._connection.fileno() in ready and not self._hear(frames)):
                break
            if self._finished and time.monotonic() - self._since >= self._linger_s:
                self._flush()  # whatever takes the next one so long
        with self._changed:
            self._ending = True
            self._todo.clear()
            if self._sandbox is not None:
                self._sandbox.abort()
            self._changed.notify()
        waits_for_slot = self._slot is not None and self._slot.waiting  # which nothing interrupts
        if waits_for_slot or not self.ended.wait(_ENDS_WITHIN_S):
            self._close()
            os._exit(1)

    def _hear(self, frames: Frames[ToWorker]) -> bool:
        """Whether there is still somebody at the other end."""
        try:
            data = self._connection.recv(_READ)
        except OSError:
            return False
        for message in frames.feed(data):
            with self._changed:
                self._take(message)
                self._changed.notify()
        return bool(data)

    def _take(self, message: ToWorker) -> None:
        if isinstance(message, Work):
            for number in message.forget:
                self._tasks.pop(number, None)
            for number, task_and_options in message.tasks.items():
                task, options = unpickled(task_and_options)
                self._tasks[number] = task, self._worker(options)
            self._todo.extend(message.jobs)
        elif isinstance(message, Call):
            self._todo.append(message)
        else:
            self._setup = message
            self._linger_s = message.linger_s

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
        """Grades until the end, and closes the sandbox."""
        with self._changed:
            self._changed.wait_for(lambda: self._setup is not None or self._ending)
        try:
            if self._setup is None or not self._start(self._setup):
                return
            while (job := self._next()) is not None:
                if self._slot is not None:
                    self._slot.take()
                if isinstance(job, Call):
                    self._call(job)
                elif not self._grade(job):
                    return
        finally:
            self._close()

    def _close(self) -> None:
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
            sandbox = Sandbox.trusting(*setup.proof)
        with self._changed:
            self._sandbox = sandbox
            if self._ending:
                return False
        ready = Ready()
        try:
            if setup.runs_code:
                sandbox.warm_up()
        except (SandboxUnavailable, InterpreterError) as error:
            ready.refusal = pickled(error)
        except FAULTS as error:
            ready.refusal = pickled(SandboxUnavailable(str(error) or repr(error), "see `rollscope doctor`"))
        ready.proof = sandbox.proof
        self._tell(ready)
        return not ready.refusal

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

    def _grade(self, job: Job) -> bool:
        """Whether it has a sandbox."""
        task, worker = self._tasks[job.task]
        began = time.monotonic()
        grade = worker.grade(task, job.rollout)
        done = _Finished(job.number, job.rollout, grade, time.monotonic() - began)
        if self._ending:
            return True
        if worker.no_sandbox is not None:  # another one may have a sandbox
            self._flush()
            self._tell(Ready(refusal=pickled(worker.no_sandbox)))
            return False
        with self._changed:
            if not self._finished:
                self._since = time.monotonic()
            self._finished.append(done)
            waited = max(done.seconds, time.monotonic() - self._since)
            # Half of what was to do is done: the caller sends more when it hears of that.
            enough = len(self._finished) >= len(self._todo)
        if enough or waited >= self._linger_s:
            self._flush()
        return True

    def _call(self, call: Call) -> None:
        self._flush()
        function, arguments, options = unpickled(call.pickled)
        try:
            answer = Returned(call.number, pickled(self._worker(options).call(function, arguments)))
        except Exception as error:
            answer = _failed(call.number, error)
        if not self._ending:
            self._tell(answer)

    # ---- either

    def _flush(self) -> None:
        with self._changed:
            finished, self._finished = self._finished, []
        if not finished:
            return
        grades = [each.grade for each in finished]
        typical_s = math.exp(sum(math.log(each.seconds + _LEAST_S) for each in finished) / len(finished))
        message = done_of([each.number for each in finished], grades, typical_s)
        if self._setup is not None and self._setup.columns:
            message.columns = columns_of([each.rollout for each in finished], grades)
        self._tell(message)

    def _tell(self, message: FromWorker) -> None:
        with self._sending, contextlib.suppress(OSError):  # nobody is there any more, which `listen` notices
            self._connection.sendall(framed(message))


def _failed(number: int, error: Exception) -> Returned:
    try:
        return Returned(number, pickled(error), raised=True)
    except Exception:  # it can't be pickled
        return Returned(number, pickled(RuntimeError(repr(error))), raised=True)


def _lifeline(caller: int) -> int | None:
    """A descriptor that can be read from when the caller has ended; None where the kernel has none.

    A process that the caller forked may hold the socket's other end, so that its closing does not tell.
    """
    try:
        lifeline = os.pidfd_open(caller)
    except OSError:
        return None
    if os.getppid() != caller:  # it ended before that, and its number may be another's
        os._exit(1)
    return lifeline
