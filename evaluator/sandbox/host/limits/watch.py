"""The clock of one run, and the limits that are checked from outside while the parent waits."""

from __future__ import annotations

import contextlib
import time

from evaluator.model import Limits, Traceback
from evaluator.sandbox.guest.folders import FILES_MB, SHARED_MEMORY_MB
from evaluator.sandbox.guest.sharing import OPEN_FILES
from evaluator.sandbox.host.child import Child
from evaluator.sandbox.host.limits.memory_use import MemoryUse, excess, memory_use, most_resident, resident_use
from evaluator.sandbox.host.limits.process_table import Namespace, TooManyMappingsError
from evaluator.sandbox.host.limits.starvation import Starvation
from evaluator.sandbox.host.outcomes import Doubt, Outcome, Status

_MIB = 2**20


def mark_exceeded(outcome: Outcome, limits: Limits) -> None:
    """Sets the status and message of the limit that was exceeded, if any."""
    if outcome.status in (Status.REJECTED, Status.TIME):
        return
    if max(outcome.stdout.size, outcome.stderr.size) >= int(limits.output_mb * _MIB):
        outcome.status = Status.OUTPUT
        outcome.message = f"it wrote {limits.output_mb:g} MiB or more (limits.output_mb)"
    elif outcome.status is Status.MEMORY:
        return
    elif outcome.memory_mb > limits.memory_mb:
        outcome.status = Status.MEMORY
        outcome.message = f"{outcome.memory_mb:.0f} MiB resident (limits.memory_mb is {limits.memory_mb:g})"
    elif outcome.failure is not None and outcome.failure.type == "MemoryError":
        outcome.status = Status.MEMORY
        outcome.message = f"MemoryError, with {limits.virtual_mb:g} MiB of address space (limits.virtual_mb)"
    elif outcome.cpu_s > limits.cpu_s:
        outcome.status = Status.TIME
        outcome.message = f"{outcome.cpu_s:.2f} s of CPU time (limits.cpu_s is {limits.cpu_s:g})"
    elif outcome.failure is not None and not outcome.message:
        outcome.message = _with_limit(outcome.failure, limits)


def mark_killed(outcome: Outcome, limits: Limits) -> None:
    """The kernel killed it, or a process that it started: out of memory."""
    most = limits.memory_mb
    outcome.status, outcome.memory_mb = Status.MEMORY, max(outcome.memory_mb, most)
    outcome.message = f"ended by the kernel: out of memory (limits.memory_mb is {most:g})"


def _with_limit(failure: Traceback, limits: Limits) -> str:
    """The exception's message with the limit that caused it; empty if no limit did."""
    for kind, start, limit in _LIMIT_ERRORS:
        if failure.type == kind and failure.message.startswith(start):
            return f"{failure.message} ({limit(limits)})"
    return ""


def _threads(limits: Limits) -> str:
    processes = f", limits.processes is {limits.processes}" if limits.processes else ""
    return f"limits.threads is {limits.threads}{processes}; their stacks count towards limits.virtual_mb"


_LIMIT_ERRORS = (
    ("RuntimeError", "can't start new thread", _threads),
    (
        "BlockingIOError",
        "[Errno 11]",
        lambda limits: f"if it tried to start a process: limits.processes is {limits.processes}",
    ),
    ("OSError", "[Errno 24]", lambda _: f"{OPEN_FILES} files may be open"),
    ("OSError", "[Errno 27]", lambda limits: f"limits.output_mb is {limits.output_mb:g}, also for each file"),
    ("OSError", "[Errno 28]", lambda _: f"{FILES_MB} MiB in /tmp, {SHARED_MEMORY_MB} in /dev/shm"),
)


