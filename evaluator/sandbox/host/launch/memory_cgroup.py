"""A control group for the memory of one worker's completions, if the kernel gives us one.

Mostly for root, and in containers that may make groups; elsewhere `memory_use` counts alone.

It counts what can't be measured from outside, such as files in memory that are mapped but not open, and it kills a
process at once. A zygote enters it when it is warm, so its own memory is not counted; its children start in there. The
limit is a completion's limit plus a margin: in most cases `watch` finds the excess before the kernel acts.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import time
from functools import cache
from pathlib import Path
from typing import NamedTuple

from evaluator.sandbox.host.limits.memory_use import MemoryUse
from evaluator.sandbox.host.limits.process_table import is_left, last_descendant, mark

_PREFIX = "rollscope-"
_MARGIN_MB = 256
"""For memory that is not the completion's own (the kernel's stacks and tables, pages that the zygote writes to), and so
that most excess is found by `watch`, which also reports the line."""
_PATIENCE_S = 0.5
_MIB = 2**20
_counter = itertools.count(1)

# For cgroup v1 and v2: the counters of memory in no file and in files in memory; the files for limit and swap.
_COUNTERS = {1: ("total_rss", "total_shmem"), 2: ("anon", "shmem")}
_FILES = {1: ("memory.limit_in_bytes", "memory.swappiness"), 2: ("memory.max", "memory.swap.max")}


class MemoryCgroup:
    """One group with one zygote in it. Remove it when the zygote has ended."""

    def __init__(self, folder: Path, version: int) -> None:
        """`folder` exists. Raises `OSError` if it can't be used."""
        self._folder = folder
        self._version = version
        limit, swap = _FILES[version]
        self._limit = folder / limit
        self._limit_mb = 0.0
        self._seen = self._events()
        with contextlib.suppress(OSError):
            (folder / swap).write_text("0")

    @classmethod
    def around(cls, process: int) -> MemoryCgroup | None:
        """A new group with the zygote that `process` is or has started; None if no group can be made."""
        try:
            zygote = last_descendant(process)
            parent, version = _place()
            _sweep_once(parent)
            folder = parent / f"{_PREFIX}{mark()}{next(_counter)}"
            folder.mkdir()
        except OSError:
            return None
        try:
            group = cls(folder, version)
            (folder / "cgroup.procs").write_text(str(zygote))
        except (OSError, KeyError, ValueError):
            with contextlib.suppress(OSError):
                folder.rmdir()
            return None
        return group

    def limit(self, memory_mb: float) -> None:
        """Sets what a completion may use, unless it is already set so."""
        if memory_mb != self._limit_mb:
            with contextlib.suppress(OSError):  # it could not free enough of what it holds: the old limit stays
                self._limit.write_text(str(int((memory_mb + _MARGIN_MB) * _MIB)))
                self._limit_mb = memory_mb

    def use(self) -> MemoryUse:
        """The memory of its processes, and of the files in memory that they made, wherever these are now."""
        counters = _table(self._folder / "memory.stat")
        private, in_files = _COUNTERS[self._version]
        return MemoryUse(counters[private] / _MIB, counters[in_files] / _MIB)

    def has_killed(self) -> bool:
        """Whether the kernel has killed a process in it over the limit set here since the last call.

        Not if the container or the machine ran out of memory.
        """
        before = self._seen
        with contextlib.suppress(OSError):  # it has been removed
            self._seen = self._events()
        return self._seen.kills > before.kills and self._seen.times_full > before.times_full

    def remove(self) -> None:
        """Removes it; its processes have ended or are ending."""
        deadline = time.monotonic() + _PATIENCE_S
        while self._folder.exists():
            try:
                self._folder.rmdir()
            except OSError:
                if time.monotonic() > deadline:
                    return  # the next one to start sweeps it
                time.sleep(0.002)

    def _events(self) -> _Events:
        if self._version == 2:
            events = _table(self._folder / "memory.events")
            return _Events(events["oom_kill"], events["oom"])
        full = int((self._folder / "memory.failcnt").read_text("ascii"))
        return _Events(_table(self._folder / "memory.oom_control")["oom_kill"], full)


class _Events(NamedTuple):
    kills: int
    """Of processes in it, whichever limit was exceeded."""
    times_full: int


@cache
def available() -> bool:
    """Whether groups can be made here."""
    try:
        place, _ = _place()
    except OSError:
        return False
    return os.access(place, os.W_OK)


def kills_on_machine() -> int:
    """How many processes the kernel has killed because of memory since it booted."""
    try:
        return _table(Path("/proc/vmstat"))["oom_kill"]
    except (OSError, KeyError):
        return 0


def _table(path: Path) -> dict[str, int]:
    lines = path.read_text("ascii").splitlines()
    return {name: int(number) for name, number in (line.split() for line in lines)}


def _place() -> tuple[Path, int]:
    """The folder in which groups can be made, and the version of its hierarchy. Raises `OSError`."""
    groups = [line.split(":", 2) for line in Path("/proc/self/cgroup").read_text().splitlines()]
    for _, controllers, path in groups:
        if "memory" in controllers.split(","):
            return _folder(path, 1), 1
    for _, controllers, path in groups:
        if not controllers:
            own = _folder(path, 2)
            # A group with processes in it can't delegate the controller; the one above it may have.
            place = own if _delegates_memory(own) else own.parent
            if _delegates_memory(place):
                return place, 2
    raise OSError("no memory controller")


def _delegates_memory(folder: Path) -> bool:
    try:
        return "memory" in (folder / "cgroup.subtree_control").read_text().split()
    except OSError:
        return False


def _folder(path: str, version: int) -> Path:
    """Where a group is mounted. Raises `OSError`."""
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        mounted, _, file_system = line.partition(" - ")
        root, point = mounted.split()[3:5]
        kind, _, options = file_system.split(" ", 2)
        matches = kind == "cgroup2" if version == 2 else kind == "cgroup" and "memory" in options.split(",")
        if matches and f"{path}/".startswith(f"{root.rstrip('/')}/"):
            return Path(point) / path.removeprefix(root).lstrip("/")
    raise OSError("it is not mounted")


@cache
def _sweep_once(parent: Path) -> None:
    """Removes the groups of processes that have ended. A group in use can't be removed."""
    for folder in parent.glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            if is_left(folder.name.removeprefix(_PREFIX)):
                folder.rmdir()
