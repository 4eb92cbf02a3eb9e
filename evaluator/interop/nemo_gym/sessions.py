"""Sessions: state between the requests of one rollout."""

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
"""How many sessions are remembered; more than a training step has rollouts at once."""


class Sessions:
    """The rows and interpreters of sessions. Thread-safe."""

    def __init__(self, make: Callable[[], Interpreter], most: int, idle_s: float) -> None:
        """`make`: makes an interpreter. At most `most` exist: the one idle longest is ended to make room, and so is
        each that was idle for `idle_s` seconds."""
        self._make, self._most, self._idle_s = make, most, idle_s
        self._lock = threading.Lock()
        self._rows: OrderedDict[str, JsonObject] = OrderedDict()
        self._interpreters: OrderedDict[str, tuple[Interpreter, float]] = OrderedDict()
        self._by_name: OrderedDict[str, str | None] = OrderedDict()
        """Session by an Environment Server's name for it; None: it was closed."""
        self._had: OrderedDict[str, None] = OrderedDict()
        """Sessions that may have had an interpreter before."""

    def seed(self, session: str, row: JsonObject) -> None:
        """Starts or restarts a session with a row."""
        self.close(session)
        with self._lock:
            _put(self._rows, session, row)

    def seed_named(self, name: str, session: str, row: JsonObject) -> bool:
        """Starts a named session, unless it was started already. False if it was closed."""
        with self._lock:
            if name in self._by_name:
                return self._by_name[name] is not None
            _put(self._by_name, name, session)
        self.seed(session, row)
        return True

    def close_named(self, name: str) -> None:
        """Forgets a session by its name, which can't be reused."""
        with self._lock:
            session = self._by_name.pop(name, None)
            _put(self._by_name, name, None)
        if session is not None:
            self.close(session)

    def row(self, session: str) -> JsonObject | None:
        """The session's row; None if it has none or was closed."""
        with self._lock:
            return self._rows.get(session)

    def note_lost(self, session: str) -> None:
        """Notes that a session belonged to an earlier process: its state is lost."""
        with self._lock:
            if session not in self._rows and session not in self._interpreters:
                _put(self._had, session, None)

    def interpreter(self, session: str) -> tuple[Interpreter, bool]:
        """The session's interpreter, and whether an earlier one was lost."""
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
        """Forgets a session, known or not."""
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
        """Ends the interpreters that were idle too long."""
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
    """Adds an entry, and drops the oldest beyond the limit."""
    kept[key] = value
    while len(kept) > _MOST:
        kept.popitem(last=False)
