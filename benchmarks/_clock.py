"""Wall and CPU time of a piece of work in a competitor's process and all those below it."""

from __future__ import annotations

import os
import time
from pathlib import Path

import _cgroup

GROUP = "BENCHMARK_CPU_GROUP"
"""The environment variable with the folder of the control group that everything is in; CPU time is 0 without it."""


class Clock:
    """Runs from its creation."""

    def __init__(self) -> None:
        self._began, self._cpu = time.perf_counter(), _cpu_s()

    def stopped(self, right: int) -> dict[str, float]:
        """The result that a way prints: how many were right, seconds, and CPU seconds."""
        return {"right": right, "seconds": time.perf_counter() - self._began, "cpu_s": _cpu_s() - self._cpu}


def _cpu_s() -> float:
    return _cgroup.used(Path(os.environ[GROUP])).total if GROUP in os.environ else 0.0
