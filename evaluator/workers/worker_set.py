"""The workers of one dispatcher: started as they are needed, listened to, ended; and what each was given."""

from __future__ import annotations

import selectors
import time
from collections.abc import Callable, Iterator
from typing import Final

from evaluator.sandbox import SandboxUnavailable
from evaluator.workers.batches import CallItem, Item, Order
from evaluator.workers.engine import Engine, WorkerClient, WorkerLostError
from evaluator.workers.messages import (
    Call,
    Done,
    Job,
    Ready,
    Returned,
    Setup,
    Shipped,
    ToWorker,
    Work,
    pickled,
    unpickled,
)

_READ, _WRITE = selectors.EVENT_READ, selectors.EVENT_WRITE
_PAUSE_S: Final = 0.05
_FAILED_STARTS: Final = 3
_NO_ROOM: Final = "check free memory, and the limit of processes (ulimit -u)"
_MOST_BYTES: Final = 64 << 20
"""Of tasks that a worker keeps, and that are kept here to be sent again."""
_QUEUED_S: Final = 0.25
"""How much work a worker has in advance, so that it never waits for the next rollout and its grades come in batches;
and how long at most a rollout waits behind others as quick as most."""
_LEAST: Final = 2
_MOST: Final = 32
_WEIGHT: Final = 0.3
_SLOW_S: Final = 0.03


class EncodedTasks:
    """Tasks as they are sent, so that each is encoded once for all workers."""

    def __init__(self) -> None:
        self._kept: dict[int, Shipped] = {}
        self._bytes = 0

    def shipped(self, order: Order) -> Shipped:
        """The order for a worker."""
        found = self._kept.get(order.number)
        if found is None:
            found = Shipped(order.number, pickled((order.task, order.options)))
            if self._bytes > _MOST_BYTES:
                self._kept.clear()
                self._bytes = 0
            self._kept[order.number] = found
            self._bytes += len(found.pickled)
        return found


class WorkerState:
    """A worker's client, and what the dispatcher knows of it."""

    def __init__(self, client: WorkerClient, encoded: EncodedTasks) -> None:
        self.client = client
        self.ready = False
        self.at_once = 1
        """How many rollouts it grades at once."""
        self.outstanding: dict[int, Item | CallItem] = {}
        """What it was given and has not answered, in its order."""
        self.resting_until = 0.0
        """After it could not start its sandbox."""
        self.no_sandbox = False
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

    def room(self, now: float) -> int:
        """How many it may be given now; none while it has more than half of its window."""
        if not self.ready or now < self.resting_until or any(item.deaths for item in self.outstanding.values()):
            return 0
        window, has = self.window, len(self.outstanding)
        return window - has if has <= window // 2 else 0

    def messages(self, items: list[Item | CallItem]) -> list[ToWorker]:
        """The messages with these, which it has from here on."""
        new: list[Shipped] = []
        jobs: list[Job] = []
        calls: list[ToWorker] = []
        if not self.outstanding:
            self._heard = time.monotonic()
        for item in items:
            self.outstanding[item.number] = item
            if isinstance(item, CallItem):
                calls.append(Call(item.number, item.pickled))
                continue
            if item.order.number not in self._tasks:
                new.append(self._encoded.shipped(item.order))
                self._tasks.add(item.order.number)
                self._bytes += len(new[-1].pickled)
            jobs.append(Job(item.number, item.order.number, item.rollout))
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
        self._bytes = sum(len(self._encoded.shipped(order).pickled) for order in orders.values())
        return list(gone)


