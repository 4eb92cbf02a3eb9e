"""Runs one program in the strict sandbox, without tests."""

from __future__ import annotations

from evaluator.engines import pool
from evaluator.graders.bench import Bench
from evaluator.graders.cases.attempts import attempt
from evaluator.model import Limits
from evaluator.options import Options
from evaluator.sandbox import FaultError, Outcome, Program, Sandbox, Settings, Status


def run_program(program: Program, stdin: str, limits: Limits) -> Outcome:
    """How it ended; blocks, also while all sandboxes are in use. Raises `FaultError`, `SandboxUnavailable`."""

    def run(sandbox: Sandbox) -> Outcome:
        bench = Bench(sandbox, Options(limits=limits), pool.gate().alone)
        with sandbox.execute(program, limits, reuse=False, several=False) as execution:
            outcome = attempt(stdin.encode("utf-8", "surrogatepass"), limits, bench, execution)
        if outcome.status is Status.FAULT:
            raise FaultError(outcome.message)
        return outcome

    return pool.in_sandbox(Settings(), run)
