"""Finds the limit that a run exceeded from its results, and the message about it."""

from __future__ import annotations

from evaluator.model import Limits, Traceback
from evaluator.sandbox.guest.places import FILES_MB, SHARED_MEMORY_MB
from evaluator.sandbox.guest.sharing import OPEN_FILES
from evaluator.sandbox.host.outcomes import Outcome, Status

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
