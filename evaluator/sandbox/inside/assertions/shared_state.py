"""What a test sets for its completion in the process: seeds of random generators, variables of the environment.

What the completion draws, seeds or sets is its own affair: it does not choose what the test draws.
"""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Callable
from typing import Any


class State:
    """That of the test's process, and what of it the completion has been given."""

    def __init__(self, uses: frozenset[str]) -> None:
        self._read: dict[str, Callable[[], Any]] = {}
        self._given: dict[str, Any] = {}
        """The states that the completion has been given."""
        if "random" in uses:
            self._follow("python", random, "getstate", ("seed", "setstate"))
        if "numpy_random" in uses:
            import numpy.random

            self._follow("numpy", numpy.random, "get_state", ("seed", "set_state"))
        self._environment = dict(os.environ) if "environment" in uses else None

    def _follow(self, key: str, module: Any, reader: str, setters: tuple[str, ...]) -> None:
        """Notes that a generator has been seeded, if it is with the seed that it had before."""
        self._read[key] = getattr(module, reader)

        def noting(setter: Callable[..., Any]) -> Callable[..., Any]:
            def set_it(*arguments: Any, **keywords: Any) -> Any:
                self._given.pop(key, None)
                return setter(*arguments, **keywords)

            return set_it

        for name in setters:
            setattr(module, name, noting(getattr(module, name)))
        self._given[key] = self._read[key]()

    def news(self) -> dict[str, Any]:
        """What the completion has to be given, as JSON writes it."""
        found: dict[str, Any] = {}
        for key, read in self._read.items():
            state = read()
            if not _same(state, self._given.get(key)):
                self._given[key] = state
                found[key] = [part.tolist() if hasattr(part, "tolist") else part for part in state]
        if self._environment is not None and self._environment != os.environ:
            found["environment"] = self._environment = dict(os.environ)
        return found


def _same(one: Any, other: Any) -> bool:
    if other is None:
        return False
    return all(bool((left == right).all()) if hasattr(left, "all") else left == right
               for left, right in zip(one, other, strict=True))  # fmt: skip


def take(states: dict[str, Any]) -> None:
    """Makes them this process's."""
    if "python" in states:
        version, words, rest = states["python"]
        random.setstate((version, tuple(words), rest))
    if "numpy" in states:
        sys.modules["numpy.random"].set_state(tuple(states["numpy"]))
    if "environment" in states:
        os.environ.clear()
        os.environ.update(states["environment"])
