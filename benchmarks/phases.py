"""Where a completion's process spends its time, from its fork to its last answer: page faults, system calls and time.

The phases are told apart by the system calls that begin and end them, as `perf` records them, with each page fault. The
time is the median over the processes, by the clock, without the wait for the order; recording makes it longer. Needs
`perf`, the right to trace, and an x86_64.
"""

from __future__ import annotations

import argparse
import re
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import _report
from _one_worker import KINDS

_SCRIPT = str(Path(__file__).with_name("_one_worker.py"))
_READ, _WRITE, _OPEN, _CONTROL, _CLOCK, _RESTRICT = 0, 1, 257, 157, 228, 446
_PHASES = (
    ("begins: C library, Python", _RESTRICT),
    ("Landlock, descriptors, hello", _READ),
    ("reads its order", _CONTROL),
    ("limits, filter", _OPEN),
    ("writes the source, compiles, loads", _CLOCK),
    ("runs and answers", None),
)
"""Each with the system call that ends it; the last one ends with the last write."""

_LINE = re.compile(r"^\s*\S+\s+(\d+)\s+([\d.]+):\s+(raw_syscalls:sys_enter|page-faults):(?:\s+NR (\d+))?")


class _Event(NamedTuple):
    second: float
    call: int | None
    """The system call's number; None for a page fault."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--completions", type=int, default=200, help="of each kind")
    options = parser.parse_args()
    print(f"{_report.machine()}; {options.completions} completions of ten test cases\n")
    for kind in KINDS:
        rows = [
            [name, f"{faults:.0f}", f"{calls:.0f}", f"{micros:.0f}"]
            for name, faults, calls, micros in _phases(_processes(kind, options.completions))
        ]
        _report.table([kind, "page faults", "system calls", "µs, recorded"], rows)


def _processes(kind: str, number: int) -> list[list[_Event]]:
    """The events of each process that got an order and answered."""
    with tempfile.NamedTemporaryFile() as record:
        events = ["-e", "raw_syscalls:sys_enter", "-e", "page-faults", "-c", "1"]
        command = ["perf", "record", "-q", *events, "-o", record.name, sys.executable, _SCRIPT, kind, str(number)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        shown = ["perf", "script", "-i", record.name, "-F", "comm,pid,time,event,trace"]
        lines = subprocess.run(shown, check=True, capture_output=True, text=True).stdout.splitlines()
    found: dict[str, list[_Event]] = defaultdict(list)
    for line in lines:
        if match := _LINE.match(line):
            process, second, _, call = match.groups()
            found[process].append(_Event(float(second), None if call is None else int(call)))
    ends = [end for _, end in _PHASES if end is not None]
    return [events for events in found.values() if {*ends} <= {event.call for event in events}]


def _phases(processes: list[list[_Event]]) -> list[tuple[str, float, float, float]]:
    """Name, and the medians of page faults, system calls and microseconds."""
    rows = []
    parts = [_parts(events) for events in processes]
    for place, (name, _) in enumerate(_PHASES):
        each = [part[place] for part in parts]
        rows.append((name, *(statistics.median(values) for values in zip(*each, strict=True))))
    return [*rows, ("all", *(sum(row[column] for row in rows) for column in (1, 2, 3)))]


def _parts(events: list[_Event]) -> list[tuple[int, int, float]]:
    """Page faults, system calls and microseconds of each phase of one process."""
    last = max(place for place, event in enumerate(events) if event.call == _WRITE)
    parts, began = [], 0
    for _, end in _PHASES:
        until = last
        if end is not None:
            until = next(place for place in range(began, last) if events[place].call == end)
        part = events[began : until + 1]
        waited = 0.0
        if end == _CONTROL:  # from asking for its order to the next event
            waited = part[1].second - part[0].second if len(part) > 1 else 0.0
        faults = sum(event.call is None for event in part)
        parts.append((faults, len(part) - faults, (part[-1].second - part[0].second - waited) * 1e6))
        began = until
    return parts


if __name__ == "__main__":
    main()
