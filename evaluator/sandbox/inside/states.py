"""State that a check and a completion share in one process, carried between two: random generators, an event loop."""

from __future__ import annotations

import random
import sys
from typing import Any, NamedTuple, Protocol


class State(NamedTuple):
    """A Mersenne Twister's. Drawing moves the place on; after so many numbers as there are words these are others."""

    words: tuple[int, ...]
    place: int
    rest: tuple[Any, ...]
    """What is kept of a draw from the normal distribution, which makes two numbers at once."""


class _Generator(Protocol):
    def state(self) -> State: ...
    def set(self, state: State) -> None: ...
    def draw_block(self) -> None:
        """Draws as many numbers as there are words."""


_BLOCK = 624


class _Python:
    def __init__(self, generator: Any) -> None:
        self._generator = generator

    def state(self) -> State:
        _version, numbers, gauss = self._generator.getstate()
        return State(numbers[:-1], numbers[-1], (gauss,))

    def set(self, state: State) -> None:
        (gauss,) = state.rest
        self._generator.setstate((3, (*state.words, state.place), gauss if gauss is None else float(gauss)))

    def draw_block(self) -> None:
        self._generator.getrandbits(_BLOCK * 32)


class _Numpy:
    def __init__(self, generator: Any) -> None:
        self._generator = generator

    def state(self) -> State:
        _name, numbers, place, has_gauss, gauss = self._generator.get_state()
        return State(tuple(numbers.tolist()), int(place), (int(has_gauss), float(gauss)))

    def set(self, state: State) -> None:
        has_gauss, gauss = state.rest
        self._generator.set_state(("MT19937", list(state.words), state.place, int(has_gauss), float(gauss)))

    def draw_block(self) -> None:
        self._generator.bytes(_BLOCK * 4)


class States:
    """The generators' states; nothing is compared or carried where the check uses none."""

    def __init__(self, uses: list[str]) -> None:
        self._python = "random" in uses
        self._numpy = "numpy_random" in uses
        self._seen: dict[str, State] = {}
        self._shared: dict[str, State] = {}
        """Those that one side has told the other: both have them."""
        self._set: dict[str, State] = {}
        """States that the other side has set, and not come to by drawing numbers."""
        self.drawn = False
        """Whether numbers have been drawn here from such a state, which decides what they are."""
        self._seen = self._now()

    def changed(self) -> dict[str, Any] | None:
        """What of the states is not what it was when this, or `take`, was last called, as JSON writes it."""
        if not (self._python or self._numpy):
            return None
        before, self._seen = self._seen, self._now()
        found = {name: state for name, state in self._seen.items() if before.get(name) != state}
        for name in self._set.keys() & found.keys():
            state = self._set.pop(name)
            if not self.drawn and _follows(name, state, found[name]):
                self.drawn = not _is_seeded(name, state)
        told = {name: _told(state, self._shared.get(name)) for name, state in found.items()}
        self._shared.update(found)
        return told or None

    def take(self, states: Any) -> None:
        """Sets what the other side has changed. Raises for what it would not have written."""
        if not states:
            return
        generators = self._generators()
        for name in states.keys() & generators.keys():
            before = self._seen.get(name)
            generators[name].set(_heard(states[name], self._shared.get(name)))
            state = self._seen[name] = self._shared[name] = generators[name].state()
            if before is None or not _follows(name, before, state):
                self._set[name] = state

    def _now(self) -> dict[str, State]:
        return {name: generator.state() for name, generator in self._generators().items()}

    def _generators(self) -> dict[str, _Generator]:
        found: dict[str, _Generator] = {}
        if self._python:
            found["python"] = _Python(random)
        if self._numpy and "numpy.random" in sys.modules:
            found["numpy"] = _Numpy(sys.modules["numpy.random"])
        return found


def _told(state: State, before: State | None) -> list[Any]:
    """The words, of which there are many, only where the other side does not have them."""
    known = before is not None and before.words == state.words
    return [None if known else state.words, state.place, state.rest]


def _heard(told: Any, before: State | None) -> State:
    words, place, rest = told
    if words is None and before is not None:
        words = before.words
    if len(words) != _BLOCK or not 0 <= int(place) <= _BLOCK:  # numpy would read whatever stands there
        raise ValueError("a state of no generator")
    return State(tuple(map(int, words)), int(place), tuple(rest))


def _follows(name: str, before: State, after: State) -> bool:
    """Whether one state is come to from another by drawing not very many numbers.

    Not where a number is kept of a draw from the normal distribution that the other did not have: it may be any.
    """
    if after.rest != before.rest and after.rest not in _NOTHING_KEPT:
        return False
    if before.words == after.words:
        return before.place <= after.place
    generator = _fresh(name)
    generator.set(before)
    for _ in range(_MOST_BLOCKS):
        generator.draw_block()
        if generator.state().words == after.words:
            return True
    return False


def _is_seeded(name: str, state: State) -> bool:
    """Whether it is that after a seed such as people take: among these few nobody finds one to suit him."""
    if state.rest not in _NOTHING_KEPT:
        return False
    for seed in range(_SEEDS):
        first = _fresh(name, seed)
        before = first.state()
        first.draw_block()
        if state.words in (before.words, first.state().words):
            return True
    return False


_NOTHING_KEPT = ((None,), (0, 0.0))
_MOST_BLOCKS = 16
_SEEDS = 256


def _fresh(name: str, seed: int = 0) -> _Generator:
    if name == "python":
        return _Python(random.Random(seed))  # noqa: S311
    import numpy

    return _Numpy(numpy.random.RandomState(seed))


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
