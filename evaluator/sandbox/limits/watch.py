"""The clock of one run, and the limits that are watched from outside while the parent waits."""

from __future__ import annotations

import contextlib
import time

from evaluator.model import Limits
from evaluator.sandbox.child import Child
from evaluator.sandbox.limits.folder_use import passed
from evaluator.sandbox.limits.judgement import FILES_MB
from evaluator.sandbox.limits.memory_use import MemoryUse, memory_use, most_resident, resident_use
from evaluator.sandbox.limits.process_table import Namespace, TooManyMappingsError
from evaluator.sandbox.limits.starvation import Starvation
from evaluator.sandbox.outcomes import Doubt, Status

_FIRST_LOOK_S = 0.05
_LOOK_S = 0.1
_FRESH_S = 0.01
"""A look that is no older holds for now."""
_HARD_CAP, _LEAST_CAP_S = 10, 1.0
"""Times the wall limit: the end, however little of the CPU the process was given. Not so soon where that is short."""
_MOST_MIB_A_S = 65536
"""More than a process can fill in a second of CPU time, four times what was measured with huge pages.

What used less can't be over the limit.
"""


class LimitPassed(Exception):  # noqa: N818 - not an error
    """The run is over a limit: TIME, MEMORY, or DIED for too many processes."""

    def __init__(self, status: Status, message: str, doubt: Doubt = "") -> None:
        self.status = status
        self.message = message
        self.doubt: Doubt = doubt


def _total(use: MemoryUse) -> float:
    return use.total


