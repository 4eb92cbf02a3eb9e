"""State that a check and a completion share in one process, carried between two: random generators, an event loop."""

from __future__ import annotations

import random
import sys
from typing import Any


class States:
    """The generators' states; nothing is compared or carried where the check uses none."""

    def __init__(self, uses: list[str]) -> None:
        self._python = "random" in uses
        self._numpy = "numpy_random" in uses
        self._seen: dict[str, Any] = {}
        self._set: dict[str, Any] = {}
        """States that the other side has set, and not come to by drawing numbers."""
        self.drawn = False
        """Whether numbers have been drawn here from such a state, which decides what they are."""
        self.changed()

    def changed(self) -> dict[str, Any] | None:
        """The states that are not what they were when this, or `take`, was last called, as JSON writes them."""
        if not (self._python or self._numpy):
            return None
        now = self._now()
        found = {name: state for name, state in now.items() if self._seen.get(name) != state}
        for name in self._set.keys() & found.keys():
            state = self._set.pop(name)
            if not self.drawn and _follows(name, state, now[name]):
                self.drawn = not _is_seeded(name, state)
        self._seen = now
        return found or None

    def take(self, states: Any) -> None:
        """Sets what the other side has changed."""
        if not states:
            return
        if self._python and "python" in states:
            version, numbers, gauss = states["python"]
            random.setstate((int(version), tuple(map(int, numbers)), gauss if gauss is None else float(gauss)))
        if self._numpy and "numpy" in states:
            name, numbers, place, has_gauss, gauss = states["numpy"]
            _numpy_random().set_state((str(name), list(map(int, numbers)), int(place), int(has_gauss), float(gauss)))
        before, self._seen = self._seen, self._now()
        for name in states.keys() & self._seen.keys():
            if not (name in before and _follows(name, before[name], self._seen[name])):
                self._set[name] = self._seen[name]

    def _now(self) -> dict[str, Any]:
        now: dict[str, Any] = {}
        if self._python:
            version, numbers, gauss = random.getstate()
            now["python"] = [version, list(numbers), gauss]
        if self._numpy and "numpy.random" in sys.modules:
            name, numbers, place, has_gauss, gauss = _numpy_random().get_state()
            now["numpy"] = [str(name), [int(number) for number in numbers], int(place), int(has_gauss), float(gauss)]
        return now


def _follows(name: str, before: Any, after: Any, most: int = 16) -> bool:
    """Whether one state is come to from another by drawing not very many numbers."""
    if name == "python":
        generator: Any = random.Random()  # noqa: S311
        generator.setstate((before[0], tuple(before[1]), before[2]))
        return any(_block(generator.getstate()[1], after[1]) or _drawn(generator) for _ in range(most))
    generator = _numpy_random().RandomState()
    generator.set_state(tuple(before))
    for _ in range(most):
        if [int(number) for number in generator.get_state()[1]] == after[1]:
            return True
        generator.bytes(_BLOCK * 4)
    return False


def _is_seeded(name: str, state: Any) -> bool:
    """Whether it is that after a seed such as people take: among these few nobody finds one to suit him."""
    for seed in range(_SEEDS):
        if name == "python":
            fresh = random.Random(seed).getstate()  # noqa: S311
            first = [fresh[0], list(fresh[1]), fresh[2]]
        else:
            kind, numbers, *rest = _numpy_random().RandomState(seed).get_state()
            first = [str(kind), [int(number) for number in numbers], *rest]
        if _follows(name, first, state, 2):
            return True
    return False


_SEEDS = 256
_BLOCK = 624


def _block(one: Any, other: Any) -> bool:
    return list(one[:_BLOCK]) == list(other[:_BLOCK])


def _drawn(generator: Any) -> bool:
    """Draws a block of numbers."""
    generator.getrandbits(_BLOCK * 32)
    return False


def _numpy_random() -> Any:
    import numpy

    return numpy.random


def awaited(awaitable: Any) -> Any:
    """The result of an awaitable, in the one event loop of this process."""
    import asyncio

    global _loop  # noqa: PLW0603 - generators and tasks hold on to theirs
    if _loop is None:
        _loop = asyncio.new_event_loop()

    async def wait() -> Any:
        return await awaitable

    return _loop.run_until_complete(wait())


_loop: Any = None
