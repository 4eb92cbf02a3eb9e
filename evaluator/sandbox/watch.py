"""The clock of one run, and the limits that are watched from outside while the parent waits."""

from __future__ import annotations

import os
import time

from evaluator.model import Limits
from evaluator.sandbox.outcomes import Status

_FIRST_LOOK_S = 0.05
_LOOK_S = 0.1
_PAGES_A_MIB = 2**20 // os.sysconf("SC_PAGE_SIZE")


class LimitPassed(Exception):  # noqa: N818 - not an error
    """The run is over a limit: TIME or MEMORY."""

    def __init__(self, status: Status, message: str) -> None:
        self.status = status
        self.message = message


class LimitWatch:
    """Asked while the parent waits for a process; raises `LimitPassed` as soon as a limit is passed."""

    def __init__(self, process: int, limits: Limits, wall_s: float) -> None:
        """`process`: its number in our own pid namespace."""
        self._process = process
        self._limits = limits
        self.started = time.monotonic()
        self._wall_s = wall_s
        self._deadline = self.started + wall_s
        self.cpu_before = self._cpu()
        self._next_look = self.started + _FIRST_LOOK_S
        self.peak_mb = 0.0

    def cpu_s(self) -> float:
        """CPU seconds since the start, of all threads; 0 once the process is gone."""
        return max(0.0, self._cpu() - self.cpu_before)

    def _cpu(self) -> float:
        try:
            return time.clock_gettime((~self._process << 3) | 2)  # the process's own CPU clock
        except OSError:
            return 0.0

    def patience_ms(self) -> float:
        """How long to wait before the next look, in milliseconds; looks when that is due."""
        now = time.monotonic()
        if now >= self._deadline:
            raise LimitPassed(Status.TIME, f"{self._wall_s:.3g} s of wall time")
        if now >= self._next_look:
            self.look()
        return max((min(self._deadline, self._next_look) - now) * 1000, 1)

    def look(self) -> None:
        """Looks at CPU time and resident memory."""
        self._next_look = time.monotonic() + _LOOK_S
        cpu = self.cpu_s()
        if cpu > self._limits.cpu_s:
            raise LimitPassed(Status.TIME, f"{cpu:.2f} s of CPU time")
        self.peak_mb = max(self.peak_mb, self._resident_mb())
        if self.peak_mb > self._limits.memory_mb:
            raise LimitPassed(Status.MEMORY, f"{self.peak_mb:.0f} MiB resident")

    def _resident_mb(self) -> float:
        try:
            with open(f"/proc/{self._process}/statm", "rb") as file:  # noqa: PTH123 - ten times a second
                return int(file.read().split()[1]) / _PAGES_A_MIB
        except (OSError, IndexError):
            return 0.0
