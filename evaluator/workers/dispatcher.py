"""Gives rollouts to workers and takes their grades: one queue in front of all of them, whatever the engine.

A worker has as many rollouts at once as it grades in a quarter of a second, and two at least, so that it never waits
for the next one. What waits behind a slow one is given to a worker that has nothing to do, too: the first answer
counts. When a worker is lost, another takes its place.
"""

from __future__ import annotations

import itertools
import selectors
import time
from collections import deque
from collections.abc import Callable
from typing import Final

from evaluator.model import Verdict
from evaluator.options import Options
from evaluator.sandbox import FaultError, SandboxUnavailable
from evaluator.workers.batches import Batch, CallItem, Item, Order
from evaluator.workers.engine import Engine, WorkerClient, WorkerLostError
from evaluator.workers.messages import Call, Done, FromWorker, Job, Ready, Setup, ToWorker, Work, pickled, unpickled
from evaluator.workers.worker import stay, ungraded

_QUEUED_PER_START: Final = 2
_MOST_CHARACTERS: Final = 64 << 20
_SOON_S: Final = 0.05
_DEATHS: Final = 2
_READ, _WRITE = selectors.EVENT_READ, selectors.EVENT_WRITE
_PAUSE_S: Final = 0.05
_DOUBLINGS: Final = 7
_FAILED_STARTS: Final = 3
_NO_ROOM: Final = "check free memory, and the limit of processes (ulimit -u)"
_MOST_BYTES: Final = 64 << 20
"""Of tasks that a worker keeps, and that are kept here to be sent again."""
_QUEUED_S: Final = 0.25
"""How much work a worker has in advance, so that it never waits for the next rollout and its grades come in batches;
and how long at most a rollout waits behind others as quick as most."""
_LEAST: Final = 2
_MOST: Final = 256
_WEIGHT: Final = 0.3
_SLOW_S: Final = 0.03


class _EncodedTasks:
    """Tasks as they are sent, so that each is encoded once for all workers."""

    def __init__(self) -> None:
        self._kept: dict[int, bytes] = {}
        self._bytes = 0

    def encoded(self, order: Order) -> bytes:
        """As in `Work.tasks`."""
        found = self._kept.get(order.number)
        if found is None:
            found = pickled((order.task, order.options))
            if self._bytes > _MOST_BYTES:
                self._kept.clear()
                self._bytes = 0
            self._kept[order.number] = found
            self._bytes += len(found)
        return found


