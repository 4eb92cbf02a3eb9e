"""How long a process could have run but got no CPU, from the kernel's counters for each of its threads.

A program that waits for a CPU is not slow, so this time does not count as its own. Source:
`/proc/PID/task/TID/schedstat`, whose second number is the time in nanoseconds that the thread was runnable without
running. The kernel adds a wait when it ends.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import NamedTuple

PROC = "/proc"
_OURS = f"{PROC}/thread-self"
_NANO = 1e-9
_CAP = 1024
_STATE, _NICENESS, _POLICY = 0, 16, 38
"""Places in a thread's `stat`, from the state on."""


class Priority(NamedTuple):
    """How a thread is scheduled: its niceness, and the number of its policy (0 is the ordinary one)."""

    niceness: int
    policy: int


class _Thread(NamedTuple):
    runnable: bool
    priority: Priority
    waited_s: float


class Starvation:
    """For one run: the seconds in which the process could have run and none of its threads did, up to the last look.

    Between two looks this is the sum of the threads' waits, but at most the time in which none of them ran. Our own
    thread, which the process may be waiting for, is included; threads that started and ended in between are not.

    Threads that run at the same instant also wait for each other. Where the waits together are more than all the time,
    at most half of the time is left out, so that such a program has at most twice its time.
    """

    def __init__(self, folders: Iterable[str], priority: Priority) -> None:
        """`folders`: its processes' folders under /proc at the start. `priority`: the one that it was started with."""
        self.seconds = 0.0
        self.unfinished_s = 0.0
        """At most so long a wait that had not ended at the last look had lasted: the kernel has not counted it yet."""
        self._priority = priority
        self._lowered = False
        self._waited_s = {folder: _waited_s(folder) for folder in (*folders, _OURS)}
        self._elapsed_s = self._cpu_s = self._unused_s = self._all_waits_s = 0.0

    def look(self, folders: Sequence[str], elapsed_s: float, cpu_s: float) -> None:
        """`elapsed_s`: time since the start of the run; `cpu_s`: CPU time of all its threads."""
        threads = {path: thread for path in _tasks(folders) if (thread := _thread(path)) is not None}
        before, self._waited_s = self._waited_s, {path: thread.waited_s for path, thread in threads.items()}
        self._waited_s[_OURS] = _waited_s(_OURS)
        waited_s = sum(max(now - before.get(path, 0.0), 0.0) for path, now in self._waited_s.items())
        self._all_waits_s += waited_s
        ran_s, passed_s = cpu_s - self._cpu_s, elapsed_s - self._elapsed_s
        self._elapsed_s, self._cpu_s = elapsed_s, cpu_s
        unused_s = max(passed_s - ran_s, 0.0)
        self._unused_s += unused_s
        unfinished_s = self.unfinished_s + unused_s
        # A process that lowers its priority waits by its own choice.
        self._lowered = self._lowered or any(thread.priority > self._priority for thread in threads.values())
        if not self._lowered:
            starved_s = min(waited_s, self._unused_s)
            self.seconds += starved_s
            self._unused_s -= starved_s
            unfinished_s = max(unfinished_s - starved_s, 0.0)
        if self._all_waits_s > elapsed_s:
            self.seconds = min(self.seconds, elapsed_s / 2)
        if self._lowered:
            unfinished_s = 0.0
        elif not any(thread.runnable for thread in threads.values()):
            self._unused_s = unfinished_s = 0.0  # it slept
        elif ran_s > 0:  # then that wait has begun since the last look
            unfinished_s = min(unfinished_s, unused_s)
        self.unfinished_s = unfinished_s


def priority_of(process: int) -> Priority | None:
    """The priority of a process that has run for a while; None if the kernel does not count waits for a CPU.

    A process that never had to wait proves nothing, so others are checked as well.
    """
    folder = f"{PROC}/{process}"
    counts = any(_waited_s(f"{PROC}/{each}") for each in (process, os.getpid(), os.getppid(), 1))
    try:
        return _priority(_fields(folder)) if counts else None
    except (OSError, IndexError, ValueError):
        return None


def _tasks(folders: Iterable[str]) -> Iterable[str]:
    """The folders of all threads; for a process's first thread the process's own, with the same numbers."""
    for folder in folders:
        try:
            numbers = os.listdir(f"{folder}/task")  # noqa: PTH208 - ten times a second
        except OSError:  # it has just ended
            continue
        first = folder.rpartition("/")[2]
        yield from (folder if number == first else f"{folder}/task/{number}" for number in numbers)


def _thread(folder: str) -> _Thread | None:
    try:
        fields = _fields(folder)
    except OSError:
        return None
    return _Thread(fields[_STATE] == "R", _priority(fields), _waited_s(folder))


def _priority(fields: Sequence[str]) -> Priority:
    return Priority(int(fields[_NICENESS]), int(fields[_POLICY]))


def _fields(folder: str) -> list[str]:
    return _read(f"{folder}/stat").decode("ascii", "replace").rpartition(")")[2].split()


def _waited_s(folder: str) -> float:
    """From the nanoseconds run, the nanoseconds waited and the times run; 0 if the kernel does not count them."""
    try:
        numbers = _read(f"{folder}/schedstat").split()
    except OSError:
        return 0.0
    return int(numbers[1]) * _NANO if len(numbers) == 3 else 0.0


def _read(path: str) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(descriptor, _CAP)
    finally:
        os.close(descriptor)
