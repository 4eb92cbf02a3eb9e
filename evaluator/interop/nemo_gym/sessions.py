"""Sessions: what is kept between the requests of one rollout, and for how long."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final, TypeVar

from evaluator.interop.nemo_gym.interpreter import Interpreter
from evaluator.interop.nemo_gym.wire import JsonObject

Value = TypeVar("Value")

_MOST: Final = 10_000
"""Sessions that are remembered. A training step has fewer rollouts under way."""


class Sessions:
    """The rows that sessions were seeded with, and the interpreters of those that keep state. Safe for threads."""

    def __init__(self, make: Callable[[], Interpreter], most: int, idle_s: float) -> None:
        """`make`: a new interpreter. At most `most` exist at once; the one that was idle longest makes room, and so
        does each that was not used for `idle_s`."""
        self._make, self._most, self._idle_s = make, most, idle_s
        self._lock = threading.Lock()
        self._rows: OrderedDict[str, JsonObject] = OrderedDict()
        self._interpreters: OrderedDict[str, tuple[Interpreter, float]] = OrderedDict()
        self._by_name: OrderedDict[str, str | None] = OrderedDict()
        """Session by the name that an Environment Server has for it; None: it was closed."""
        self._had: OrderedDict[str, None] = OrderedDict()
        """Sessions that may have had an interpreter before."""

    def seed(self, session: str, row: JsonObject) -> None:
        """Begins a session anew with a row."""
        self.close(session)
        with self._lock:
            _put(self._rows, session, row)

    def seed_named(self, name: str, session: str, row: JsonObject) -> bool:
        """Begins a session that has a name; once, however often it is asked for. False where it was closed before."""
        with self._lock:
            if name in self._by_name:
                return self._by_name[name] is not None
            _put(self._by_name, name, session)
        self.seed(session, row)
        return True

    def close_named(self, name: str) -> None:
        """Forgets a session by its name, which can't be used again."""
        with self._lock:
            session = self._by_name.pop(name, None)
            _put(self._by_name, name, None)
        if session is not None:
            self.close(session)

    def row(self, session: str) -> JsonObject | None:
        """What the session was seeded with; None where it was not, or was closed."""
        with self._lock:
            return self._rows.get(session)

    def is_from_before(self, session: str) -> None:
        """Notes that a session was an earlier server's: what it held is lost."""
        with self._lock:
            if session not in self._rows and session not in self._interpreters:
                _put(self._had, session, None)

    def interpreter(self, session: str) -> tuple[Interpreter, bool]:
        """The session's interpreter, and whether an earlier one of it, with what it held, was given up."""
        with self._lock:
            now = time.monotonic()
            kept = self._interpreters.pop(session, None)
            lost = kept is None and session in self._had
            interpreter = kept[0] if kept else self._make()
            _put(self._had, session, None)
            self._interpreters[session] = interpreter, now
            ended = list(self._outdated(now))
        for each in ended:
            each.close()
        return interpreter, lost

    def close(self, session: str) -> None:
        """Forgets a session; one that is not known is closed already."""
        with self._lock:
            self._rows.pop(session, None)
            self._had.pop(session, None)
            kept = self._interpreters.pop(session, None)
        if kept is not None:
            kept[0].close()

    def close_all(self) -> None:
        """Ends every interpreter."""
        with self._lock:
            kept = list(self._interpreters.values())
            self._interpreters.clear()
        for interpreter, _ in kept:
            interpreter.close()

    def close_idle(self) -> None:
        """Ends the interpreters that were not used for long."""
        with self._lock:
            ended = list(self._outdated(time.monotonic()))
        for each in ended:
            each.close()

    def _outdated(self, now: float) -> list[Interpreter]:
        ended = []
        while self._interpreters:
            session, (interpreter, used) = next(iter(self._interpreters.items()))
            if len(self._interpreters) <= self._most and now - used <= self._idle_s:
                break
            del self._interpreters[session]
            ended.append(interpreter)
        return ended


def _put(kept: OrderedDict[str, Value], key: str, value: Value) -> None:
    """Keeps the newest."""
    kept[key] = value
    while len(kept) > _MOST:
        kept.popitem(last=False)
