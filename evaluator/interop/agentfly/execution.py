"""Runs one script in the sandbox, like `python script.py` with empty stdin, and reports how it ended."""

from __future__ import annotations

import msgspec

from evaluator.interop.program_run import run_program
from evaluator.model import Limits
from evaluator.sandbox import FaultError, Outcome, Program, Status

LIMITS = Limits(wall_s=10, cpu_s=8, total_s=18, memory_mb=1024)
"""AgentFly's. On a busy machine a script may run twice: both runs end before AgentFly's client gives up (20 s)."""

OUTPUT_CHARACTERS = 16_384
ERROR_CHARACTERS = 8_192

TIMED_OUT = "Execution timed out"
_TEXTS = {
    Status.TIME: TIMED_OUT,
    Status.MEMORY: "Memory limit exceeded",
    Status.OUTPUT: "Output limit exceeded",
}


class SandboxFault(RuntimeError):  # noqa: N818 - a state of the machine, as `SandboxUnavailable` is
    """The sandbox itself failed twice: this says nothing about the code, so there is no reward."""


class Run(msgspec.Struct, frozen=True):
    """How a script ended; `error` is None if it succeeded."""

    status: Status
    output: str
    """Its stdout, at most 16,384 characters."""
    error: str | None = None
    """One line such as `NameError: name 'x' is not defined`, at most 8,192 characters."""
    raised: bool = False
    """Whether the error is an exception."""
    out_of_cpu: bool = False
    """Whether it exceeded the CPU time limit."""


async def run(code: str, limits: Limits = LIMITS) -> Run:
    """Runs a script; waits while all sandboxes are in use.

    Raises `SandboxUnavailable` if no sandbox starts, `SandboxFault` if it failed twice, `TypeError` if `code` is not
    `str`.
    """
    if not isinstance(code, str):
        raise TypeError(f"code must be text, not {type(code).__name__}: give a program's source")
    try:
        outcome = await run_program(Program(code), "", limits)
    except FaultError as fault:
        raise SandboxFault(f"the sandbox failed: {fault}; run `rollscope doctor`") from fault
    error = _error(outcome)
    return Run(
        status=outcome.status,
        output=outcome.stdout.text()[:OUTPUT_CHARACTERS],
        error=None if error is None else error[:ERROR_CHARACTERS],
        raised=outcome.status in (Status.RAISED, Status.NOT_LOADED),
        out_of_cpu=outcome.status is Status.TIME and outcome.cpu_s > limits.cpu_s,
    )


def _error(outcome: Outcome) -> str | None:
    if outcome.status in _TEXTS:
        return _TEXTS[outcome.status]
    if outcome.status is Status.REJECTED:
        return f"Rejected: {outcome.message}"
    if outcome.status is Status.DIED:
        return f"Killed: {outcome.message}"
    if outcome.failure is not None:
        message = outcome.message or outcome.failure.message
        return f"{outcome.failure.type}: {message}" if message else outcome.failure.type
    if outcome.status is not Status.ANSWERED:
        return outcome.message
    return f"SystemExit: {outcome.exit_status}" if outcome.exit_status else None
