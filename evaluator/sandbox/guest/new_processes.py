"""Refuses to start processes from Python with a clear error, unless the task allows some.

The kernel's filter enforces this. This module is for the message, and so that `os.system` raises instead of returning a
status, and `multiprocessing` does not wait for processes that never started.
"""

from __future__ import annotations

import _posixsubprocess
import errno
import os
import posix
import random
import sys
import threading
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
    if "subprocess" in sys.modules:  # it has its own reference
        sys.modules["subprocess"]._fork_exec = _posixsubprocess.fork_exec  # type: ignore[attr-defined]
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
