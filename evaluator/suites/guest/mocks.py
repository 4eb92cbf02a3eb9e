"""The test's own mocks, and the names of libraries that it replaces: both also work in the completion's process."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from typing import Any

from evaluator.suites.guest import mock_proxies, proxies
from evaluator.suites.guest.errors import BadMessageError


def is_mock(value: Any) -> bool:
    mock: Any = sys.modules.get("unittest.mock")
    return mock is not None and isinstance(value, mock.NonCallableMock)


def answer_for(what: str, mock: Any, name: str, *rest: Any) -> Any:
    """Performs the completion's request on a mock: to read or set an attribute (`a`, `s`), or a special method (`u`).

    It can neither read nor set how the mock behaves or which calls it got: that raises `AttributeError`. Raises
    `BadMessageError` for a request that no proxy sends.
    """
    if what == "u" and name in mock_proxies.SPECIAL and type(rest[0]) is tuple:
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
    elif isinstance(target, type) and not isinstance(target, proxies.Classes):
        place = target.__module__, target.__qualname__, attribute
    else:
        return None
    return None if place[0] in ("check", "__main__") else place
