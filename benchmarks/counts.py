"""What a completion takes, and each of its test cases, in counts that hardly depend on the machine.

First those that need nothing but the kernel, from completions with 2 and with 12 test cases;
`tests/workers/test_counts.py` sets a limit to each. Then, where they are installed and allowed, what `perf` counts in
all processes and `strace` in the grading thread for a completion of ten test cases: the difference between two runs of
one worker with fewer and more completions.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import _report
import _workloads
from _one_worker import KINDS, tasks_of

from tests.workers.counting import Counts, counted, slope

_FEW = 50
_EVENTS = {
    "raw_syscalls:sys_enter": "system calls",
    "sched:sched_process_fork": "forks, with threads",
    "context-switches": "switches",
    "page-faults": "page faults",
}
_SCRIPT = str(Path(__file__).with_name("_one_worker.py"))
_OURS = {
    "processes": "sandbox's processes, threads",
    "pages": "page faults in there",
    "bytes": "bytes read and written",
    "calls": "system calls of this thread",
    "waits": "of them polls",
    "switches": "its switches",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--completions", type=int, default=100, help="counted per kind")
    options = parser.parse_args()
    print(f"{_report.machine()}; {options.completions} completions\n")
    found: dict[str, dict[str, float]] = {}
    for kind in KINDS:
        print(kind, file=sys.stderr, flush=True)
        for part, counts in slope(partial(_counted, kind, options.completions))._asdict().items():
            found[f"{kind}: a {part}"] = {what: getattr(counts, name) for name, what in _OURS.items()}
    _print("in the sandbox, and in the thread that grades", found)
    for name, count in (
        ("perf, ten tests: all processes", _by_perf),
        ("strace, ten tests: the grading thread", _by_strace),
    ):
        try:
            _print(name, {kind: _slope(count, kind, options.completions) for kind in KINDS})
        except (OSError, LookupError, subprocess.SubprocessError) as error:
            print(f"{name}: skipped ({error})\n")


def _counted(kind: str, number: int, tests: int) -> Counts:
    tasks = tasks_of(kind, tests)
    return counted(tasks, list(_workloads.completions(tasks, number)))


def _print(title: str, found: dict[str, dict[str, float]]) -> None:
    rows = [[kind, *(f"{count:.1f}" for count in counts.values())] for kind, counts in found.items()]
    _report.table([title, *next(iter(found.values()))], rows)


def _slope(count: Callable[[list[str]], dict[str, int]], kind: str, number: int) -> dict[str, float]:
    """Per completion: what `number` more of them take."""
    few, many = (count([sys.executable, _SCRIPT, kind, str(each)]) for each in (_FEW, _FEW + number))
    return {what: (many[what] - few[what]) / number for what in few}


def _by_perf(command: list[str]) -> dict[str, int]:
    perf = ["perf", "stat", "-x", ",", "-e", ",".join(_EVENTS), *command]
    done = subprocess.run(perf, capture_output=True, text=True, check=True)
    counts = {event: value for line in done.stderr.splitlines() for value, _, event, *_ in [[*line.split(","), "", ""]]}
    if not all(counts.get(event, "").isdigit() for event in _EVENTS):
        raise LookupError(f"perf counts {counts}")
    return {what: int(counts[event]) for event, what in _EVENTS.items()}


def _by_strace(command: list[str]) -> dict[str, int]:
    with tempfile.NamedTemporaryFile("r") as table:
        subprocess.run(["strace", "-c", "-o", table.name, *command], capture_output=True, check=True)
        rows = re.findall(r"^ *[\d.]+ +[\d.]+ +\d+ +(\d+) +(?:\d+ +)?(\w+)$", table.read(), re.MULTILINE)
    return {"system calls": sum(int(number) for number, name in rows if name != "total")}


if __name__ == "__main__":
    main()