class WorkerSet:
    """For one thread at a time; close it."""

    def __init__(self, engine: Engine, setup: Setup) -> None:
        self._engine = engine
        self._setup = setup
        self._selector = selectors.DefaultSelector()
        self._encoded = EncodedTasks()
        self._ending: list[WorkerClient] = []
        self._failed_starts = 0
        self._failure = ""
        self.not_before = 0.0
        """When a worker may be started again."""
        self.workers: list[WorkerState] = []

    @property
    def unstarted(self) -> int:
        """How many more there may be."""
        return self._engine.workers - len(self.workers)

    @property
    def hopeless(self) -> str:
        """Why there is no worker and none can be started; "" if there may be one. Raises if there never was one."""
        if self.workers or self._failed_starts < _FAILED_STARTS:
            return ""
        if self._setup.proof is None:
            raise SandboxUnavailable(self._failure, _NO_ROOM)
        return self._failure

    def watch(self, descriptor: int, on_ready: Callable[[], object]) -> None:
        """Has `listen` end, and a function called, when a descriptor can be read from."""
        self._selector.register(descriptor, _READ, on_ready)

    def start(self, wanted: int) -> None:
        """Starts as many as are wanted beside those that are starting already."""
        self._ending = [client for client in self._ending if not client.gone()]
        wanted -= sum(not worker.ready for worker in self.workers)
        most = self._most() if wanted > 0 else 0
        while wanted > 0 and len(self.workers) < most and time.monotonic() >= self.not_before:
            wanted -= 1
            try:
                client = self._engine.start()
            except WorkerLostError as error:
                self._start_failed(str(error))
                break
            worker = WorkerState(client, self._encoded)
            self.workers.append(worker)
            self._selector.register(client.fileno(), _READ, worker)
            self._send(worker, self._setup)  # those that start together prove their sandboxes each, at the same time

    def give(self, worker: WorkerState, items: list[Item | CallItem]) -> None:
        """Has a worker do these."""
        for message in worker.messages(items):
            self._send(worker, message)

    def listen(self, timeout_s: float) -> Iterator[tuple[WorkerState, Done | Returned | WorkerLostError]]:
        """What they say, as soon as there is something. One that is lost is not in `workers` any more.

        Raises `SandboxUnavailable` or `InterpreterError` if the first to answer has no sandbox.
        """
        for key, events in self._selector.select(timeout_s):
            worker = key.data
            if not isinstance(worker, WorkerState):
                worker()
                continue
            if worker not in self.workers:  # it was lost a moment ago
                continue
            if events & _WRITE and not worker.client.flush():
                self._selector.modify(key.fileobj, _READ, worker)
            if not events & _READ:
                continue
            try:
                for message in worker.client.receive():
                    if isinstance(message, Ready):
                        self._answered(worker, message)
                    else:
                        yield worker, message
            except WorkerLostError as error:
                self.end(worker)
                if not worker.ready and error.suspicious:
                    self._start_failed(str(error))
                yield worker, error

    def end(self, worker: WorkerState) -> None:
        """Ends one, with whatever it is doing."""
        self.workers.remove(worker)
        self._selector.unregister(worker.client.fileno())
        worker.client.end()
        self._ending.append(worker.client)

    def close(self) -> None:
        """Ends all, with whatever they are doing."""
        clients = [*self._ending, *(worker.client for worker in self.workers)]
        for client in clients:
            client.end()
        for client in clients:
            client.close()
        self._ending.clear()
        self.workers.clear()
        self._selector.close()

    def _send(self, worker: WorkerState, message: ToWorker) -> None:
        worker.client.send(message)
        if worker.client.flush():
            self._selector.modify(worker.client.fileno(), _READ | _WRITE, worker)

    def _most(self) -> int:
        """How many there may be now. Where other processes have some too, they become more step by step."""
        has, most = len(self.workers), self._engine.workers
        if self._engine.is_full is None or has >= most:
            return most
        if has and (not all(worker.ready for worker in self.workers) or self._engine.is_full()):
            return has
        return min(max(1, 2 * has), most)

    def _answered(self, worker: WorkerState, ready: Ready) -> None:
        if not ready.refusal:
            worker.ready = True
            worker.at_once = ready.workers
            self._failed_starts = 0
            if self._engine.same_machine:
                self._setup.proof = self._setup.proof or ready.proof
            return
        self.end(worker)
        error = unpickled(ready.refusal)
        if self._setup.proof is None:  # nothing was graded yet
            raise error
        self._start_failed(str(error))

    def _start_failed(self, why: str) -> None:
        self._failed_starts += 1
        self._failure = why
        self.not_before = time.monotonic() + _PAUSE_S * 2**self._failed_starts
