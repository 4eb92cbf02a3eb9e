"""Objects that both sides of a conversation hold, by number, and what was in them when they last crossed."""

from __future__ import annotations

import gc
from typing import Any

from evaluator.sandbox.inside import kept

_MOST_SHARED = 512


class Table:
    """Numbered as on the other side, which does the same in the same order."""

    def __init__(self) -> None:
        self.objects: list[Any] = []
        self.seen: list[Any] = []
        self.numbers: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self.objects)

    def add(self, value: Any) -> int:
        number = len(self.objects)
        self.objects.append(value)
        self.numbers[id(value)] = number
        return number

    def settle(self, changed: list[int]) -> None:
        """Notes what is in the objects that are new, and in those that have changed."""
        objects, seen = self.objects, self.seen
        for number in changed:
            seen[number] = kept.contents(objects[number])
        for number in range(len(seen), len(objects)):
            seen.append(kept.contents(objects[number]))

    def changed(self) -> list[int]:
        """The numbers of objects whose contents are not what they were."""
        return [
            number
            for number, (value, before) in enumerate(zip(self.objects, self.seen, strict=True))
            if not kept.unchanged(value, before)
        ]

    def keep(self, base: int, numbers: list[int]) -> None:
        """Lets go of what has a number from `base` on, but for these, which move up in their order."""
        objects, seen = self.objects[base:], self.seen[base:]
        for value in objects:
            del self.numbers[id(value)]
        del self.objects[base:], self.seen[base:]
        for number in numbers:
            self.add(objects[number - base])
            self.seen.append(seen[number - base])

    def drop(self, numbers: list[int]) -> None:
        dropped = set(numbers)
        self.keep(0, [number for number in range(len(self)) if number not in dropped])

    def held(self, base: int) -> list[int]:
        """Those from `base` on that are held by more than the table and each other: by the side's own code."""
        return kept.held(self.objects, self.seen, base)

    def unheld(self) -> list[int]:
        """Where the table has grown long: those that nobody on this side holds any more."""
        if len(self) <= _MOST_SHARED:
            return []
        gc.collect()
        held = set(self.held(0))
        return [number for number in range(len(self)) if number not in held]