_FIRST_LOOK_S = 0.05
_LOOK_S = 0.1
_FRESH_S = 0.01
"""A look that is no older is still valid."""
_HARD_CAP, _LEAST_CAP_S = 10, 1.0
"""Times the wall limit, and at least so many seconds: then a run ends however little CPU it got."""
_FREE_S = 0.1
_MOST_MIB_A_S = 65536
"""More than a process can fill in a second of CPU time: four times what was measured with huge pages.

A process that used too little CPU time can't be over its limit.
"""


class LimitExceeded(Exception):  # noqa: N818 - not an error
    """The run exceeded a limit: TIME, MEMORY, or DIED for too many processes or files."""

    def __init__(self, status: Status, message: str, doubt: Doubt = "") -> None:
        self.status = status
        self.message = message
        self.doubt: Doubt = doubt


def counted_s(compiled_s: float) -> float:
    """How many of the CPU seconds of compiling count as time of the first run: a tenth of one is free."""
    return max(compiled_s - _FREE_S, 0)


def _total(use: MemoryUse) -> float:
    return use.total


class LimitWatch:
    """Called while the parent waits for a process; raises `LimitExceeded` as soon as a limit is exceeded."""

    def __init__(
        self, child: Child, limits: Limits, wall_s: float, allowed_s: float | None = None, *, free_s: float = 0.0
    ) -> None:
        """`wall_s`: what is left of this run's time; `allowed_s`: its whole time, by default `wall_s`.

        `free_s`: what it may use besides, of wall time and of CPU time.
        """
        self._child = child
        self._limits = limits
        self._namespace = Namespace(child.number) if limits.processes else None
        self._starvation = Starvation(self._folders(), child.priority) if child.priority else None
        self._started = time.monotonic()
        self._allowed_s = wall_s if allowed_s is None else allowed_s
        self._wall_s = wall_s + free_s
        self._cpu_s = limits.cpu_s + free_s
        self._cpu_used = 0.0
        self.cpu_before = self._cpu()
        self._first_look = self._next_look = self._started + _FIRST_LOOK_S
        self.peak = MemoryUse()
        self._others_s = 0.0

    def cpu_s(self) -> float:
        """CPU seconds since the start, of all its threads and of the processes that it started."""
        self._cpu_used = max(self._cpu_used, self._cpu() - self.cpu_before)
        return self._cpu_used

    def _cpu(self) -> float:
        try:
            own = time.clock_gettime((~self._child.number << 3) | 2)  # the process's own CPU clock
        except OSError:
            return 0.0
        return own + self._namespace.others().cpu_s if self._namespace else own

    def patience_ms(self) -> float:
        """Milliseconds until the next look; looks if that is due."""
        left_s, look_s = self._wall_s - self.wall_s(), self._next_look - time.monotonic()
        if look_s <= 0 or (left_s <= 0 and look_s <= _LOOK_S - _FRESH_S):
            self.look()
            left_s, look_s = self._wall_s - self.wall_s(), self._next_look - time.monotonic()
        self._refuse_late(left_s)
        return max((min(left_s, look_s) if left_s > 0 else look_s) * 1000, 1)

    def wall_s(self) -> float:
        """Seconds since the start, without the seconds that others used and its waits for a CPU.

        Where it shares a core with one of them, it waits while that runs. So that this is not left out twice, they are
        at least those of its CPU time.
        """
        elapsed_s = time.monotonic() - self._started
        least_s = min(self._cpu_used, elapsed_s) if self._others_s else 0.0
        return max(elapsed_s - self._others_s - self._starved_s(), least_s)

    def busy_s(self) -> float:
        """Seconds in which it ran or waited for a CPU."""
        return self.cpu_s() + self._starved_s()

    def exclude(self, seconds: float) -> None:
        """Does not count so many seconds since the start, in all, which another process used."""
        self._others_s = seconds

    def _starved_s(self) -> float:
        return self._starvation.seconds if self._starvation else 0.0

    def _refuse_late(self, left_s: float) -> None:
        """Raises `LimitExceeded` if the time is up, even without what may be a wait for a CPU that has not ended."""
        if left_s <= 0 and self._starvation is None:
            reason = "this machine does not show if a program sleeps or waits for a CPU (see `rollscope doctor`)"
            raise LimitExceeded(Status.TIME, f"{self._wall_exceeded()}, but {reason}", "unknown")
        if left_s <= 0 and self._starvation and left_s + self._starvation.unfinished_s <= 0:
            raise LimitExceeded(Status.TIME, self._wall_exceeded())
        elapsed_s = time.monotonic() - self._started - self._others_s
        if elapsed_s > max(self._wall_s * _HARD_CAP, _LEAST_CAP_S):
            times = f"{elapsed_s:.3g} s, {self._starved_s():.3g} s of them waiting for a CPU"
            raise LimitExceeded(Status.TIME, f"{times}: the machine is too busy; use fewer workers", "starved")

    def _wall_exceeded(self) -> str:
        text = f"{self._allowed_s:.3g} s of wall time"
        if self._allowed_s == self._limits.wall_s:
            return f"{text} (limits.wall_s)"
        if self._allowed_s < self._limits.wall_s:
            return f"{text}, which was left of limits.total_s, {self._limits.total_s:g} s"
        return text

    def _folders(self) -> list[str]:
        """Its processes' folders under /proc."""
        return self._namespace.folders() if self._namespace else [f"/proc/{self._child.number}"]

    def look(self) -> None:
        """Checks CPU time, waits for a CPU, processes, files and memory."""
        self._next_look = time.monotonic() + _LOOK_S
        if self._child.refusals is not None:
            self._child.refusals.answer_waiting()  # `Connection` no longer does if the process closed its end
        try:
            self._check_files()
            self._check_usage()
        except TooManyMappingsError:
            raise LimitExceeded(Status.MEMORY, "more mappings than can be counted") from None

    def _check_usage(self) -> None:
        limits, folders = self._limits, self._folders()
        cpu = self.cpu_s()
        if self._starvation:
            self._starvation.look(folders, time.monotonic() - self._started, cpu)
        if cpu > self._cpu_s:
            raise LimitExceeded(Status.TIME, f"{cpu:.2f} s of CPU time (limits.cpu_s is {limits.cpu_s:g})")
        if self._namespace:
            running = self._namespace.others().running
            if running > limits.processes:
                raise LimitExceeded(
                    Status.DIED, f"{running} new processes at once (limits.processes is {limits.processes})"
                )
        use = self._memory_use(folders)
        if use.total <= limits.memory_mb:  # it may have been over the limit before
            use = max(use, most_resident(folders), key=_total)
        self.peak = max(self.peak, use, key=_total)
        if use.total > limits.memory_mb:
            raise LimitExceeded(Status.MEMORY, f"{use.text()} (limits.memory_mb is {limits.memory_mb:g})")

    def _memory_use(self, folders: list[str]) -> MemoryUse:
        if self._child.memory is not None:
            with contextlib.suppress(OSError, KeyError):  # it has been removed
                counted, resident = self._child.memory.use(), resident_use(folders)
                return MemoryUse(max(counted.private, resident.private), max(counted.in_files, resident.in_files))
        return memory_use(self._child.number, folders, self._child.descriptors, self._limits.output_mb)

    def _check_files(self) -> None:
        """Checks the files, which the kernel does not limit if there are no namespaces."""
        folder = self._child.folder
        if folder is None:
            return
        message = excess(folder, FILES_MB, self._child.number, self._limits.output_mb)
        if message:
            raise LimitExceeded(Status.DIED, message)

    def last_look(self) -> None:
        """Looks once more after the answer, unless it came so soon that no limit can be exceeded.

        An unlimited folder can be filled in no time.
        """
        late = time.monotonic() >= self._first_look
        if late or self._child.folder is not None or self.cpu_s() * _MOST_MIB_A_S > self._limits.memory_mb:
            self.look()
