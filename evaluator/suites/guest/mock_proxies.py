"""Proxies, in a completion's process, of the mocks with which its test replaces names of libraries.

The mock stays with the test, which gets the calls, method calls and item accesses. A completion can use it like the
real thing, and can neither read nor set how it behaves.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

SPECIAL = frozenset(
    f"__{name}__"
    for name in """enter exit iter len getitem setitem delitem contains bool int float complex index str reversed
    lt gt le ge neg pos invert round floor trunc ceil""".split()
)
"""Special methods that the completion may use of a mock, besides attributes and calls."""


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
