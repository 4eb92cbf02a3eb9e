"""The servers that `ROLLSCOPE_SERVER` names, as an engine: what a lost one had is graded by the others.

A client of one makes requests over HTTP, each in a thread, whose answers arrive line by line.
"""

from __future__ import annotations

import logging
import os
import queue
import random
import threading
import time
from collections.abc import Callable
from contextlib import closing
from typing import Final, NamedTuple, TypeVar

from evaluator.model import Rollout, Verdict
from evaluator.options import Options
from evaluator.version import VERSION
from evaluator.workers.bell import Bell
from evaluator.workers.engine import Engine, EngineError, WorkerClient, WorkerLostError
from evaluator.workers.interrupts import STOPPED
from evaluator.workers.messages import Done, FromWorker, Ready, Setup, ToWorker, Work, packed, task_in
from evaluator.workers.server.connection import Address, Connection, TryAgainError
from evaluator.workers.server.wire import SERVER, TOKEN, Asked, GradeLine, Request, sent_options, task_key, text_of
from evaluator.workers.worker import ungraded

Result = TypeVar("Result")

_log = logging.getLogger(__name__)

_FIX: Final = f"start `rollscope serve grades` there, or unset {SERVER} to grade on this machine"
_PATIENCE_S: Final = 30.0
"""How long a server may be unreachable, or full, without a single grade."""
_FIRST_PAUSE_S: Final = 0.1
_LONGEST_PAUSE_S: Final = 5.0
_PACE_S: Final = 0.03
"""So that it has eight rollouts at once for each of its workers."""


def engine(addresses: str) -> Engine:
    """`addresses`: URLs with commas between them."""
    token = os.environ.get(TOKEN)
    servers = _Servers([Address(url.strip().rstrip("/"), token) for url in addresses.split(",") if url.strip()])
    return Engine(servers.start, servers.left, same_machine=False)


class _Servers:
    """Those of one dispatcher."""

    def __init__(self, addresses: list[Address]) -> None:
        self._untried = addresses[::-1]
        self.left = len(addresses)
        """How many may have grades yet."""

    def start(self) -> WorkerClient:
        if not self._untried:
            raise WorkerLostError("there is no other server", suspicious=False)
        return ServerClient(self._untried.pop(), self._lost)

    def _lost(self, why: str) -> Exception:
        self.left -= 1
        if not self.left:
            return EngineError(why)
        _log.warning("%s; the other servers go on", why)
        return WorkerLostError(why, suspicious=False)


class _Task(NamedTuple):
    key: str
    text: str
    options: Options


class _Unanswered:
    """One request's rollouts."""

    def __init__(self, rollouts: dict[int, tuple[Rollout, _Task]], options: Options, *, measure: bool) -> None:
        self.left = rollouts
        """Those without an answer, by number."""
        self.options = options
        self.measure = measure
        self.connection: Connection | None = None
        """On which it is asked for."""


class ServerClient:
    """One server. Its threads end with it, or with the process."""

    def __init__(self, address: Address, lost: Callable[[str], Exception]) -> None:
        """`lost`: gets why the server is given up, and returns what `receive` raises."""
        self._address = address
        self._lost = lost
        self._bell = Bell()
        self._lock = threading.RLock()
        self._said: list[FromWorker] = []
        self._failure: Exception | None = None
        self._tasks: dict[int, _Task] = {}
        self._known: set[str] = set()
        """Keys of tasks that the server was sent."""
        self._batches: queue.SimpleQueue[_Unanswered | None] = queue.SimpleQueue()
        self._batch_of: dict[int, _Unanswered] = {}
        """By the number of each rollout that has no answer."""
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
                record, options = task_in(each)
                text = text_of(record)
                self._tasks[each.number] = _Task(task_key(text), text, sent_options(options))
            by_options: dict[Options, dict[int, tuple[Rollout, _Task]]] = {}
            for job in message.jobs:
                task = self._tasks[job.task]
                by_options.setdefault(task.options, {})[job.number] = job.rollout, task
            for options, rollouts in by_options.items():
                batch = _Unanswered(rollouts, options, measure=message.measure)
                with self._lock:
                    self._batch_of |= dict.fromkeys(batch.left, batch)
                self._begin(batch)

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

    def drop(self, number: int) -> bool:
        with self._lock:
            batch = self._batch_of.get(number)
            if batch is not None:
                rollout, _ = batch.left[number]
                self._answer(batch, GradeLine(number, ungraded(rollout, Verdict.SANDBOX_ERROR, STOPPED)))
                if not batch.left and batch.connection is not None:
                    batch.connection.hang_up()
        return True

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

    def _begin(self, batch: _Unanswered | None) -> None:
        """Leaves it to a thread that has nothing to do, or to a new one; each has a connection of its own."""
        with self._lock:
            if self._idle and batch is not None:
                self._idle -= 1
                self._batches.put(batch)
                return
        threading.Thread(target=self._run, args=(batch,), daemon=True, name="rollscope-server").start()

    # ---- threads

    def _run(self, batch: _Unanswered | None) -> None:
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

    def _grade(self, connection: Connection, batch: _Unanswered) -> None:
        """Asks until each rollout of the batch has its answer."""
        batch.connection = connection

        def ask() -> None:
            with self._lock:
                left = batch.left.copy()
            asked = [Asked(number, task.key, rollout) for number, (rollout, task) in left.items()]
            tasks = {task.key: task.text for _, task in left.values()}
            request = Request(VERSION, batch.options, asked, measure=batch.measure)
            try:
                with closing(connection.grades(request, tasks, self._known)) as grades:
                    for graded in grades:
                        self._known |= tasks.keys()
                        self._answer(batch, graded)
                        if not batch.left:
                            return  # which ends what the server still does for those that were dropped
            except TryAgainError:
                if len(batch.left) == len(left):
                    raise

        while batch.left and not self._ending:
            self._patiently(ask)
        with self._lock:
            batch.connection = None

    def _answer(self, batch: _Unanswered, graded: GradeLine) -> None:
        with self._lock:
            if batch.left.pop(graded.number, None) is not None:  # not if it was dropped
                del self._batch_of[graded.number]
                self._say(_done(graded))

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


def _done(graded: GradeLine) -> Done:
    grade = graded.grade
    return Done(
        [graded.number], packed([grade]), {grade.verdict.value: 1}, int(grade.cached), _PACE_S, _PACE_S,
        spent=graded.spent,
    )  # fmt: skip
