"""ColossalAI's `reliability_guard`, for programs that call it. Rollscope itself never relies on it."""

from __future__ import annotations

import atexit
import faulthandler
import importlib
import os
import resource
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import cast

from evaluator.graders.colossalai_testing.inside import REFUSED, REFUSED_MODULES


def reliability_guard(maximum_memory_bytes: int | None = None) -> None:
    """Patches the calling process for good, as the original does; it protects nothing and grading does not need it.

    `maximum_memory_bytes` becomes the limit of address space, data and stack, each; None: no limit. `faulthandler` is
    disabled; `exit`, `quit`, `help`, `subprocess.Popen`, `shutil.rmtree`, `move` and `chown`, and the names of
    `REFUSED["os"]` in `os` become None; `OMP_NUM_THREADS` is set to 1; `ipdb`, `joblib`, `resource`, `psutil` and
    `tkinter` can't be imported any more. Raises `ValueError` for a limit above the process's hard limit.

    `posix.system`, `os.posix_spawn`, `importlib.reload(os)`, `ctypes`, sockets, threads and written files stay within
    reach. `run_test` still works, since it gets back what it needs while it starts a sandbox, in which completions miss
    the same names. It may be called twice.

        reliability_guard(maximum_memory_bytes=8 * 2**30)
    """
    if maximum_memory_bytes is not None:
        for limit in (resource.RLIMIT_AS, resource.RLIMIT_DATA, resource.RLIMIT_STACK):
            resource.setrlimit(limit, (maximum_memory_bytes, maximum_memory_bytes))
    faulthandler.disable()
    with lent_back():  # it takes os.putenv
        os.environ["OMP_NUM_THREADS"] = "1"
    with _lock:
        for module, names in REFUSED.items():
            owner = importlib.import_module(module)
            for name in names:
                _originals.setdefault((owner, name), getattr(owner, name, None))
        _set_names()
    modules = cast("dict[str, ModuleType | None]", sys.modules)
    modules.update(dict.fromkeys(REFUSED_MODULES))


_originals: dict[tuple[ModuleType, str], object] = {}
"""The names taken from this process."""
_lock = threading.Lock()
_users = 0
"""How many callers need them at this moment."""


@contextmanager
def lent_back() -> Iterator[None]:
    """A context in which the process has what the guard took: starting and ending a sandbox needs some of it."""
    _use(1)
    try:
        yield
    finally:
        _use(-1)


def _use(more: int) -> None:
    global _users  # noqa: PLW0603 - of the process, as the names are
    with _lock:
        _users += more
        _set_names()


def _set_names() -> None:
    for (module, name), value in _originals.items():
        setattr(module, name, value if _users else None)


atexit.register(_use, 1)  # sandboxes end then
