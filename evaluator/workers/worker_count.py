"""How many workers a process may have: by cores, by the control group's quota of CPU time, by memory; or as told."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from evaluator.workers.engine import EngineError

WORKERS: Final = "ROLLSCOPE_WORKERS"
"""The environment variable that says how many there may be."""
_WORKER_BYTES: Final = 256 << 20
"""What a worker takes with its warm interpreters, and a completion that is no large one."""
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
    by_memory = (free // _WORKER_BYTES for free in _free_bytes(root))
    return max(1, min((cores(), *map(math.ceil, _quotas(root)), *by_memory)))


def _quotas(root: Path) -> Iterator[float]:
    """Cores' worth of CPU time that this process and its neighbours may use."""
    for folder in _groups(root, "cpu"):
        version_1 = f"{_text(folder / 'cpu.cfs_quota_us')} {_text(folder / 'cpu.cfs_period_us')}"
        quota, _, period = (_text(folder / "cpu.max") or version_1).partition(" ")
        if quota.isdigit() and period.isdigit() and int(period):
            yield int(quota) / int(period)


def _free_bytes(root: Path) -> Iterator[int]:
    """Memory that is free for this process."""
    if free_kib := _counter(root / "proc/meminfo", "MemAvailable:"):
        yield free_kib * 1024
    for folder in _groups(root, "memory"):
        for limit_name, used_name, cache in (
            ("memory.max", "memory.current", "inactive_file"),
            ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
        ):
            limit, used = _text(folder / limit_name), _text(folder / used_name)
            if limit.isdigit() and int(limit) < _UNLIMITED and used.isdigit():
                yield int(limit) - int(used) + _counter(folder / "memory.stat", cache)


def _groups(root: Path, controller: str) -> list[Path]:
    """This process's control group and those above it, in either version; a container may show only its own as `/`."""
    found: list[Path] = []
    for line in _text(root / "proc/self/cgroup").splitlines():
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
    for line in _text(path).splitlines():
        if line.startswith(f"{name} "):
            return int(line.split()[1])
    return 0


def _text(path: Path) -> str:
    try:
        return path.read_text("ascii").strip()
    except (OSError, ValueError):
        return ""
