"""Runs one program in the strict sandbox, without tests."""

from __future__ import annotations

from evaluator.graders.bench import Bench
from evaluator.graders.cases.attempts import attempt
from evaluator.model import Limits
from evaluator.options import Options
from evaluator.sandbox import FaultError, Outcome, Program, Status
from evaluator.workers.single import in_worker


def run_program(program: Program, stdin: str, limits: Limits) -> Outcome:
    """How it ended; blocks, also while all workers are busy. Raises `FaultError`, `SandboxUnavailable`."""
    return in_worker(_run, program, stdin, options=Options(limits=limits))


def _run(bench: Bench, program: Program, stdin: str) -> Outcome:
    limits = bench.options.limits
    with bench.sandbox.execute(program, limits, reuse=False, several=False) as execution:
        outcome = attempt(stdin.encode("utf-8", "surrogatepass"), limits, bench, execution)
    if outcome.status is Status.FAULT:
        raise FaultError(outcome.message)
    return outcome
