"""A worker that is a server of grades: requests over HTTP, each in a thread, whose answers arrive line by line."""

from __future__ import annotations

import queue
import random
import threading
import time
from collections.abc import Callable
from typing import Final, NamedTuple, TypeVar

from evaluator.options import Options
from evaluator.version import VERSION
from evaluator.workers.bell import Bell
from evaluator.workers.messages import Done, FromWorker, Job, Ready, Setup, ToWorker, Work, packed, task_in
from evaluator.workers.server.connection import Address, Connection, TryAgainError
from evaluator.workers.server.wire import SERVER, Asked, Graded, Request, sent_options, task_key, text_of

Result = TypeVar("Result")

_FIX: Final = f"start `rollscope serve grades` there, or unset {SERVER} to grade on this machine"
_PATIENCE_S: Final = 30.0
"""How long a server may be unreachable, or full, without a single grade."""
_FIRST_PAUSE_S: Final = 0.1
_LONGEST_PAUSE_S: Final = 5.0
_PACE_S: Final = 0.03
"""So that it has eight rollouts at once for each of its workers."""


class _Task(NamedTuple):
    key: str
    text: str
    options: Options


class _Batch(NamedTuple):
    """One request's rollouts."""

    jobs: list[Job]
    options: Options
    measure: bool


class ServerClient:
    """One server. Its threads end with it, or with the process."""

    def __init__(self, address: Address, lost: Callable[[str], Exception]) -> None:
        """`lost`: gets why the server is given up, and returns what `receive` raises."""
        self._address = address
        self._lost = lost
        self._bell = Bell()
        self._lock = threading.Lock()
        self._said: list[FromWorker] = []
        self._failure: Exception | None = None
        self._tasks: dict[int, _Task] = {}
        self._known: set[str] = set()
        """Keys of tasks that the server was sent."""
        self._batches: queue.SimpleQueue[_Batch | None] = queue.SimpleQueue()
        self._idle = 0
        """How many threads wait for a batch."""
        self._connections: set[Connection] = set()
        self._ending = False

    def fileno(self) -> int:
        return self._bell.descriptor

    def send(self, message: ToWorker) -> None:
        if isinstance(message, Setup):
            self._begin(None)
        elif isinstance(message, Work):
            for number in message.forget:
                self._known.discard(self._tasks.pop(number).key)
            for each in message.tasks:
                task, options = task_in(each)
                text = text_of(task)
                self._tasks[each.number] = _Task(task_key(text), text, sent_options(options))
            by_options: dict[Options, list[Job]] = {}
            for job in message.jobs:
                by_options.setdefault(self._tasks[job.task].options, []).append(job)
            for options, jobs in by_options.items():
                self._begin(_Batch(jobs, options, message.measure))

    def flush(self) -> bool:
        return False

    def receive(self) -> list[FromWorker]:
        self._bell.silence()
        with self._lock:
            said, self._said = self._said, []
            if self._failure is not None and not said:
                raise self._failure
            if self._failure is not None:
                self._bell.ring()
        return said

    def end(self) -> None:
        with self._lock:
            self._ending = True
            for connection in self._connections:
                connection.hang_up()
            for _ in range(self._idle):
                self._batches.put(None)

    def gone(self) -> bool:
        return True

    def close(self) -> None:
        self.end()

    def _begin(self, batch: _Batch | None) -> None:
        """Leaves it to a thread that has nothing to do, or to a new one; each has a connection of its own."""
        with self._lock:
            if self._idle and batch is not None:
                self._idle -= 1
                self._batches.put(batch)
                return
        threading.Thread(target=self._run, args=(batch,), daemon=True, name="rollscope-server").start()

    # ---- threads

    def _run(self, batch: _Batch | None) -> None:
        try:
            connection = Connection(self._address)
            with self._lock:
                self._connections.add(connection)
            if batch is None:
                self._say(Ready(workers=self._patiently(connection.workers)))
            while not self._ending:
                if batch is not None:
                    self._grade(connection, batch)
                with self._lock:
                    self._idle += 1
                batch = self._batches.get()
        except Exception as error:
            why = str(error) or repr(error)
            if isinstance(error, TryAgainError):
                why = f"{self._address.url} does not answer ({why}): {_FIX}"
            with self._lock:
                if not self._ending and self._failure is None:
                    self._failure = self._lost(why)
            self._bell.ring()

    def _grade(self, connection: Connection, batch: _Batch) -> None:
        """Asks until each rollout of the batch has its grade."""
        left = {job.number: job for job in batch.jobs}
        tasks = {task.key: task.text for task in (self._tasks[job.task] for job in batch.jobs)}

        def ask() -> None:
            before = len(left)
            asked = [Asked(job.number, self._tasks[job.task].key, job.rollout) for job in left.values()]
            request = Request(VERSION, batch.options, asked, measure=batch.measure)
            try:
                for graded in connection.grades(request, tasks, self._known):
                    self._known |= tasks.keys()
                    del left[graded.number]
                    self._say(_done(graded))
            except TryAgainError:
                if len(left) == before:
                    raise

        while left and not self._ending:
            self._patiently(ask)

    def _patiently(self, ask: Callable[[], Result]) -> Result:
        """What `ask` returns; while the server does not answer, it asks again after longer and longer pauses."""
        pause, until = _FIRST_PAUSE_S, time.monotonic() + _PATIENCE_S
        while True:
            try:
                return ask()
            except TryAgainError:
                if self._ending or time.monotonic() > until:
                    raise
            time.sleep(pause * random.uniform(0.5, 1.0))  # noqa: S311 - so that clients don't come back all at once
            pause = min(2 * pause, _LONGEST_PAUSE_S)

    def _say(self, message: FromWorker) -> None:
        with self._lock:
            self._said.append(message)
        self._bell.ring()


def _done(graded: Graded) -> Done:
    grade = graded.grade
    return Done(
        [graded.number], packed([grade]), {grade.verdict.value: 1}, int(grade.cached), _PACE_S, _PACE_S,
        spent=graded.spent,
    )  # fmt: skip
