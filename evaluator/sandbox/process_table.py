"""What /proc tells of processes: when they started, what they started, and who is in a completion's own namespace."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

_TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")
_FIRST = "1"  # a namespace's first process, which is the zygote's


def started(process: int) -> str:
    """When a process started, in the kernel's ticks; empty when it has ended.

    With its number this names one process for ever.
    """
    try:
        return _stat(f"/proc/{process}")[19]
    except (OSError, IndexError):
        return ""


def last_descendant(process: int) -> int:
    """Follows a chain of processes, each with one child, to its end. Raises `OSError`."""
    while children := Path(f"/proc/{process}/task/{process}/children").read_text("ascii").split():
        process = int(children[0])
    return process


class Others(NamedTuple):
    """The processes that a completion has started and that have not been waited for."""

    running: int
    cpu_s: float
    """Theirs, and that of all whose end was waited for."""


class Namespace:
    """The processes in a completion's own pid namespace, by the /proc that it has mounted there."""

    def __init__(self, process: int) -> None:
        """`process`: the completion's main process, in our own namespace."""
        self._main = f"/proc/{process}"
        self._folder = f"{self._main}/root/proc"

    def folders(self) -> list[str]:
        """The folders under /proc of all its processes; the main one's alone where the others can't be seen."""
        try:
            numbers = [name for name in os.listdir(self._folder) if name.isdigit() and name != _FIRST]  # noqa: PTH208
        except OSError:
            return [self._main]
        return [f"{self._folder}/{number}" for number in numbers]

    def others(self) -> Others:
        """All but the main process, those that have ended and wait for their parent included."""
        running, ticks = -1, 0
        for folder in self.folders():
            try:
                fields = _stat(folder)
            except OSError:  # it has just gone
                continue
            running += fields[0] not in ("Z", "X")
            ticks += sum(map(int, fields[11:15]))
        try:
            ticks -= sum(map(int, _stat(self._main)[11:13]))  # its own, but for what it waited for
        except OSError:
            return Others(0, 0.0)
        return Others(max(running, 0), max(ticks, 0) / _TICKS_A_SECOND)


def _stat(folder: str) -> list[str]:
    """What follows the name in a process's `stat`: state, parent, ... Raises `OSError`."""
    return Path(f"{folder}/stat").read_text("ascii", "replace").rpartition(")")[2].split()