class _WorkerState:
    """A worker's client, and what the dispatcher knows of it."""

    def __init__(self, client: WorkerClient, encoded: _EncodedTasks) -> None:
        self.client = client
        self.ready = False
        self.core: int | None = None
        """On which it stays."""
        self.at_once = 1
        """How many rollouts it grades at once."""
        self.outstanding: dict[int, Item | CallItem] = {}
        """What it was given and has not answered, in its order."""
        self._heard = time.monotonic()
        self._pace_s: float | None = None
        self._encoded = encoded
        self._tasks: set[int] = set()
        """Those that it has."""
        self._bytes = 0

    @property
    def window(self) -> int:
        """How many rollouts it may have at once."""
        if self._pace_s is None:
            return self.at_once * _LEAST
        return self.at_once * max(_LEAST, min(_MOST, int(_QUEUED_S / self._pace_s)))

    @property
    def room(self) -> int:
        """How many it may be given now; none while it has more than half of its window."""
        window, has = self.window, len(self.outstanding)
        if not self.ready or has > window // 2 or any(item.deaths for item in self.outstanding.values()):
            return 0
        return window - has

    def messages(self, items: list[Item | CallItem]) -> list[ToWorker]:
        """The messages with these, which it has from here on."""
        new: dict[int, bytes] = {}
        jobs: list[Job] = []
        calls: list[ToWorker] = []
        if not self.outstanding:
            self._heard = time.monotonic()
        for item in items:
            self.outstanding[item.number] = item
            if isinstance(item, CallItem):
                calls.append(Call(item.number, item.pickled))
                continue
            number = item.order.number
            if number not in self._tasks:
                new[number] = self._encoded.encoded(item.order)
                self._tasks.add(number)
                self._bytes += len(new[number])
            jobs.append(Job(item.number, number, item.rollout))
        return [Work(jobs, new, self._forgotten()), *calls] if jobs else calls

    def answered(self, typical_s: float) -> None:
        """It has sent grades, which took it so long each."""
        self._heard = time.monotonic()
        before = self._pace_s
        self._pace_s = typical_s if before is None else before + (typical_s - before) * _WEIGHT

    def kept_waiting(self, now: float) -> list[Item | CallItem]:
        """The last half of what waits behind something that takes it long."""
        if now - self._heard < _SLOW_S:
            return []
        waiting = [item for item in list(self.outstanding.values())[self.at_once :] if not (item.twice or item.settled)]
        return waiting[len(waiting) // 2 :]

    def _forgotten(self) -> list[int]:
        """When it has too many tasks, all but those that it needs, which it must forget."""
        if self._bytes <= _MOST_BYTES:
            return []
        orders = {item.order.number: item.order for item in self.outstanding.values() if isinstance(item, Item)}
        gone = self._tasks - orders.keys()
        self._tasks -= gone
        self._bytes = sum(len(self._encoded.encoded(order)) for order in orders.values())
        return list(gone)


class Dispatcher:
    """The queue, and the workers behind it. For one thread at a time; close it."""

    def __init__(self, engine: Engine, setup: Setup) -> None:
        """Workers are started as they are needed."""
        self._engine = engine
        self._setup = setup
        self._selector = selectors.DefaultSelector()
        self._encoded = _EncodedTasks()
        self._workers: list[_WorkerState] = []
        self._ending: list[WorkerClient] = []
        self._failed_starts = 0
        self._failure = ""
        """Why none could be started a moment ago."""
        self._not_before = 0.0
        """When a worker may be started again."""
        self._queue: deque[Item | CallItem] = deque()
        self._suspects: deque[Item | CallItem] = deque()
        """What a lost worker had: each is done alone."""
        self._numbers = itertools.count()
        self._batches: list[Batch] = []
        self._windows = 0
        """How many all workers together may have, also those that can still be started."""
        self._measure()
        self._characters = 0
        self.pending = 0
        """How many have no result yet."""

    @property
    def has_room(self) -> bool:
        """Whether it can take another rollout."""
        return self.pending < self._windows and self._characters < _MOST_CHARACTERS

    def watch(self, descriptor: int, on_ready: Callable[[], object]) -> None:
        """Has `wait` end, and a function called, when a descriptor can be read from."""
        self._selector.register(descriptor, _READ, on_ready)

    def add(self, item: Item | CallItem) -> None:
        """Something to do."""
        item.number = next(self._numbers)
        self.pending += 1
        self._characters += _characters(item)
        self._queue.append(item)

    def warm_up(self) -> None:
        """Waits until a worker is ready. Raises `SandboxUnavailable` or `InterpreterError` if none can be."""
        while not any(worker.ready for worker in self._workers):
            self._serve(at_least=1)
            self._listen(_SOON_S)

    def wait(self, timeout_s: float) -> list[Batch]:
        """Grades, as soon as there are some; none after so many seconds, or when something that is watched is ready.

        The results of calls are told as they arrive.
        """
        self._serve()
        if not self._batches:
            waits = bool(self._queue or self._suspects)  # for a worker, which may be started in a moment
            soon = max(_SOON_S, self._not_before - time.monotonic())
            if not waits and any(len(worker.outstanding) > worker.at_once for worker in self._workers):
                waits, soon = True, _SOON_S  # an idle worker may relieve it in a moment
            self._listen(min(timeout_s, soon) if waits else timeout_s)
            self._serve()
        found, self._batches = self._batches, []
        return found

    def drop(self, item: Item | CallItem) -> None:
        """Nobody wants its result any more."""
        for queue in (self._queue, self._suspects):
            if item in queue:
                queue.remove(item)
                self._settled(item)
                return
        if not item.settled:
            self._settled(item)
        for worker in list(self._workers):
            if item.number in worker.outstanding and not worker.client.drop(item.number):
                self._end(worker)
                self._queue.extendleft(reversed(self._left_by(worker)))

    def close(self) -> None:
        """Ends all workers, with whatever they are doing."""
        clients = [*self._ending, *(worker.client for worker in self._workers)]
        for client in clients:
            client.end()
        for client in clients:
            client.close()
        self._ending.clear()
        self._workers.clear()
        self._selector.close()

    # ---- to the workers

    def _serve(self, at_least: int = 0) -> None:
        """Gives them what there is."""
        self._start(max(len(self._queue) + len(self._suspects), at_least))
        free = [worker for worker in self._workers if worker.room]
        free.sort(key=lambda worker: len(worker.outstanding))
        for place, worker in enumerate(free):
            if self._suspects:
                if not worker.outstanding:
                    self._give(worker, [self._suspects.popleft()])
                continue
            share = -(-len(self._queue) // (len(free) - place))
            self._give(worker, [self._queue.popleft() for _ in range(min(share, worker.room))])
        if not self._queue and not self._suspects:
            self._relieve()
        if self._failure and not self._workers and self._failed_starts >= _FAILED_STARTS:
            self._give_up_all()
        self._measure()

    def _measure(self) -> None:
        """Not for each rollout: with 64 workers that was a third of what a rollout costs the caller."""
        unstarted = self._engine.workers - len(self._workers)
        self._windows = sum(worker.window for worker in self._workers) + _QUEUED_PER_START * unstarted

    def _relieve(self) -> None:
        """Gives idle workers what waits behind a slow rollout of another."""
        now = time.monotonic()
        for idle in self._workers:
            if idle.outstanding or not idle.room:
                continue
            waiting = max((worker.kept_waiting(now) for worker in self._workers), key=len)
            for item in waiting:
                item.twice = True
            self._give(idle, waiting)

    def _give(self, worker: _WorkerState, items: list[Item | CallItem]) -> None:
        for message in worker.messages(items):
            self._send(worker, message)

    def _send(self, worker: _WorkerState, message: ToWorker) -> None:
        worker.client.send(message)
        if worker.client.flush():
            self._selector.modify(worker.client.fileno(), _READ | _WRITE, worker)

    # ---- from the workers

    def _listen(self, timeout_s: float) -> None:
        """Takes what they say, as soon as there is something.

        Raises `SandboxUnavailable` or `InterpreterError` if the first to answer has no sandbox.
        """
        for key, events in self._selector.select(timeout_s):
            worker = key.data
            if not isinstance(worker, _WorkerState):
                worker()
                continue
            if worker not in self._workers:  # it was lost a moment ago
                continue
            if events & _WRITE and not worker.client.flush():
                self._selector.modify(key.fileobj, _READ, worker)
            if not events & _READ:
                continue
            try:
                for message in worker.client.receive():
                    self._take(worker, message)
            except WorkerLostError as error:
                self._lost(worker, error)

    def _take(self, worker: _WorkerState, message: FromWorker) -> None:
        if isinstance(message, Ready):
            self._answered(worker, message)
        elif isinstance(message, Done):
            self._take_grades(worker, message)
        elif isinstance(item := worker.outstanding.pop(message.number, None), CallItem) and not item.settled:
            self._settled(item)
            item.on_result(unpickled(message.pickled), message.raised)

    def _take_grades(self, worker: _WorkerState, done: Done) -> None:
        worker.answered(done.typical_s)
        items = [item for number in done.numbers if isinstance(item := worker.outstanding.pop(number), Item)]
        batch = Batch(items, done).without_settled()
        self._batches += [batch] if batch else []
        for item in batch.items:
            self._settled(item)

    def _lost(self, worker: _WorkerState, error: WorkerLostError) -> None:
        """What it had is done again: alone, if it may be why the worker ended."""
        self._end(worker)
        left = self._left_by(worker)
        if not error.suspicious:
            self._queue.extendleft(reversed(left))
            return
        if not worker.ready:
            self._start_failed(str(error))
        for item in reversed(left):
            item.deaths += 1
            if item.deaths < _DEATHS:
                self._suspects.append(item)
            else:
                self._give_up(item, f"{error}, twice while it graded this")

    def _left_by(self, ended: _WorkerState) -> list[Item | CallItem]:
        """What it had and nobody else has."""
        others = {number for worker in self._workers for number in worker.outstanding}
        return [item for item in ended.outstanding.values() if not item.settled and item.number not in others]

    def _give_up_all(self) -> None:
        """There is no worker, and none can be started. Raises `SandboxUnavailable` if there never was one."""
        if self._setup.proof is None:
            raise SandboxUnavailable(self._failure, _NO_ROOM)
        for item in (*self._queue, *self._suspects):
            self._give_up(item, self._failure)
        self._queue.clear()
        self._suspects.clear()
        self._failure = ""  # what comes from here on waits until another start has failed

    def _give_up(self, item: Item | CallItem, why: str) -> None:
        self._settled(item)
        if isinstance(item, CallItem):
            item.on_result(FaultError(why), True)
            return
        self._batches.append(Batch([item], [ungraded(item.rollout, Verdict.SANDBOX_ERROR, why)]))

    def _settled(self, item: Item | CallItem) -> None:
        item.settled = True
        self.pending -= 1
        self._characters -= _characters(item)

    # ---- starting and ending workers

    def _start(self, wanted: int) -> None:
        """Starts as many as are wanted beside those that have nothing to do, or are starting already."""
        self._ending = [client for client in self._ending if not client.gone()]
        wanted -= sum(not (worker.ready and worker.outstanding) for worker in self._workers)
        most = self._most() if wanted > 0 else 0
        while wanted > 0 and len(self._workers) < most and time.monotonic() >= self._not_before:
            wanted -= 1
            try:
                client = self._engine.start()
            except WorkerLostError as error:
                self._start_failed(str(error))
                break
            worker = _WorkerState(client, self._encoded)
            self._workers.append(worker)
            self._selector.register(client.fileno(), _READ, worker)
            self._send(worker, self._setup)  # those that start together prove their sandboxes each, at the same time

    def _most(self) -> int:
        """How many there may be now. Where other processes have some too, they become more step by step."""
        has, most = len(self._workers), self._engine.workers
        if self._engine.is_full is None or has >= most:
            return most
        if has and (not all(worker.ready for worker in self._workers) or self._engine.is_full()):
            return has
        return min(max(1, 2 * has), most)

    def _answered(self, worker: _WorkerState, ready: Ready) -> None:
        if not ready.refusal:
            worker.ready = True
            worker.at_once = ready.workers
            self._failed_starts = 0
            if self._engine.same_machine:
                self._setup.proof = self._setup.proof or ready.proof
            if len(self._workers) == len(self._engine.cores) and all(each.ready for each in self._workers):
                self._spread()
            return
        error = unpickled(ready.refusal)
        if worker.ready:
            self._lost(worker, WorkerLostError(str(error)))
            return
        self._end(worker)
        if self._setup.proof is None:  # nothing was graded yet
            raise error
        self._start_failed(str(error))

    def _spread(self) -> None:
        """Once all are there, each gets a core of its own, which then has all that it needs in its caches.

        Not while there are fewer: other programs may have chosen the same cores.
        """
        free = set(self._engine.cores) - {worker.core for worker in self._workers}
        for worker in self._workers:
            if worker.core is None:
                worker.core = free.pop()
                self._send(worker, Call(next(self._numbers), pickled((stay, (worker.core,), Options()))))

    def _start_failed(self, why: str) -> None:
        self._failed_starts += 1
        self._failure = why
        self._not_before = time.monotonic() + _PAUSE_S * 2 ** min(self._failed_starts, _DOUBLINGS)

    def _end(self, worker: _WorkerState) -> None:
        """Ends one, with whatever it is doing."""
        self._workers.remove(worker)
        self._selector.unregister(worker.client.fileno())
        worker.client.end()
        self._ending.append(worker.client)


def _characters(item: Item | CallItem) -> int:
    return len(item.pickled if isinstance(item, CallItem) else item.rollout.completion)
