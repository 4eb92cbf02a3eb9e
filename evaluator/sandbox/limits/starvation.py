"""How long a process could have run while it was given no CPU, from what the kernel counts for each of its threads.

A program that waits for a CPU is not slow, so this time is not its own. Source: `/proc/PID/task/TID/schedstat`, whose
second number is the time, in nanoseconds, that the thread has stood runnable without running. The kernel adds a wait
to it when the wait ends.
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
    """One run's: the seconds in which the process could have run and nothing of it did, up to the last look.

    Of the time between two looks it is as much as the threads have waited, summed, and at most the part in which none
    of them ran. Our own thread, for which the process may be waiting, is one of them; one that has come and gone in
    between is not.
    """

    def __init__(self, folders: Iterable[str], usual: Priority) -> None:
        """`folders`: of its processes under /proc, at the start. `usual`: the priority that it was started with."""
        self.seconds = 0.0
        self.waits = False
        """Whether, at the last look, it was runnable and had not run since the look before."""
        self._usual = usual
        self._lowered = False
        self._waited_s = {folder: _waited_s(folder) for folder in (*folders, _OURS)}
        self._elapsed_s = self._cpu_s = self._unused_s = 0.0

    def look(self, folders: Sequence[str], elapsed_s: float, cpu_s: float) -> None:
        """`elapsed_s`, `cpu_s`: of the run, of all its threads, until now."""
        threads = {path: thread for path in _tasks(folders) if (thread := _thread(path)) is not None}
        before, self._waited_s = self._waited_s, {path: thread.waited_s for path, thread in threads.items()}
        self._waited_s[_OURS] = _waited_s(_OURS)
        waited_s = sum(max(now - before.get(path, 0.0), 0.0) for path, now in self._waited_s.items())
        ran_s, passed_s = cpu_s - self._cpu_s, elapsed_s - self._elapsed_s
        self._elapsed_s, self._cpu_s = elapsed_s, cpu_s
        self._unused_s += max(passed_s - ran_s, 0.0)
        # Who asks for a lower priority waits of its own will.
        self._lowered = self._lowered or any(thread.priority > self._usual for thread in threads.values())
        if not self._lowered:
            starved_s = min(waited_s, self._unused_s)
            self.seconds += starved_s
            self._unused_s -= starved_s
        runnable = any(thread.runnable for thread in threads.values())
        self.waits = runnable and not self._lowered and waited_s == 0.0 and ran_s <= 0.0
        if not runnable:
            self._unused_s = 0.0  # it slept; but a wait that goes on is only counted when it ends


def usual_priority(process: int) -> Priority | None:
    """That of a process which has run for a while; None where the kernel does not count how long such as it wait.

    One that has never had to wait proves nothing, so others are looked at beside it.
    """
    folder = f"{PROC}/{process}"
    counts = bool(_numbers(folder)) and any(
        _waited_s(each) for each in (folder, *(f"{PROC}/{other}" for other in (os.getpid(), os.getppid(), 1)))
    )
    try:
        return _priority(_fields(folder)) if counts else None
    except (OSError, IndexError, ValueError):
        return None


def _tasks(folders: Iterable[str]) -> Iterable[str]:
    """The folders of all threads; of a process's first thread its own, whose numbers are that thread's alone."""
    for folder in folders:
        try:
            numbers = os.listdir(f"{folder}/task")  # noqa: PTH208 - ten times a second
        except OSError:  # it has just gone
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
    return _read(f"{folder}/stat").rpartition(")")[2].split()


def _waited_s(folder: str) -> float:
    numbers = _numbers(folder)
    return numbers[1] * _NANO if numbers else 0.0


def _numbers(folder: str) -> list[int]:
    """Nanoseconds run, nanoseconds waited, times run; none where the kernel does not say."""
    try:
        numbers = [int(each) for each in _read(f"{folder}/schedstat").split()]
    except (OSError, ValueError):
        return []
    return numbers if len(numbers) == 3 and any(numbers) else []


def _read(path: str) -> str:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(descriptor, _CAP).decode("ascii", "replace")
    finally:
        os.close(descriptor)
