"""A test's operations on a completion: which were used, and the special methods of proxies of its objects.

A failure that plain data decided is final, because no proxy can have caused it. A completion's choice of answer does
not make its own failure doubtful; the test's operations on objects do.

The class of each proxy has `_client`, the test's side of the connection, and `_mentioned`: whether prompt or test
mention it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from evaluator.suites.guest.errors import Doubt, GaveUp

_READS = frozenset("ln")
"""Requests for names, and for items of an iterator."""
_SHOWING = frozenset(("__repr__", "__str__", "__hash__"))


class Operations:
    """The operations of one test's process so far."""

    def __init__(self, *, only_data: bool) -> None:
        self.only_data = only_data
        self._refused = False
        self.lost_class = False
        """Whether an answer crossed as its base class's value, without its class's methods."""

    def note(self, request: tuple[Any, ...]) -> None:
        """Notes a request: its kind, object and name, without arguments."""
        self.only_data = self.only_data and not _is_doubtful(*request[:3])

    def begin(self) -> None:
        """Before each test case."""
        self._refused = False

    def refuse(self) -> None:
        """An answer's own class could not decide a comparison, or the completion suppressed a failed assert."""
        self._refused = True

    @property
    def final(self) -> bool:
        """Whether a failure stands: plain data decided it, or an answer whose class would have decided by itself."""
        return self.only_data or self._refused

    def end(self, result: dict[str, Any]) -> None:
        """Checks a test case's result: the test's own code may have missed a method that did not cross."""
        missed = result["status"] == "raised" and result["failure"] is None
        if missed and self.lost_class and result["type"] in ("AttributeError", "TypeError"):
            self.only_data = False


def _is_doubtful(what: str, target: Any = None, name: Any = None) -> bool:
    if what in _READS:
        return False
    if what == "c" and name is None:
        return isinstance(target, type) and "_client" in vars(target)
    if what == "c" and name in _SHOWING:
        return False
    kind: Any = type(target)  # only the completion's own: it was free to answer with something else
    own = "_mentioned" in vars(kind) and not (kind._mentioned or kind._library)
    return what != "c" or not own


# Special methods


def refused(name: str) -> Callable[..., Any]:
    """A special method that can't be used from another process."""

    def refuse(self: Any, *_: object) -> Any:
        self._client.give_up(GaveUp.USES.format(name))

    return refuse


_ORDERS = ("__lt__", "__le__", "__gt__", "__ge__")
_DECIDING = frozenset((
    *_ORDERS, "__contains__",
    *(
        f"__{way}{name}__"
        for name in "add sub mul matmul truediv floordiv mod divmod pow lshift rshift and or xor".split()
        for way in ("", "r", "i")
    ),
))  # fmt: skip
"""Orders, `in` and arithmetic: the code of an answer could return anything for them."""
_QUERIES = frozenset(
    f"__{name}__"
    for name in """len iter next bool int float index complex abs neg pos invert reversed enter getitem setitem delitem
    call round floor ceil trunc bytes format length_hint""".split()
)
_CONSISTENT = frozenset(("__iter__", "__next__", "__call__", "__enter__", "__str__"))
"""Queries that an answer of a class that the task does not mention can't answer inconsistently."""
_REFUSED = ("__await__", "__aiter__", "__anext__", "__aenter__", "__aexit__", "__get__", "__set__", "__copy__",
            "__deepcopy__")  # fmt: skip


def _forwarded(name: str) -> Callable[..., Any]:
    def operate(self: Any, *operands: object, **keywords: object) -> Any:
        kind = type(self)
        client, made = kind._client, id(self) in kind._client.made
        if name not in _DECIDING:
            doubtful = not (kind._mentioned or made or name in _CONSISTENT)
        elif kind._mentioned:
            doubtful = name in _ORDERS or not made or id(self) in client.returned
        else:
            for operand in operands:
                client.not_compared(operand, decides=not kind._library)
            return NotImplemented
        if doubtful:
            client.unsure(Doubt.CALLED.format(kind.__name__, name))
        return client.call(self, name, operands, keywords)

    return operate


def _exit(self: Any, kind: object, error: object, _traceback: object) -> Any:
    """The completion can't suppress a failed assert of the test; other suppressed exceptions are noted."""
    client = type(self)._client
    if isinstance(error, AssertionError) and not hasattr(error, "_rollscope_failure"):
        with contextlib.suppress(Exception):
            client.call(self, "__exit__", (kind, error, None), {})
        return False
    suppressed = client.call(self, "__exit__", (kind, error, None), {})
    if error is None:
        return suppressed
    if bool(suppressed) and id(self) not in client.made:
        client.unsure(Doubt.SUPPRESSED.format(type(self).__name__))
    return bool(suppressed)


SPECIAL: dict[str, Callable[..., Any]] = {
    **{name: _forwarded(name) for name in _DECIDING | _QUERIES},
    **{name: refused(name) for name in _REFUSED},
    "__exit__": _exit,
}