class LimitWatch:
    """Asked while the parent waits for a process; raises `LimitPassed` as soon as a limit is passed."""

    def __init__(self, child: Child, limits: Limits, wall_s: float, given_s: float | None = None) -> None:
        """`wall_s`: what is left of this run's time; `given_s`: what it was given, `wall_s` where nothing was used."""
        self._child = child
        self._limits = limits
        self._namespace = Namespace(child.number) if limits.processes else None
        self._starvation = Starvation(self._folders(), child.usual) if child.usual else None
        self._started = time.monotonic()
        self._given_s = wall_s if given_s is None else given_s
        self._wall_s = wall_s
        self._cpu_used = 0.0
        self.cpu_before = self._cpu()
        self._first_look = self._next_look = self._started + _FIRST_LOOK_S
        self.peak = MemoryUse()
        self._others_s = 0.0

    def cpu_s(self) -> float:
        """CPU seconds since the start, of all threads and of the processes that it started."""
        self._cpu_used = max(self._cpu_used, self._cpu() - self.cpu_before)
        return self._cpu_used

    def _cpu(self) -> float:
        try:
            own = time.clock_gettime((~self._child.number << 3) | 2)  # the process's own CPU clock
        except OSError:
            return 0.0
        return own + self._namespace.others().cpu_s if self._namespace else own

    def patience_ms(self) -> float:
        """How long to wait before the next look, in milliseconds; looks when that is due."""
        left_s, look_s = self._wall_s - self.wall_s(), self._next_look - time.monotonic()
        if look_s <= 0 or (left_s <= 0 and look_s <= _LOOK_S - _FRESH_S):
            self.look()
            left_s, look_s = self._wall_s - self.wall_s(), self._next_look - time.monotonic()
        self._refuse_late(left_s)
        return max((min(left_s, look_s) if left_s > 0 else look_s) * 1000, 1)

    def wall_s(self) -> float:
        """Seconds since the start, without what others have used of them, and without its waits for a CPU."""
        return time.monotonic() - self._started - self._others_s - self._starved_s()

    def busy_s(self) -> float:
        """Of these seconds and of its waits for a CPU, those in which it was not idle."""
        return self.cpu_s() + self._starved_s()

    def give(self, seconds: float) -> None:
        """Moves the end by what has been somebody else's time: so many seconds in all, since the start."""
        self._others_s = seconds

    def _starved_s(self) -> float:
        return self._starvation.seconds if self._starvation else 0.0

    def _refuse_late(self, left_s: float) -> None:
        """Raises `LimitPassed` when the time is over. A wait for a CPU that goes on is not counted yet."""
        if left_s <= 0 and self._starvation is None:
            told = "this machine does not say whether a program sleeps or waits for a CPU (see `rollscope doctor`)"
            raise LimitPassed(Status.TIME, f"{self._wall_passed()}, but {told}", "untold")
        if left_s <= 0 and not (self._starvation and self._starvation.waits):
            raise LimitPassed(Status.TIME, self._wall_passed())
        elapsed_s = time.monotonic() - self._started - self._others_s
        if elapsed_s > max(self._wall_s * _HARD_CAP, _LEAST_CAP_S):
            told = f"{elapsed_s:.3g} s, {self._starved_s():.3g} s of them waiting for a CPU"
            raise LimitPassed(Status.TIME, f"{told}: the machine is too busy; use fewer workers", "starved")

    def _wall_passed(self) -> str:
        told = f"{self._given_s:.3g} s of wall time"
        if self._given_s == self._limits.wall_s:
            return f"{told} (limits.wall_s)"
        if self._given_s < self._limits.wall_s:
            return f"{told}, which was left of limits.total_s, {self._limits.total_s:g} s"
        return told

    def _folders(self) -> list[str]:
        """Of its processes, under /proc."""
        return self._namespace.folders() if self._namespace else [f"/proc/{self._child.number}"]

    def look(self) -> None:
        """Looks at CPU time, waits for a CPU, processes, files and memory."""
        self._next_look = time.monotonic() + _LOOK_S
        if self._child.refusals is not None:
            self._child.refusals.answer_waiting()  # the process may have closed its connection, where we listen
        try:
            self._look_at_uncounted()
            self._look_at_counted()
        except TooManyMappingsError:
            raise LimitPassed(Status.MEMORY, "more mappings than can be counted") from None

    def _look_at_counted(self) -> None:
        limits, folders = self._limits, self._folders()
        cpu = self.cpu_s()
        if self._starvation:
            self._starvation.look(folders, time.monotonic() - self._started, cpu)
        if cpu > limits.cpu_s:
            raise LimitPassed(Status.TIME, f"{cpu:.2f} s of CPU time (limits.cpu_s is {limits.cpu_s:g})")
        if self._namespace:
            running = self._namespace.others().running
            if running > limits.processes:
                raise LimitPassed(
                    Status.DIED, f"{running} new processes at once (limits.processes is {limits.processes})"
                )
        use = self._memory_use(folders)
        if use.total <= limits.memory_mb:  # now; there may have been more
            use = max(use, most_resident(folders), key=_total)
        self.peak = max(self.peak, use, key=_total)
        if use.total > limits.memory_mb:
            raise LimitPassed(Status.MEMORY, f"{use.told()} (limits.memory_mb is {limits.memory_mb:g})")

    def _memory_use(self, folders: list[str]) -> MemoryUse:
        if self._child.memory is not None:
            with contextlib.suppress(OSError, KeyError):  # it has been removed
                counted, resident = self._child.memory.use(), resident_use(folders)
                return MemoryUse(max(counted.private, resident.private), max(counted.in_files, resident.in_files))
        return memory_use(self._child.number, folders, self._child.given, self._limits.output_mb)

    def _look_at_uncounted(self) -> None:
        """What the kernel does not keep within bounds where there are no namespaces: files."""
        folder = self._child.folder
        if folder is None:
            return
        too_much = passed(folder, FILES_MB, self._child.number, self._limits.output_mb)
        if too_much:
            raise LimitPassed(Status.DIED, too_much)

    def last_look(self) -> None:
        """Looks once more, when the answer has come, unless it came so soon that there can be nothing to see.

        A folder that nothing keeps within bounds is filled in no time.
        """
        late = time.monotonic() >= self._first_look
        if late or self._child.folder is not None or self.cpu_s() * _MOST_MIB_A_S > self._limits.memory_mb:
            self.look()
