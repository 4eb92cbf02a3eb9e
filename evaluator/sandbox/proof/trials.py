"""Tries each limit: a program inside exceeds it, and the outcome must name it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from evaluator.model import Limits
from evaluator.sandbox.host.outcomes import Outcome, Status
from evaluator.sandbox.proof.layers import Layer

_MIB = 2**20
_TIGHT = Limits(wall_s=1, cpu_s=1, memory_mb=128, virtual_mb=1024, output_mb=1, threads=16)
_PATIENT = Limits(wall_s=5, cpu_s=5, memory_mb=128, virtual_mb=1024, output_mb=16)
_HURRIED = Limits(wall_s=5, cpu_s=0.5, memory_mb=128, virtual_mb=1024)
_TRIES = 3
"""On a busy machine the time may be over before the limit that is tried is reached."""

Call = Callable[[str, list[object], Limits], Outcome]
"""Runs one function of the probe: its name, arguments, limits."""


class _Trial(NamedTuple):
    layer: str
    how: str
    function: str
    arguments: tuple[object, ...]
    status: Status
    limits: Limits = _TIGHT
    error: str = ""
    """With RAISED: the exception's name. Without namespaces the program may be ended instead: DIED."""


_TRIALS = (
    _Trial("address space", "RLIMIT_AS", "allocate", (2048 * _MIB,), Status.MEMORY),
    _Trial("memory", "watched ten times a second", "touch", (300 * _MIB,), Status.MEMORY, _PATIENT),
    _Trial("hidden memory", "unnamed files are counted", "hide", (300 * _MIB,), Status.MEMORY, _PATIENT),
    _Trial("CPU time", "the process's own clock, RLIMIT_CPU", "spin", (), Status.TIME, _HURRIED),
    _Trial("wall time", "the parent's clock", "sleep", (), Status.TIME),
    _Trial("output", "RLIMIT_FSIZE on files in memory", "shout", (8 * _MIB,), Status.OUTPUT),
    _Trial("open files", "RLIMIT_NOFILE", "hoard", (), Status.RAISED, error="OSError"),
    _Trial("threads", "RLIMIT_NPROC, or counted", "crowd", (), Status.RAISED, error="RuntimeError"),
    _Trial("files written", "a file system in memory, or counted", "fill", (200 * _MIB,), Status.RAISED,
           Limits(wall_s=5, output_mb=2), error="OSError"),
)  # fmt: skip


def limits(call: Call) -> list[Layer]:
    """One layer for each limit."""
    return [_tried(trial, call) for trial in _TRIALS]


def waits(counted: bool) -> Layer:
    """Whether a program that waits for a CPU can be distinguished from one that sleeps. Grading works without it."""
    proof = "counted for each thread" if counted else "not counted, or not visible"
    mend = (
        "until then a wall-clock time-out is a `sandbox_error`: use a kernel with CONFIG_SCHED_INFO, and a /proc "
        "that shows the processes of other users"
    )
    return Layer("waits for a CPU", counted, "/proc/PID/schedstat", proof, "" if counted else mend, needed=False)


def _tried(trial: _Trial, call: Call) -> Layer:
    for _ in range(_TRIES):
        outcome = call(trial.function, list(trial.arguments), trial.limits)
        if trial.status is Status.TIME or outcome.status is not Status.TIME:
            break
    raised = not trial.error or (outcome.failure is not None and outcome.failure.type == trial.error)
    held = (outcome.status is trial.status and raised) or (bool(trial.error) and _was_ended(outcome))
    return Layer(trial.layer, held, trial.how, ending(outcome), "" if held else "report this with the output of --json")


def _was_ended(outcome: Outcome) -> bool:
    """Whether we ended it over a limit, which the message names."""
    return outcome.status is Status.DIED and outcome.exit_status is None and bool(outcome.message)


def ending(outcome: Outcome) -> str:
    """How it ended, when, and the message."""
    message = outcome.message or (f"{outcome.failure.type}: {outcome.failure.message}" if outcome.failure else "")
    return f"{outcome.status.value} after {outcome.wall_s:.2f} s: {message}"
