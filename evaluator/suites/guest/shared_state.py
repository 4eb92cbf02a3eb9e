"""Process state that a test sets for its completion: seeds, environment variables, replaced names of libraries.

What the completion draws, seeds or sets does not affect the test, so it can't choose what the test draws. A mock stays
with the test, which gets the calls, method calls and item accesses; the completion can use its proxy like the real
thing, and can neither read nor set how it behaves.
"""

from __future__ import annotations

import importlib
import os
import random
import sys
import types
from collections.abc import Callable
from typing import Any

from evaluator.suites.guest.errors import BadMessageError


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


# Mocks

SPECIAL = frozenset(
    f"__{name}__"
    for name in """enter exit iter len getitem setitem delitem contains bool int float complex index str reversed
    lt gt le ge neg pos invert round floor trunc ceil""".split()
)
"""Special methods that the completion may use of a mock, besides attributes and calls."""


def is_mock(value: Any) -> bool:
    mock: Any = sys.modules.get("unittest.mock")
    return mock is not None and isinstance(value, mock.NonCallableMock)


def answer_for(what: str, mock: Any, name: str, *rest: Any) -> Any:
    """Performs the completion's request on a mock: to read or set an attribute (`a`, `s`), or a special method (`u`).

    It can neither read nor set how the mock behaves or which calls it got: that raises `AttributeError`. Raises
    `BadMessageError` for a request that no proxy sends.
    """
    if what == "u" and name in SPECIAL and type(rest[0]) is tuple:
        return bool(mock) if name == "__bool__" else getattr(mock, name)(*rest[0])
    if what not in ("a", "s"):
        raise BadMessageError("a forbidden request to a mock")
    is_own = name.startswith(("__", "_mock", "_spec")) or name == "method_calls"
    if is_own or hasattr(sys.modules["unittest.mock"].MagicMock, name):
        raise AttributeError(name)
    return getattr(mock, name) if what == "a" else setattr(mock, name, *rest)


def follow_patches(ask: Callable[..., Any]) -> None:
    """Makes each `patch` of a library's name take effect in the completion's process too."""
    from unittest import mock

    patcher: Any = mock._patch
    enter, leave = patcher.__enter__, patcher.__exit__
    followed: dict[int, tuple[str, str, str]] = {}

    def entering(self: Any) -> Any:
        entered = enter(self)
        place, new = _place_of(self), vars(self.target).get(self.attribute)
        is_stream = self.target is sys and self.attribute in ("stdout", "stderr")
        if place is not None and not (is_stream and not is_mock(new)):  # printed text reaches that stream anyway
            ask("p", *place, new)
            followed[id(self)] = place
        return entered

    def leaving(self: Any, *error: Any) -> Any:
        place = followed.pop(id(self), None)
        if place is not None:
            ask("r", *place)
        return leave(self, *error)

    patcher.__enter__, patcher.__exit__ = entering, leaving


def _place_of(patcher: Any) -> tuple[str, str, str] | None:
    """The module, the name in it and the replaced attribute; None if the completion does not need it."""
    target, attribute = patcher.target, patcher.attribute
    if isinstance(target, types.ModuleType):
        place = target.__name__, "", attribute
    elif isinstance(target, type) and not hasattr(target, "_client"):
        place = target.__module__, target.__qualname__, attribute
    else:
        return None
    return None if place[0] in ("check", "__main__") else place


class Replacements:
    """Names of modules and classes that the test has replaced, here as in its own process."""

    def __init__(self) -> None:
        self._before: dict[tuple[str, str, str], list[tuple[bool, Any]]] = {}

    def replace(self, module: str, dotted: str, name: str, value: Any) -> None:
        owner = _owner(module, dotted)
        is_own = name in vars(owner)
        before = vars(owner)[name] if is_own else getattr(owner, name, None)
        self._before.setdefault((module, dotted, name), []).append((is_own, before))
        setattr(owner, name, value)

    def restore(self, module: str, dotted: str, name: str) -> None:
        is_own, before = self._before[module, dotted, name].pop()
        if is_own:
            setattr(_owner(module, dotted), name, before)
        else:
            delattr(_owner(module, dotted), name)


def _owner(module: str, dotted: str) -> Any:
    owner: Any = importlib.import_module(module)
    for part in dotted.split(".") if dotted else ():
        owner = getattr(owner, part)
    return owner


class MockProxy:
    """The proxy of a mock."""

    def __init__(self, ask: Callable[..., Any], number: int) -> None:
        self.__dict__.update(_ask=ask, _number=number)

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return self._ask("c", self._number, arguments, *[part for pair in keywords.items() for part in pair])

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._ask("a", self._number, name)

    def __setattr__(self, name: str, value: object) -> None:
        self._ask("s", self._number, name, value)


def _special(name: str) -> Callable[..., Any]:
    return lambda self, *operands: self._ask("u", self._number, name, operands)


for _name in SPECIAL:
    setattr(MockProxy, _name, _special(_name))
MockProxy.__exit__ = lambda self, kind, error, _: self._ask(  # type: ignore[attr-defined]
    "u", self._number, "__exit__", (kind, error, None)
)
