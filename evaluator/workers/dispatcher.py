"""Gives rollouts to workers and takes their grades: one queue in front of all of them, whatever the engine.

A worker has as many rollouts at once as it grades in a quarter of a second, and two at least, so that it never waits
for the next one. What waits behind a slow one is given to a worker that has nothing to do, too: the first answer
counts. When a worker is lost, another takes its place.
"""

from __future__ import annotations

import itertools
import time
from collections import deque
from collections.abc import Callable
from typing import Final

from evaluator.model import Verdict
from evaluator.sandbox import FaultError
from evaluator.workers.batches import Batch, CallItem, Item
from evaluator.workers.engine import Engine, WorkerLostError
from evaluator.workers.messages import Done, Returned, Setup, unpickled
from evaluator.workers.worker import ungraded
from evaluator.workers.worker_set import WorkerSet, WorkerState

_QUEUED_PER_START: Final = 2
_MOST_CHARACTERS: Final = 64 << 20
_SOON_S: Final = 0.05
_REST_S: Final = 1.0
_DEATHS: Final = 2


class Dispatcher:
    """The queue, and the workers behind it. For one thread at a time; close it."""

    def __init__(self, engine: Engine, setup: Setup) -> None:
        """Workers are started as they are needed."""
        self._set = WorkerSet(engine, setup)
        self._queue: deque[Item | CallItem] = deque()
        self._suspects: deque[Item | CallItem] = deque()
        """What a lost worker had: each is done alone."""
        self._numbers = itertools.count()
        self._batches: list[Batch] = []
        self._characters = 0
        self.pending = 0
        """How many have no result yet."""

    @property
    def has_room(self) -> bool:
        """Whether it can take another rollout."""
        windows = sum(worker.window for worker in self._set.workers) + _QUEUED_PER_START * self._set.unstarted
        return self.pending < windows and self._characters < _MOST_CHARACTERS

    def watch(self, descriptor: int, on_ready: Callable[[], object]) -> None:
        """Has `wait` end, and a function called, when a descriptor can be read from."""
        self._set.watch(descriptor, on_ready)

    def add(self, item: Item | CallItem) -> None:
        """Something to do."""
        item.number = next(self._numbers)
        self.pending += 1
        self._characters += _characters(item)
        self._queue.append(item)

    def warm_up(self) -> None:
        """Waits until a worker is ready. Raises `SandboxUnavailable` or `InterpreterError` if none can be."""
        while not any(worker.ready for worker in self._set.workers):
            self._serve(at_least=1)
            self._listen(_SOON_S)

    def wait(self, timeout_s: float) -> list[Batch]:
        """Grades, as soon as there are some; none after so many seconds, or when something that is watched is ready.

        The results of calls are told as they arrive.
        """
        self._serve()
        if not self._batches:
            waits = bool(self._queue or self._suspects)  # for a worker, which may be started in a moment
            soon = max(_SOON_S, self._set.not_before - time.monotonic())
            if not waits and any(len(worker.outstanding) > worker.at_once for worker in self._set.workers):
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
        for worker in list(self._set.workers):
            if item.number in worker.outstanding and not worker.client.drop(item.number):
                self._set.end(worker)
                self._queue.extendleft(reversed(self._left_by(worker)))

    def close(self) -> None:
        """Ends all workers, with whatever they are doing."""
        self._set.close()

    # ---- to the workers

    def _serve(self, at_least: int = 0) -> None:
        """Gives them what there is."""
        self._set.start(max(len(self._queue) + len(self._suspects), at_least))
        now = time.monotonic()
        free = [worker for worker in self._set.workers if worker.room(now)]
        free.sort(key=lambda worker: len(worker.outstanding))
        for place, worker in enumerate(free):
            if self._suspects:
                if not worker.outstanding:
                    self._set.give(worker, [self._suspects.popleft()])
                continue
            share = -(-len(self._queue) // (len(free) - place))
            self._set.give(worker, [self._queue.popleft() for _ in range(min(share, worker.room(now)))])
        if not self._queue and not self._suspects:
            self._relieve(now)
        if why := self._set.hopeless:
            for item in (*self._queue, *self._suspects):
                self._give_up(item, why)
            self._queue.clear()
            self._suspects.clear()

    def _relieve(self, now: float) -> None:
        """Gives idle workers what waits behind a slow rollout of another."""
        for idle in self._set.workers:
            if idle.outstanding or not idle.room(now):
                continue
            waiting = max((worker.kept_waiting(now) for worker in self._set.workers), key=len)
            for item in waiting:
                item.twice = True
            self._set.give(idle, waiting)

    # ---- from the workers

    def _listen(self, timeout_s: float) -> None:
        for worker, said in self._set.listen(timeout_s):
            if isinstance(said, WorkerLostError):
                self._lost(worker, said)
            elif isinstance(said, Returned):
                item = worker.outstanding.pop(said.number)
                assert isinstance(item, CallItem)
                if not item.settled:
                    self._settled(item)
                    item.on_result(unpickled(said.pickled), said.raised)
            else:
                self._take_grades(worker, said)

    def _take_grades(self, worker: WorkerState, done: Done) -> None:
        worker.answered(done.typical_s)
        items = [item for number in done.numbers if isinstance(item := worker.outstanding.pop(number), Item)]
        worker.no_sandbox = done.no_sandbox
        if done.no_sandbox:
            worker.resting_until = time.monotonic() + _REST_S
            if not all(each.no_sandbox for each in self._set.workers):  # another one may have a sandbox
                self._queue.extendleft(item for item in reversed(items) if not item.settled)
                return
        batch = Batch(items, done).without_settled()
        self._batches += [batch] if batch else []
        for item in batch.items:
            self._settled(item)

    def _lost(self, worker: WorkerState, error: WorkerLostError) -> None:
        """What it had is done again: alone, if it may be why the worker ended."""
        left = self._left_by(worker)
        if not error.suspicious:
            self._queue.extendleft(reversed(left))
            return
        for item in reversed(left):
            item.deaths += 1
            if item.deaths < _DEATHS:
                self._suspects.append(item)
            else:
                self._give_up(item, f"{error}, twice while it graded this")

    def _left_by(self, ended: WorkerState) -> list[Item | CallItem]:
        """What it had and nobody else has."""
        others = {number for worker in self._set.workers for number in worker.outstanding}
        return [item for item in ended.outstanding.values() if not item.settled and item.number not in others]

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


def _characters(item: Item | CallItem) -> int:
    return len(item.pickled if isinstance(item, CallItem) else item.rollout.completion)
