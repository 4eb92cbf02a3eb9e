"""Runs one program in the strict sandbox, without tests."""

from __future__ import annotations

from typing import Final

from evaluator.cases import Bench, attempt
from evaluator.model import Limits
from evaluator.options import Options
from evaluator.sandbox import FaultError, Outcome, Program, Status
from evaluator.workers.pool import local_pool

LIMITS: Final = {Status.TIME: "time", Status.MEMORY: "memory", Status.OUTPUT: "output"}
"""The limits that end a program, in a word."""
_KILLED: Final = -9


async def run_program(program: Program, stdin: str, limits: Limits) -> Outcome:
    """How it ended. When it is cancelled, its sandbox is killed. Raises `FaultError`, `SandboxUnavailable`."""
    options = Options(limits=limits)
    return await local_pool(options).call(_run, (program, stdin), options).awaited()


def return_code(outcome: Outcome) -> int:
    """As of a process of its own: negative for a signal, -9 if a limit ended it."""
    if outcome.status is Status.ANSWERED:
        return outcome.exit_status or 0
    if outcome.status in (Status.RAISED, Status.NOT_LOADED):
        return 1
    return outcome.exit_status or _KILLED


def killed_by(outcome: Outcome) -> str:
    """The line to add to its stderr if the sandbox ended it; else empty."""
    if outcome.status in LIMITS:
        return f"Killed: the {LIMITS[outcome.status]} limit was exceeded.\n"
    return f"Killed: {outcome.message}\n" if outcome.status in (Status.DIED, Status.REJECTED) else ""


def _run(bench: Bench, program: Program, stdin: str) -> Outcome:
    limits = bench.options.limits
    with bench.sandbox.execute(program, limits, reuse=False, several=False) as execution:
        outcome = attempt(stdin.encode("utf-8", "surrogatepass"), limits, bench, execution)
    if outcome.status is Status.FAULT:
        raise FaultError(outcome.message)
    return outcome
