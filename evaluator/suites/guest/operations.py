"""A test's operations on a completion: whether more than plain data was involved, and the last one.

A failure that plain data decided is final, because no proxy can have caused it. A completion's choice of answer does
not make its own failure doubtful; the test's operations on objects do.
"""

from __future__ import annotations

from typing import Any

from evaluator.suites.guest import proxies

_READS = frozenset("ln")
"""Requests for names, and for items of an iterator."""
_SHOWING = frozenset(("__repr__", "__str__", "__hash__"))
_VERBS = {"a": "reads", "s": "sets", "d": "deletes"}


class Operations:
    """The operations of one test's process so far."""

    def __init__(self, *, only_data: bool) -> None:
        self.only_data = only_data
        self._refused = False
        self.lost_class = False
        """Whether an answer crossed as its base class's value, without its class's methods."""
        self._last: tuple[Any, ...] = ()

    def note(self, request: tuple[Any, ...]) -> None:
        """Notes a request: its kind, object and name, without arguments."""
        self._last = request[:3]
        self.only_data = self.only_data and not _is_doubtful(*self._last)

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

    @property
    def last(self) -> str:
        """The last operation, as text."""
        if not self._last or self._last[0] in _READS or self._last[0] in "pr":
            return ""
        what, target, *name = self._last
        of = _name_of(target)
        if name and isinstance(name[0], str):
            of += f".{name[0]}"
        return f"the test {_VERBS.get(what, 'calls')} {of}"


def _is_doubtful(what: str, target: Any = None, name: Any = None) -> bool:
    if what in _READS:
        return False
    if what == "c" and name is None:
        return isinstance(target, proxies.Classes | proxies.ExceptionClasses)
    if what == "c" and name in _SHOWING:
        return False
    kind = type(target)  # only the completion's own: it was free to answer with something else
    own = isinstance(kind, proxies.Classes) and not (kind._mentioned or kind._library)
    return what != "c" or not own


def _name_of(target: Any) -> str:
    if isinstance(target, proxies.Function):
        return str(target.__dict__["__name__"])
    kind = target if isinstance(target, type) else type(target)
    return str(type.__dict__["__name__"].__get__(kind))
