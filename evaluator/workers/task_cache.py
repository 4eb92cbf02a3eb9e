"""Which tasks a worker has: each is sent with its first rollout, and forgotten when there is no room for it."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from evaluator.model import Task
from evaluator.options import Options
from evaluator.workers.messages import Shipped, shipped

_MOST_BYTES: Final = 64 << 20
"""Of tasks that a worker keeps, and that are kept here to be sent again."""


class Order:
    """A task with the options for its rollouts."""

    __slots__ = ("number", "options", "task")

    def __init__(self, number: int, task: Task, options: Options) -> None:
        self.number = number
        self.task = task
        self.options = options


class EncodedTasks:
    """The orders that were encoded last."""

    def __init__(self) -> None:
        self._kept: OrderedDict[int, Shipped] = OrderedDict()
        self._bytes = 0

    def shipped(self, order: Order) -> Shipped:
        """The order for a worker."""
        found = self._kept.get(order.number)
        if found is not None:
            self._kept.move_to_end(order.number)
            return found
        made = self._kept[order.number] = shipped(order.number, order.task, order.options)
        self._bytes += len(made.pickled)
        while self._bytes > _MOST_BYTES and len(self._kept) > 1:
            self._bytes -= len(self._kept.popitem(last=False)[1].pickled)
        return made


class TaskCache:
    """What one worker has, seen from here: it and the caller forget the same."""

    def __init__(self, encoded: EncodedTasks) -> None:
        self._encoded = encoded
        self._sizes: OrderedDict[int, int] = OrderedDict()
        self._bytes = 0

    def missing(self, order: Order) -> Shipped | None:
        """What the worker must be sent before it can grade a rollout of this order; None if it has it."""
        if order.number in self._sizes:
            self._sizes.move_to_end(order.number)
            return None
        found = self._encoded.shipped(order)
        self._sizes[order.number] = len(found.pickled)
        self._bytes += len(found.pickled)
        return found

    def forgotten(self, in_use: set[int]) -> list[int]:
        """The orders that it must forget to make room, none of those `in_use`."""
        found: list[int] = []
        if self._bytes > _MOST_BYTES:
            for number in list(self._sizes):
                if self._bytes <= _MOST_BYTES:
                    break
                if number not in in_use:
                    self._bytes -= self._sizes.pop(number)
                    found.append(number)
        return found
