"""Finding the sandboxes' processes of this one, as a user would with `ps`."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

from evaluator.engines import pool, warm

PATIENCE_S = 20.0
_pause = threading.Event()
_others: set[int] = set()
"""Sandboxes that fixtures of other tests keep in this process."""


def children(of: int) -> list[int]:
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                status = (folder / "stat").read_text()
            except OSError:
                continue
            state, parent = status.rpartition(")")[2].split()[:2]
            if int(parent) == of and state != "Z":
                found.append(int(folder.name))
    return found


def descendants(of: int) -> set[int]:
    """All processes below this one."""
    found = set(children(of))
    return found.union(*(descendants(child) for child in found))


def set_apart() -> None:
    """What runs now is no test's business from here on. What single calls keep warm is ended: it would be found too."""
    warm.close()
    pool._pool.close()
    _others.update(sandboxes())


def workers(of: int | None = None) -> list[int]:
    """The worker processes of a process, else of this one."""
    found = []
    for child in children(os.getpid() if of is None else of):
        with contextlib.suppress(OSError):
            if b"worker_process" in Path(f"/proc/{child}/cmdline").read_bytes():
                found.append(child)
    return found


def sandboxes() -> list[int]:
    """The outer process of each bubblewrap below this process, but for those set apart."""
    below = [number for number in descendants(os.getpid()) if name_of(number) == "bwrap"]
    inner = {child for number in below for child in children(number)}
    return [number for number in below if number not in inner and number not in _others]


def zygotes() -> list[int]:
    """The warm interpreters: Python, two levels below."""
    inner = [child for outer in sandboxes() for child in children(outer)]
    return [child for first in inner for child in [*children(first), first] if name_of(child).startswith("python")]


def name_of(number: int) -> str:
    try:
        return Path(f"/proc/{number}/comm").read_text().strip()
    except OSError:
        return ""


def kill(numbers: list[int]) -> None:
    for number in numbers:
        try:
            os.kill(number, signal.SIGKILL)
        except ProcessLookupError:
            continue


def runs_code(zygote: int) -> bool:
    """Whether it has more than the one process that waits for its order, where completions share namespaces."""
    return len(children(zygote)) > 1


def zygotes_below(number: int | None = None) -> list[int]:
    """The warm interpreters that a process, else this one, started in whichever way."""
    found = []
    grading = workers(number)
    for child in children(os.getpid() if number is None else number):
        is_zygote = name_of(child).startswith("python") and child not in grading
        found += [child] if is_zygote else zygotes_below(child)
    return found


def wait_until_none(find: object) -> list[int]:
    """What `find` still finds when it has had time to become nothing."""
    end = time.monotonic() + PATIENCE_S
    while (found := find()) and time.monotonic() < end:  # type: ignore[operator]
        _pause.wait(0.01)
    return found


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def wait_until(is_so: Callable[[], bool]) -> None:
    """Waits until something is so. Fails when it has had all the time that a busy machine may need."""
    end = time.monotonic() + 10 * PATIENCE_S
    while not is_so():
        assert time.monotonic() < end, "it never came to be so"
        _pause.wait(0.005)
