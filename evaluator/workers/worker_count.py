"""How many workers a process may have: by cores, by the control group's quota of CPU time, by memory; or as told."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Final

from evaluator.workers.engine import EngineError

WORKERS: Final = "ROLLSCOPE_WORKERS"
"""The environment variable that says how many there may be."""
_WORKER_MB: Final = 256
"""What a worker takes with its warm interpreters, and a completion that is no large one."""
_MIB: Final = 2**20
_UNLIMITED: Final = 2**60
"""More bytes than any machine has: what version 1 says where there is no limit."""


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0))


def worker_count(root: Path = Path("/")) -> int:
    """As many as `ROLLSCOPE_WORKERS` says. Without it one per core, but no more than the control group's CPU time and
    the free memory allow; at least one.

    Containers usually see all cores of their machine, but may use the time of a few only. `root`: the folder that has
    `proc` and `sys`. Raises `EngineError` if the variable is no number.
    """
    told = os.environ.get(WORKERS)
    if told:
        if not told.isdecimal() or int(told) < 1:
            raise EngineError(f"{WORKERS} is {told!r}: give a whole number from 1, or remove it")
        return int(told)
    quota, memory_mb = _quota(root), _memory_mb(root)
    count = cores()
    if quota is not None:
        count = min(count, math.ceil(quota))
    if memory_mb is not None:
        count = min(count, int(memory_mb / _WORKER_MB))
    return max(1, count)


def _quota(root: Path) -> float | None:
    """Cores' worth of CPU time that this process and its neighbours may use; None: no limit is known."""
    found: list[float] = []
    for folder in _groups(root, "cpu"):
        words = (_text(folder / "cpu.max") or "").split()
        if not words:  # version 1
            words = [_text(folder / "cpu.cfs_quota_us") or "", _text(folder / "cpu.cfs_period_us") or ""]
        if len(words) == 2 and all(word.isdigit() for word in words) and int(words[1]):
            found.append(int(words[0]) / int(words[1]))
    return min(found, default=None)


def _memory_mb(root: Path) -> float | None:
    """Memory that is free for this process, in MiB; None: it is not known."""
    found: list[float] = []
    for line in (_text(root / "proc/meminfo") or "").splitlines():
        name, _, rest = line.partition(":")
        if name == "MemAvailable":
            found.append(int(rest.split()[0]) / 1024)
    for folder in _groups(root, "memory"):
        for limit_name, used_name, cache in (
            ("memory.max", "memory.current", "inactive_file"),
            ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
        ):
            limit, used = _text(folder / limit_name) or "", _text(folder / used_name) or ""
            if limit.isdigit() and int(limit) < _UNLIMITED and used.isdigit():
                found.append((int(limit) - int(used) + _counter(folder / "memory.stat", cache)) / _MIB)
    return min(found, default=None)


def _groups(root: Path, controller: str) -> list[Path]:
    """This process's control group and those above it, in either version; a container may show only its own as `/`."""
    found: list[Path] = []
    for line in (_text(root / "proc/self/cgroup") or "").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers and controller not in controllers.split(","):
            continue
        mounts = [root / "sys/fs/cgroup"] if not controllers else [
            root / "sys/fs/cgroup" / controllers, root / "sys/fs/cgroup" / controller,
        ]  # fmt: skip
        for mount in mounts:
            inner = mount / path.lstrip("/")
            found += [inner, *(each for each in inner.parents if each.is_relative_to(mount))]
    return found


def _counter(path: Path, name: str) -> int:
    for line in (_text(path) or "").splitlines():
        if line.startswith(f"{name} "):
            return int(line.split()[1])
    return 0


def _text(path: Path) -> str | None:
    try:
        return path.read_text("ascii").strip()
    except (OSError, ValueError):
        return None
