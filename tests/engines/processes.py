"""Finding the sandboxes' processes of this one, as a user would with `ps`."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

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
    """What runs now is no test's business from here on."""
    _others.update(sandboxes())


def sandboxes() -> list[int]:
    """The processes of bubblewrap that this process started and that live, but for those set apart."""
    found = []
    for number in children(os.getpid()):
        try:
            name = Path(f"/proc/{number}/comm").read_text().strip()
        except OSError:
            continue
        if name == "bwrap" and number not in _others:
            found.append(number)
    return found


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


def zygotes_below(number: int | None = None) -> list[int]:
    """The warm interpreters that a process, else this one, started in whichever way."""
    found = []
    for child in children(os.getpid() if number is None else number):
        found += [child] if name_of(child).startswith("python") else zygotes_below(child)
    return found


def wait_until_none(find: object) -> list[int]:
    """What `find` still finds when it has had time to become nothing."""
    end = time.monotonic() + PATIENCE_S
    while (found := find()) and time.monotonic() < end:  # type: ignore[operator]
        _pause.wait(0.01)
    return found


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))
