"""CPU time of this process and everything it starts, measured by a control group."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path
from typing import NamedTuple, Self

_ROOT = Path("/sys/fs/cgroup")
_LAST_ENDS_S = 5.0
_NAME = f"rollscope-benchmark-{os.getpid()}"


class Cpu(NamedTuple):
    """Seconds of CPU time, or a difference of two."""

    total: float
    user: float
    sys: float

    def minus(self, other: Cpu) -> Cpu:
        return Cpu(*(mine - yours for mine, yours in zip(self, other, strict=True)))

    def over(self, count: float) -> Cpu:
        return Cpu(*(each / count for each in self))


class CpuGroup:
    """A control group with this process and all that it starts, for the length of a `with`.

    Needs cgroup v1's `cpuacct` or v2's `cpu.stat`, and root; else raises `OSError`.
    """

    def __enter__(self) -> Self:
        self._home = _own_group()
        self.path = self._home / _NAME
        self.path.mkdir()
        try:
            self._enter(self.path)
            self.used()
        except OSError:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            self._enter(self._home)
        deadline = time.monotonic() + _LAST_ENDS_S
        while time.monotonic() < deadline:
            try:
                self.path.rmdir()
                return
            except OSError:  # a process killed a moment ago is still in it
                time.sleep(0.01)

    def used(self) -> Cpu:
        """The group's CPU time so far."""
        return used(self.path)

    @staticmethod
    def _enter(group: Path) -> None:
        (group / "cgroup.procs").write_text(str(os.getpid()))


def used(group: Path) -> Cpu:
    """The CPU time so far of a group, by its folder."""
    if (group / "cpuacct.usage").exists():
        kinds = ("usage", "usage_user", "usage_sys")
        return Cpu(*(int((group / f"cpuacct.{kind}").read_text()) / 1e9 for kind in kinds))
    lines = dict(line.split() for line in (group / "cpu.stat").read_text().splitlines())
    return Cpu(*(int(lines[kind]) / 1e6 for kind in ("usage_usec", "user_usec", "system_usec")))


def _own_group() -> Path:
    """The folder of this process's group."""
    groups = [line.split(":", 2) for line in Path("/proc/self/cgroup").read_text().splitlines()]
    for _, controllers, path in groups:
        if "cpuacct" in controllers.split(","):
            return _ROOT / controllers / path.lstrip("/")
    for _, controllers, path in groups:
        if not controllers:
            return _ROOT / path.lstrip("/")
    raise OSError("this process is in no control group")
