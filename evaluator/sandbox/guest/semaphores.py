"""`multiprocessing`'s locks without a /dev/shm: they work among the threads of one process.

No other process can be started there, so none could share them.
"""

from __future__ import annotations

import _multiprocessing  # type: ignore[import-not-found]
import itertools
import threading
import time

_RECURSIVE = 0
_numbers = itertools.count(1)


class SemLock:
    """As `_multiprocessing.SemLock`: a semaphore or a recursive lock, by `kind`."""

    SEM_VALUE_MAX = 2**31 - 1

    def __init__(self, kind: int, value: int, maxvalue: int, name: str, unlink: bool) -> None:
        self.kind, self.maxvalue = kind, maxvalue
        self.name = None if unlink else name  # `multiprocessing` registers names with a tracker process
        self.handle = next(_numbers)
        self._value = value
        self._owner = self._held = 0
        self._changed = threading.Condition(threading.Lock())

    def acquire(self, block: bool = True, timeout: float | None = None) -> bool:
        own = threading.get_ident()
        with self._changed:
            if self.kind == _RECURSIVE and self._held and self._owner == own:
                self._held += 1
                return True
            end = None if timeout is None else time.monotonic() + max(timeout, 0)
            while self._value == 0:
                left = None if end is None else end - time.monotonic()
                if not block or (left is not None and left <= 0):
                    return False
                self._changed.wait(left)
            self._value -= 1
            self._owner, self._held = own, self._held + 1
            return True

    __enter__ = acquire

    def release(self) -> None:
        with self._changed:
            if self.kind == _RECURSIVE:
                if not self._held or self._owner != threading.get_ident():
                    raise AssertionError("attempt to release recursive lock not owned by thread")
                self._held -= 1
                if self._held:
                    return
            elif self._value >= self.maxvalue:
                raise ValueError("semaphore or lock released too many times")
            else:
                self._held -= 1
            self._value += 1
            self._changed.notify()

    def __exit__(self, *_: object) -> None:
        self.release()

    def _count(self) -> int:
        return self._held

    def _is_mine(self) -> bool:
        return self._held > 0 and self._owner == threading.get_ident()

    def _get_value(self) -> int:
        return self._value

    def _is_zero(self) -> bool:
        return self._value == 0

    def _after_fork(self) -> None:
        return


def keep_in_process() -> None:
    """Makes `multiprocessing` use these when it is imported."""
    _multiprocessing.SemLock = SemLock
    _multiprocessing.sem_unlink = lambda _: None
