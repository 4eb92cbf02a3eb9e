"""The special methods of proxies of the completion's objects, and which of their answers are to be doubted.

The class of each has `_asking`, the test's side of the connection, and `_mentioned`: whether prompt or test speaks of
it.
"""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Callable
from typing import Any

from evaluator.sandbox.inside.assertions.reasons import Doubt, GaveUp

_Special = Callable[..., Any]


def _compared(name: str) -> _Special:
    """Orders, arithmetic and `in`: a result that is asked for them could say what it likes."""

    def compare(self: Any, *operands: object) -> Any:
        kind = type(self)
        if not kind._mentioned:
            for operand in operands:
                kind._asking.not_asked(operand, decides=not kind._library)
            return NotImplemented
        if name in _ORDERS or id(self) not in kind._asking.made or id(self) in kind._asking.returned:
            kind._asking.unsure(Doubt.ASKED.format(kind.__name__, name))
        return kind._asking.ask("u", self, name, *operands)

    return compare


def _asked(name: str) -> _Special:
    """What an object says of itself: one that is an answer, of a class that nobody asked for, may contradict itself."""

    def ask(self: Any, *operands: object, **keywords: object) -> Any:
        kind = type(self)
        if not kind._mentioned and name not in _CONSISTENT and id(self) not in kind._asking.made:
            kind._asking.unsure(Doubt.ASKED.format(kind.__name__, name))
        return kind._asking.call(self, name, operands, keywords)

    return ask


def _leave(self: Any, kind: object, error: object, _traceback: object) -> Any:
    """A failed assert of the test's is not the completion's to suppress; that it suppresses more is noted."""
    asking = type(self)._asking
    if isinstance(error, AssertionError) and not hasattr(error, "_rollscope_failure"):
        with contextlib.suppress(Exception):
            asking.ask("u", self, "__exit__", kind, error, None)
        return False
    suppressed = asking.ask("u", self, "__exit__", kind, error, None)
    if error is None:
        return suppressed
    if bool(suppressed) and id(self) not in asking.made:
        asking.unsure(Doubt.SUPPRESSED.format(type(self).__name__))
    return bool(suppressed)


def _refused(name: str) -> _Special:
    def refuse(self: Any, *_: object) -> Any:
        type(self)._asking.give_up(GaveUp.USES.format(name))

    return refuse


def _on_value(data: type, name: str) -> _Special:
    """What a class has of its base that is data is done here, with the object's value."""
    reflected: _Special | None = {"__radd__": operator.add, "__rmul__": operator.mul}.get(name)

    def operate(self: Any, *operands: object) -> Any:
        value = _value_of(self)
        operands = tuple(_value_of(each) if hasattr(type(each), "_asking") else each for each in operands)
        if reflected is not None:
            return reflected(*operands, value)
        return getattr(data, name)(value, *operands)

    return operate


def _value_of(proxy: Any) -> Any:
    return type(proxy)._asking.ask("v", proxy)


def value_methods(data: type) -> dict[str, Any]:
    """The special methods by which an object of a class that is derived from one of data acts as its value."""
    names = ["__eq__", "__ne__", *_ORDERS, *_ARITHMETIC, *_ASKED, "__contains__", "__repr__", "__str__", "__hash__"]
    if getattr(data, "__hash__", None) is not None:  # it does not change: the proxy has its value
        return {name: getattr(data, name) for name in names if hasattr(data, name)}
    own = [name for name in (*names, "keys", "values", "items") if hasattr(data, name) and name not in _IN_PLACE]
    own += [f"__r{name}__" for name in ("add", "mul") if hasattr(data, f"__{name}__")]
    found: dict[str, Any] = {name: _on_value(data, name) for name in own}
    found.update((name, SPECIAL[name]) for name in _IN_PLACE if hasattr(data, name))
    return found | {"__hash__": None}


def _by_fields(name: str) -> _Special:
    """Comparisons that `dataclass` has made are those of the fields: data, which is compared here."""

    def compare(self: Any, other: object) -> Any:
        if type(other) is not type(self):
            return NotImplemented
        kind: Any = type(self)
        ask = kind._asking.ask
        return self is other or getattr(operator, name)(ask("f", self), ask("f", other))

    return compare


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
_CONSISTENT = frozenset(("__iter__", "__next__", "__call__", "__enter__", "__str__"))
_REFUSED = ("__await__", "__aiter__", "__anext__", "__aenter__", "__aexit__", "__get__", "__set__", "__copy__",
            "__deepcopy__")  # fmt: skip
_IN_PLACE = frozenset(("__setitem__", "__delitem__", *(name for name in _ARITHMETIC if name.startswith("__i"))))
SPECIAL: dict[str, _Special] = {
    **{name: _compared(name) for name in (*_ORDERS, *_ARITHMETIC, "__contains__")},
    **{name: _asked(name) for name in _ASKED},
    **{name: _refused(name) for name in _REFUSED},
    "__exit__": _leave,
}
DATACLASS: dict[str, _Special] = {name: _by_fields(name) for name in ("__eq__", *_ORDERS)}
