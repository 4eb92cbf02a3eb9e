"""The special methods of what stands for the completion's objects, and which of their answers are to be doubted.

The class of each has `_asking`, the check's side of the conversation, and `_mentioned`: whether prompt or test speaks
of it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any


def _ordered(name: str) -> Callable[[Any, Any], Any]:
    def compare(self: Any, other: object) -> Any:
        kind = type(self)
        if not kind._mentioned:
            if not kind._library:
                kind._asking.operations.refuse()
            return NotImplemented
        kind._asking.unsure(f"{kind.__name__}.{name} of the completion's was asked")
        return kind._asking.ask("u", self, name, other)

    return compare


def _reckoned(name: str) -> Callable[..., Any]:
    """Arithmetic and `in`: a result that is asked for them could say what it likes."""

    def reckon(self: Any, *operands: object) -> Any:
        kind = type(self)
        if not kind._mentioned:
            if not kind._library:
                kind._asking.operations.refuse()
            return NotImplemented
        if id(self) not in kind._asking.made or id(self) in kind._asking.returned:
            kind._asking.unsure(f"{kind.__name__}.{name} of the completion's was asked")
        return kind._asking.ask("u", self, name, *operands)

    return reckon


def _asked(name: str) -> Callable[..., Any]:
    """What tells of an object: one that is an answer, of a class that nobody asked for, may contradict itself."""

    def ask(self: Any, *operands: object, **keywords: object) -> Any:
        kind = type(self)
        if not kind._mentioned and name not in _CONSISTENT and id(self) not in kind._asking.made:
            kind._asking.unsure(f"{kind.__name__}.{name} of the completion's was asked")
        return kind._asking.call(self, name, operands, keywords)

    return ask


_CONSISTENT = frozenset(("__iter__", "__next__", "__call__", "__enter__", "__str__"))


def _left(self: Any, kind: object, error: object, _traceback: object) -> Any:
    """A failed assert of the test's is not the completion's to pass over; that it does so to more is noted."""
    asking = type(self)._asking
    if isinstance(error, AssertionError) and not hasattr(error, "_rollscope_failure"):
        with contextlib.suppress(Exception):
            asking.ask("u", self, "__exit__", kind, error, None)
        return False
    passed_over = asking.ask("u", self, "__exit__", kind, error, None)
    if error is None:
        return passed_over
    if bool(passed_over) and id(self) not in asking.made:
        asking.unsure(f"{type(self).__name__}.__exit__ of the completion's passed over an exception")
    return bool(passed_over)


def _refused(name: str) -> Callable[..., Any]:
    def refuse(self: Any, *_: object) -> Any:
        type(self)._asking.give_up(f"the test uses {name} of an object of the completion's")

    return refuse


_ORDERS = ("__lt__", "__le__", "__gt__", "__ge__")
_ARITHMETIC = tuple(
    f"__{way}{name}__"
    for name in "add sub mul matmul truediv floordiv mod divmod pow lshift rshift and or xor".split()
    for way in ("", "r", "i")
    if (way, name) != ("i", "divmod")
)
_ASKED = tuple(
    f"__{name}__"
    for name in """len iter next bool int float index complex abs neg pos invert reversed enter getitem setitem delitem
    call round floor ceil trunc bytes format length_hint""".split()
)
_REFUSED = ("__await__", "__aiter__", "__anext__", "__aenter__", "__aexit__", "__get__", "__set__", "__copy__",
            "__deepcopy__")  # fmt: skip
SPECIAL: dict[str, Callable[..., Any]] = {
    **{name: _ordered(name) for name in _ORDERS},
    **{name: _reckoned(name) for name in (*_ARITHMETIC, "__contains__")},
    **{name: _asked(name) for name in _ASKED},
    **{name: _refused(name) for name in _REFUSED},
    "__exit__": _left,
}
