"""A worker as the dispatcher sees it: what it was given, which tasks it has, and how quick it is."""

from __future__ import annotations

import time
from typing import Final

from evaluator.workers.batches import CallItem, Item, Order
from evaluator.workers.engine import WorkerClient
from evaluator.workers.messages import Call, Job, ToWorker, Work, pickled

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
        if not self.ready or any(item.deaths for item in self.outstanding.values()):
            return 0
        window, has = self.window, len(self.outstanding)
        return window - has if has <= window // 2 else 0

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
