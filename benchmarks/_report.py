"""Output that all benchmarks share: facts about the machine, and tables on stdout."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence


def machine() -> str:
    """Cores, kernel, Python and the current load, in one line."""
    cores = len(os.sched_getaffinity(0))
    kernel = ".".join(platform.release().split(".")[:2])
    load = os.getloadavg()[0]
    return f"{cores} cores, Linux {kernel}, Python {platform.python_version()}, load {load:.1f} before the start"


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Prints a Markdown table: the first column left-aligned, the others right-aligned."""
    widths = [max(len(row[place]) for row in (columns, *rows)) for place in range(len(columns))]

    def line(cells: Sequence[str]) -> str:
        padded = [cells[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(cells[1:], widths[1:], strict=True))]
        return "| " + " | ".join(padded) + " |"

    print(line(columns))
    print("|" + "|".join(("-" * (w + 1) + (":" if place else "-")) for place, w in enumerate(widths)) + "|")
    for row in rows:
        print(line(row))
    print(flush=True)


def against(value: float, target: float, *, at_most: bool) -> str:
    """Whether a figure reaches its target: yes or no."""
    return "yes" if (value <= target if at_most else value >= target) else "no"
