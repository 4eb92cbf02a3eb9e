"""A worker as the dispatcher sees it: what it was given, and how quick it is."""

from __future__ import annotations

import time
from typing import Final

from evaluator.workers.batches import CallItem, Item
from evaluator.workers.engine import WorkerClient
from evaluator.workers.messages import Call, Job, Shipped, ToWorker, Work
from evaluator.workers.task_cache import EncodedTasks, TaskCache

_QUEUED_S: Final = 0.25
"""How much work a worker has in advance, so that it never waits for the next rollout and its grades come in batches;
and how long at most a rollout waits behind others as quick as most."""
_LEAST: Final = 2
_MOST: Final = 32
_WEIGHT: Final = 0.3
_SLOW_S: Final = 0.03


class WorkerState:
    """A worker's client, and what the dispatcher knows of it."""

    def __init__(self, client: WorkerClient, encoded: EncodedTasks) -> None:
        self.client = client
        self.ready = False
        self.core: int | None = None
        """On which it stays."""
        self.at_once = 1
        """How many rollouts it grades at once."""
        self.outstanding: dict[int, Item | CallItem] = {}
        """What it was given and has not answered, in its order."""
        self.resting_until = 0.0
        """After it could not start its sandbox."""
        self.no_sandbox = False
        self._heard = time.monotonic()
        self._pace_s: float | None = None
        self._tasks = TaskCache(encoded)

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

    def messages(self, items: list[Item | CallItem], *, measure: bool = False) -> list[ToWorker]:
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
            if (task := self._tasks.missing(item.order)) is not None:
                new.append(task)
            jobs.append(Job(item.number, item.order.number, item.rollout))
        forget = self._tasks.forgotten(self._in_use()) if new else []
        return [Work(jobs, new, forget, measure), *calls] if jobs else calls

    def answered(self, typical_s: float) -> None:
        """It has sent grades, which took it so long each; 0: nobody knows how long."""
        self._heard = time.monotonic()
        if typical_s:
            before = self._pace_s
            self._pace_s = typical_s if before is None else before + (typical_s - before) * _WEIGHT

    def kept_waiting(self, now: float) -> list[Item | CallItem]:
        """The last half of what waits behind something that takes it long."""
        if now - self._heard < _SLOW_S:
            return []
        waiting = [item for item in list(self.outstanding.values())[self.at_once :] if not (item.twice or item.settled)]
        return waiting[len(waiting) // 2 :]

    def _in_use(self) -> set[int]:
        return {item.order.number for item in self.outstanding.values() if isinstance(item, Item)}
