"""Which tasks a hand knows: each is sent with its first rollout, and forgotten when there is no room for it."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from evaluator.engines.messages import Shipped, shipped
from evaluator.model import Task
from evaluator.options import Options

_ROOM: Final = 64 << 20
"""Bytes of tasks that a hand keeps, and that are kept here to be sent again."""


class Order:
    """A task with options, as it is sent to hands."""

    __slots__ = ("number", "options", "task")

    def __init__(self, number: int, task: Task, options: Options) -> None:
        self.number = number
        self.task = task
        self.options = options


class Shelf:
    """The orders that were made into bytes last."""

    def __init__(self) -> None:
        self._kept: OrderedDict[int, Shipped] = OrderedDict()
        self._bytes = 0

    def shipped(self, order: Order) -> Shipped:
        """The order for a hand."""
        found = self._kept.get(order.number)
        if found is not None:
            self._kept.move_to_end(order.number)
            return found
        made = self._kept[order.number] = shipped(order.number, order.task, order.options)
        self._bytes += len(made.pickled)
        while self._bytes > _ROOM and len(self._kept) > 1:
            self._bytes -= len(self._kept.popitem(last=False)[1].pickled)
        return made


class KnownTasks:
    """What one hand knows. It and the caller forget the same."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf
        self._sizes: OrderedDict[int, int] = OrderedDict()
        self._bytes = 0

    def needed(self, order: Order) -> Shipped | None:
        """What the hand must be sent before it can grade a rollout of this order; None if it knows it."""
        if order.number in self._sizes:
            self._sizes.move_to_end(order.number)
            return None
        found = self._shelf.shipped(order)
        self._sizes[order.number] = len(found.pickled)
        self._bytes += len(found.pickled)
        return found

    def forgotten(self, in_use: set[int]) -> list[int]:
        """The orders that it must forget to make room, none of those `in_use`."""
        found: list[int] = []
        if self._bytes > _ROOM:
            for number in list(self._sizes):
                if self._bytes <= _ROOM:
                    break
                if number not in in_use:
                    self._bytes -= self._sizes.pop(number)
                    found.append(number)
        return found
