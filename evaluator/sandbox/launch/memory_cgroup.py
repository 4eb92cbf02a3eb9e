"""A control group for the memory of one worker's completions, where the kernel gives us one.

It counts what looking from outside can't see, such as files in memory that are mapped but not open, and it ends a
process at once. A zygote enters it when it is warm, so what it holds itself is not counted; what it forks is born in
there. Its limit is a completion's limit and a margin: the verdict of most is found by `watch`, before the kernel acts.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import time
from functools import cache
from pathlib import Path
from typing import NamedTuple

from evaluator.sandbox.limits.memory_use import MemoryUse
from evaluator.sandbox.limits.process_table import last_descendant, started

_PREFIX = "rollscope"
_MARGIN_MB = 256
"""For what is not the completion's own (stacks and tables in the kernel, pages that the zygote writes to), and so that
most is found by looking, which tells the line too."""
_PATIENCE_S = 0.5
_MIB = 2**20
_counter = itertools.count(1)

# Of cgroup v1 and v2: what it holds of no file and of files in memory; the limit, and whether to swap.
_HELD = {1: ("total_rss", "total_shmem"), 2: ("anon", "shmem")}
_FILES = {1: ("memory.limit_in_bytes", "memory.swappiness"), 2: ("memory.max", "memory.swap.max")}


class MemoryCgroup:
    """One group with one zygote in it. To be removed when that has ended."""

    def __init__(self, folder: Path, version: int) -> None:
        """`folder` exists. Raises `OSError` where it can't be used."""
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
        """A new group with the zygote that `process` is or has started; None where none can be had."""
        try:
            zygote = last_descendant(process)
            parent, version = _place()
            _sweep_once(parent)
            folder = parent / f"{_PREFIX}-{os.getpid()}-{started(os.getpid())}-{next(_counter)}"
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
        """Sets what a completion may use, where that is not what it is already."""
        if memory_mb != self._limit_mb:
            with contextlib.suppress(OSError):  # it could not free enough of what it holds: the old limit stays
                self._limit.write_text(str(int((memory_mb + _MARGIN_MB) * _MIB)))
                self._limit_mb = memory_mb

    def use(self) -> MemoryUse:
        """What the processes in it hold, and the files in memory that they have made, wherever these are now."""
        told = _table(self._folder / "memory.stat")
        private, in_files = _HELD[self._version]
        return MemoryUse(told[private] / _MIB, told[in_files] / _MIB)

    def has_killed(self) -> bool:
        """Whether, since this was last asked, the kernel has ended a process in it because of the limit set here.

        Not where what stands above us, a container or the machine, ran out of memory.
        """
        before = self._seen
        with contextlib.suppress(OSError):  # it has been removed
            self._seen = self._events()
        return self._seen.kills > before.kills and self._seen.times_full > before.times_full

    def remove(self) -> None:
        """Its processes have ended, or are about to."""
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
            told = _table(self._folder / "memory.events")
            return _Events(told["oom_kill"], told["oom"])
        full = int((self._folder / "memory.failcnt").read_text("ascii"))
        return _Events(_table(self._folder / "memory.oom_control")["oom_kill"], full)


class _Events(NamedTuple):
    kills: int
    """Of processes in it, whatever ran out of memory."""
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
    """How many processes the kernel has ended for want of memory since it started."""
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
            # A group with processes in it can't give the controller on, the one above it has.
            place = own if _gives_memory(own) else own.parent
            if _gives_memory(place):
                return place, 2
    raise OSError("no memory controller")


def _gives_memory(folder: Path) -> bool:
    try:
        return "memory" in (folder / "cgroup.subtree_control").read_text().split()
    except OSError:
        return False


def _folder(path: str, version: int) -> Path:
    """Where a group is mounted. Raises `OSError`."""
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        mounted, _, told = line.partition(" - ")
        root, point = mounted.split()[3:5]
        kind, _, options = told.split(" ", 2)
        found = kind == "cgroup2" if version == 2 else kind == "cgroup" and "memory" in options.split(",")
        if found and f"{path}/".startswith(f"{root.rstrip('/')}/"):
            return Path(point) / path.removeprefix(root).lstrip("/")
    raise OSError("it is not mounted")


@cache
def _sweep_once(parent: Path) -> None:
    """Removes the groups of processes that have ended. One that is still in use can't be removed."""
    for folder in parent.glob(f"{_PREFIX}-*"):
        number, _, rest = folder.name.removeprefix(f"{_PREFIX}-").partition("-")
        if number.isdigit() and started(int(number)) != rest.partition("-")[0]:
            with contextlib.suppress(OSError):
                folder.rmdir()
