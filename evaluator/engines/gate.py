"""A gate that lets many workers in at once, or one alone."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from evaluator.stages import stage


class Gate:
    """Workers enter with `shared`; inside, `alone` waits until every other worker is outside.

    A worker that waits to be alone counts as outside, so two of them can't wait for each other.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._inside = 0
        self._taken = False

    @contextmanager
    def shared(self) -> Iterator[None]:
        with stage("queue"), self._changed:
            self._changed.wait_for(lambda: not self._taken)
            self._inside += 1
        try:
            yield
        finally:
            self._leave()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Use it inside `shared`."""
        mine = False
        self._leave()
        try:
            with stage("queue"), self._changed:
                self._changed.wait_for(lambda: not self._taken)
                mine = self._taken = True
                self._changed.wait_for(lambda: self._inside == 0)
            yield
        finally:  # also if Ctrl-C ends the wait: the gate is used again
            with self._changed:
                self._taken = self._taken and not mine
                self._inside += 1
                self._changed.notify_all()

    def _leave(self) -> None:
        with self._changed:
            self._inside -= 1
            self._changed.notify_all()
