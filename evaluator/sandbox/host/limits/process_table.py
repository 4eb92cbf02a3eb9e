"""Reads /proc: when processes started, their children, and the processes in a completion's own namespace."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")
_LIST_CAP = 2 << 20
_FIRST = "1"  # a namespace's first process, which belongs to the zygote


def started(process: int) -> str:
    """When a process started, in the kernel's ticks; empty if it has ended.

    Together with its number this identifies a process uniquely. Raises `OSError` if that can't be read now, for
    example without a free descriptor: it may not have ended.
    """
    try:
        return _stat(f"/proc/{process}")[19]
    except (FileNotFoundError, ProcessLookupError, IndexError):
        return ""


def mark() -> str:
    """Names this process, in the names of folders that are its own; see `is_left`."""
    return f"{os.getpid()}-{started(os.getpid())}-"


def is_left(name: str) -> bool:
    """Whether a name that begins with the `mark` of a process is that of one that has ended. Raises `OSError`."""
    number, then, *_ = [*name.split("-", 2), ""]
    return number.isdigit() and started(int(number)) != then


def chain(process: int) -> Iterator[int]:
    """A process, its first child, the first child of that, and so on. Raises `OSError`."""
    yield process
    while children := Path(f"/proc/{process}/task/{process}/children").read_text("ascii").split():
        process = int(children[0])
        yield process


def last_descendant(process: int) -> int:
    """The end of a chain of processes with one child each. Raises `OSError`."""
    return list(chain(process))[-1]


def open_files(folder: str) -> Iterator[os.stat_result]:
    """The open files of the process with this folder under /proc; none if they are not visible."""
    try:
        entries = list(os.scandir(f"{folder}/fd"))
    except OSError:
        return
    for entry in entries:
        try:
            yield entry.stat()
        except OSError:  # closed meanwhile
            continue


class TooManyMappingsError(Exception):
    """A list of mappings that is longer than we read: a program can make it long, and its time runs on meanwhile."""


class Mapped(NamedTuple):
    """A part of a file that a process has mapped: the first address, the one after the last, the file."""

    first: int
    last: int
    number: int
    path: bytes


def mapped_files(folder: str, device: int) -> Iterator[Mapped]:
    """The mapped parts of files on one device. Raises `TooManyMappingsError`."""
    name = b"%02x:%02x" % (os.major(device), os.minor(device))
    for line in lines(f"{folder}/maps"):
        fields = line.split(maxsplit=5)
        if len(fields) == 6 and fields[3] == name:
            first, last = (int(each, 16) for each in fields[0].split(b"-"))
            yield Mapped(first, last, int(fields[4]), fields[5])


def lines(path: str) -> list[bytes]:
    """A file under /proc; no lines if its process has ended or is not visible. Raises `TooManyMappingsError`."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - ten times a second
            text = file.read(_LIST_CAP)
            if file.read(1):
                raise TooManyMappingsError
            return text.splitlines()
    except OSError:
        return []


class Others(NamedTuple):
    """The processes that a completion has started and that have not been waited for."""

    running: int
    cpu_s: float
    """Theirs, and that of all that were waited for."""


class Namespace:
    """The processes in a completion's own pid namespace, read from the /proc that is mounted in it."""

    def __init__(self, process: int) -> None:
        """`process`: the completion's main process, in our own namespace."""
        self._main = f"/proc/{process}"
        self._folder = f"{self._main}/root/proc"

    def folders(self) -> list[str]:
        """The folders under /proc of all its processes; only the main one's if the others are not visible."""
        try:
            numbers = [name for name in os.listdir(self._folder) if name.isdigit() and name != _FIRST]  # noqa: PTH208
        except OSError:
            return [self._main]
        return [f"{self._folder}/{number}" for number in numbers]

    def others(self) -> Others:
        """All except the main process; also ended ones that their parent has not waited for."""
        running, ticks = -1, 0
        for folder in self.folders():
            try:
                fields = _stat(folder)
            except OSError:  # it has just ended
                continue
            running += fields[0] not in ("Z", "X")
            ticks += sum(map(int, fields[11:15]))
        try:
            ticks -= sum(map(int, _stat(self._main)[11:13]))  # its own, without that of children
        except OSError:
            return Others(0, 0.0)
        return Others(max(running, 0), max(ticks, 0) / _TICKS_A_SECOND)


def _stat(folder: str) -> list[str]:
    """The fields after the name in a process's `stat`: state, parent, ... Raises `OSError`."""
    return Path(f"{folder}/stat").read_text("ascii", "replace").rpartition(")")[2].split()
