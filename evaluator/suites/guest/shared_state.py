"""Process state that a test sets for its completion: seeds of random generators, environment variables.

What the completion draws, seeds or sets does not affect the test, so it can't choose what the test draws.
"""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Callable
from typing import Any


class State:
    """The state of the test's process, and the part of it that the completion has."""

    def __init__(self, uses: frozenset[str]) -> None:
        self._read: dict[str, Callable[[], Any]] = {}
        self._sent: dict[str, Any] = {}
        """The states that were sent to the completion."""
        if "random" in uses:
            self._follow("python", random, "getstate", ("seed", "setstate"))
        if "numpy_random" in uses:
            import numpy.random

            self._follow("numpy", numpy.random, "get_state", ("seed", "set_state"))
        self._environment = dict(os.environ) if "environment" in uses else None

    def _follow(self, key: str, module: Any, reader: str, setters: tuple[str, ...]) -> None:
        """Notes when a generator is seeded, even with the same seed as before."""
        self._read[key] = getattr(module, reader)

        def noting(setter: Callable[..., Any]) -> Callable[..., Any]:
            def set_it(*arguments: Any, **keywords: Any) -> Any:
                self._sent.pop(key, None)
                return setter(*arguments, **keywords)

            return set_it

        for name in setters:
            setattr(module, name, noting(getattr(module, name)))
        self._sent[key] = self._read[key]()

    def changes(self) -> dict[str, Any]:
        """The states to send to the completion, ready for JSON."""
        states: dict[str, Any] = {}
        for key, read in self._read.items():
            state = read()
            if not _same(state, self._sent.get(key)):
                self._sent[key] = state
                states[key] = [part.tolist() if hasattr(part, "tolist") else part for part in state]
        if self._environment is not None and self._environment != os.environ:
            states["environment"] = self._environment = dict(os.environ)
        return states


def _same(one: Any, other: Any) -> bool:
    if other is None:
        return False
    return all(bool((left == right).all()) if hasattr(left, "all") else left == right
               for left, right in zip(one, other, strict=True))  # fmt: skip


def apply(states: dict[str, Any]) -> None:
    """Sets these states in this process."""
    if "python" in states:
        version, words, rest = states["python"]
        random.setstate((version, tuple(words), rest))
    if "numpy" in states:
        sys.modules["numpy.random"].set_state(tuple(states["numpy"]))
    if "environment" in states:
        os.environ.clear()
        os.environ.update(states["environment"])
