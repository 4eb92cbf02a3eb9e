"""One hand as the dispatcher sees it: what it has been given, how fast it is, and what may be taken back."""

from __future__ import annotations

import time
from collections import Counter, deque
from typing import Final

from evaluator.engines.batches import Item
from evaluator.engines.hands import Hand
from evaluator.engines.messages import Job, Shipped, Work
from evaluator.engines.shipping import KnownTasks, Shelf

_QUEUED_S: Final = 0.25
"""How much work a hand has in advance, so that it never waits for more and its grades come back in batches."""
_LEAST: Final = 2
_MOST: Final = 64
_WEIGHT: Final = 0.3
_SILENT_S: Final = 0.03


class Member:
    """A hand and what the dispatcher knows of it."""

    def __init__(self, hand: Hand, shelf: Shelf) -> None:
        self.hand = hand
        self.ready = False
        self.core: int | None = None
        """Where it was told to stay."""
        self.width = 1
        """How many rollouts it grades at once."""
        self.outstanding: dict[int, Item] = {}
        """What it was given and has not answered, in its order."""
        self.pinned: deque[Item] = deque()
        """What must be given to it, because it had an equal completion."""
        self.withdrawing = False
        self.resting_until = 0.0
        """After it could not start its sandbox."""
        self.stranded = False
        self._heard = time.monotonic()
        self._pace_s: float | None = None
        self._tasks = KnownTasks(shelf)

    @property
    def window(self) -> int:
        """How many rollouts it may have at once: as many as it grades in that time."""
        if self._pace_s is None:
            return self.width * _LEAST
        return self.width * max(_LEAST, min(_MOST, int(_QUEUED_S / self._pace_s)))

    def room(self, now: float) -> int:
        """How many it may be given now; none while it has more than half of its window."""
        if not self.ready or now < self.resting_until or any(item.deaths for item in self.outstanding.values()):
            return 0
        window, has = self.window, len(self.outstanding)
        return window - has if has <= window // 2 else 0

    def work(self, items: list[Item], *, measure: bool = False) -> Work:
        """The message with these, which it has from here on."""
        new: list[Shipped] = []
        for item in items:
            needed = self._tasks.needed(item.order)
            if needed is not None:
                new.append(needed)
            self.outstanding[item.number] = item
        forget = self._tasks.forgotten({item.order.number for item in self.outstanding.values()}) if new else []
        if len(self.outstanding) == len(items):
            self._heard = time.monotonic()
        return Work([Job(item.number, item.order.number, item.rollout) for item in items], new, forget, measure)

    def answered(self, typical_s: float) -> None:
        """It has sent grades, which took it so long each."""
        self._heard = time.monotonic()
        before = self._pace_s
        self._pace_s = typical_s if before is None else before + (typical_s - before) * _WEIGHT

    def is_stuck(self, now: float) -> bool:
        """Whether there is more behind something that takes it long."""
        return len(self.outstanding) > self.width and not self.withdrawing and now - self._heard >= _SILENT_S

    def last_half(self) -> list[int]:
        """What to take back from it: not what may have begun, and no completion without its equals."""
        items = list(self.outstanding.values())[self.width :]
        times = Counter(item.key for item in self.outstanding.values())
        movable = [item.number for item in items if times[item.key] == 1 and not item.follows]
        return movable[len(movable) // 2 :]
