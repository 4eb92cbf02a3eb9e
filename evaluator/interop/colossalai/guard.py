"""ColossalAI's `reliability_guard`, for programs that call it. Rollscope itself never relies on it."""

from __future__ import annotations

import atexit
import builtins
import faulthandler
import os
import resource
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import cast

REFUSED_BY_OS = (
    "kill system putenv remove removedirs rmdir fchdir setuid fork forkpty killpg rename renames truncate replace "
    "unlink fchmod fchown chmod chown chroot lchflags lchmod lchown getcwd chdir"
).split()
REFUSED_BY_SHUTIL = ("rmtree", "move", "chown")
REFUSED_MODULES = ("ipdb", "joblib", "resource", "psutil", "tkinter")


def reliability_guard(maximum_memory_bytes: int | None = None) -> None:
    """Patches the calling process for good, as the original does; it protects nothing and grading does not need it.

    `maximum_memory_bytes` becomes the limit of address space, data and stack, each; None: no limit. `faulthandler` is
    disabled; `exit`, `quit`, `help`, `subprocess.Popen`, `shutil.rmtree`, `move` and `chown`, and the names of
    `REFUSED_BY_OS` in `os` become None; `OMP_NUM_THREADS` is set to 1; `ipdb`, `joblib`, `resource`, `psutil` and
    `tkinter` can't be imported any more. Raises `ValueError` for a limit above the process's hard limit.

    `posix.system`, `os.posix_spawn`, `importlib.reload(os)`, `ctypes`, sockets, threads and written files stay within
    reach. `run_test` still works, since it gets back what it needs while it starts a sandbox, in which completions miss
    the same names. It may be called twice.

        reliability_guard(maximum_memory_bytes=8 * 2**30)
    """
    if maximum_memory_bytes is not None:
        _limit_memory(maximum_memory_bytes)
    faulthandler.disable()
    with lent_back():  # it takes os.putenv
        os.environ["OMP_NUM_THREADS"] = "1"
    for module, names in ((os, REFUSED_BY_OS), (shutil, REFUSED_BY_SHUTIL), (subprocess, ["Popen"])):
        _refuse(module, names)
    _refuse(builtins, ["exit", "quit", "help"])
    modules = cast("dict[str, ModuleType | None]", sys.modules)
    modules.update(dict.fromkeys(REFUSED_MODULES))


class _Taken:
    """The names taken from this process, and how many callers need them at this moment."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._originals: dict[tuple[ModuleType, str], object] = {}
        self._users = 0

    def take(self, module: ModuleType, name: str) -> None:
        with self._lock:
            value = getattr(module, name, None)
            if value is not None:
                self._originals[module, name] = value
            if not self._users:
                setattr(module, name, None)

    def give_back(self) -> None:
        with self._lock:
            self._users += 1
            if self._users == 1:
                for (module, name), value in self._originals.items():
                    setattr(module, name, value)

    def take_again(self) -> None:
        with self._lock:
            self._users -= 1
            if not self._users:
                for module, name in self._originals:
                    setattr(module, name, None)


_taken = _Taken()
atexit.register(_taken.give_back)  # sandboxes end then


@contextmanager
def lent_back() -> Iterator[None]:
    """A context in which the process has what the guard took: starting and ending a sandbox needs some of it."""
    _taken.give_back()
    try:
        yield
    finally:
        _taken.take_again()


def _refuse(module: ModuleType, names: tuple[str, ...] | list[str]) -> None:
    for name in names:
        _taken.take(module, name)


def _limit_memory(size: int) -> None:
    for limit in (resource.RLIMIT_AS, resource.RLIMIT_DATA, resource.RLIMIT_STACK):
        resource.setrlimit(limit, (size, size))
