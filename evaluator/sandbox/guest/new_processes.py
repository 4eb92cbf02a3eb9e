"""Refuses to start processes from Python with a clear error, unless the task allows some.

On real sets 0.4 % of the completions may start some: those of test suites that use `subprocess` or `multiprocessing`.

The kernel's filter enforces this. This module is for the message, and so that `os.system` raises instead of returning a
status, and `multiprocessing` does not wait for processes that never started.
"""

from __future__ import annotations

import _multiprocessing  # type: ignore[import-not-found]
import _posixsubprocess
import errno
import itertools
import os
import posix
import random
import sys
import threading
import time
from collections.abc import Callable
from typing import NoReturn

_STARTING = (
    *((module, name) for module in (os, posix) for name in ("fork", "forkpty", "system", "execv", "execve")),
    *((module, name) for module in (os, posix) for name in ("posix_spawn", "posix_spawnp")),
    (_posixsubprocess, "fork_exec"),
)

_REFUSED = "new processes are refused here (limits.processes is 0; a task may allow some)"

fork = os.fork
_REAL: list[tuple[object, str, Callable[..., object]]] = [
    (module, name, getattr(module, name)) for module, name in _STARTING if hasattr(module, name)
]


def refuse() -> None:
    """Makes Python's own functions that start a process or a program raise `PermissionError`."""
    replaced: dict[str, Callable[..., NoReturn]] = {name: _refusal(name) for _, name, _ in _REAL}
    for module, name, _ in _REAL:
        setattr(module, name, replaced[name])
    _tell_subprocess()


def _tell_subprocess() -> None:
    if "subprocess" in sys.modules:  # it has its own reference
        sys.modules["subprocess"]._fork_exec = _posixsubprocess.fork_exec  # type: ignore[attr-defined]


def _refusal(name: str) -> Callable[..., NoReturn]:
    event = {"execv": "os.exec", "execve": "os.exec", "posix_spawnp": "os.posix_spawn"}.get(name, f"os.{name}")

    def refused(*arguments: object, **_: object) -> NoReturn:
        sys.audit(event, *arguments)  # as Python does: see `lacking`
        raise PermissionError(errno.EPERM, _REFUSED)

    refused.__name__ = refused.__qualname__ = name
    return refused


def allow(*connections: int) -> None:
    """Restores them. Later forks have none of these connections, and run Python's usual hooks after the fork.

    Processes started by `sys.executable` find the same modules.
    """
    for module, name, function in _REAL:
        setattr(module, name, function)
    _tell_subprocess()
    os.environ["PYTHONPATH"] = os.pathsep.join(sys.path[1:])
    # The zygote keeps these from being registered; see zygote.main.
    os.register_at_fork(after_in_child=threading._after_fork)  # type: ignore[attr-defined]
    os.register_at_fork(after_in_child=random.seed)

    def disconnect() -> None:
        nowhere = os.open("/dev/null", os.O_RDWR)
        for connection in connections:
            os.dup2(nowhere, connection)
        os.close(nowhere)

    os.register_at_fork(after_in_child=disconnect)


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


def keep_locks_in_process() -> None:
    """Makes `multiprocessing` use these when it is imported."""
    _multiprocessing.SemLock = SemLock
    _multiprocessing.sem_unlink = lambda _: None


def fork_by_default() -> None:
    """Makes `multiprocessing` start processes as it did before Python 3.14: what it does since takes sockets, and a
    process for every lock.
    """
    if sys.version_info >= (3, 14):
        from multiprocessing import context

        context._default_context._default_context = context._concrete_contexts["fork"]
        del sys.modules["__mp_main__"]  # the zygote's
