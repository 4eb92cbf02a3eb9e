"""Whether a task's preamble can be run. If it can't, the task is to blame, not the completion.

The completion's process can't prove that: a completion could blame the task to avoid a 0. So the preamble runs again,
without the completion, in a separate process.
"""

from __future__ import annotations

from evaluator.graders.bench import Bench
from evaluator.graders.cases.attempts import attempt
from evaluator.graders.lru_cache import LruCache
from evaluator.model import Limits
from evaluator.sandbox import Outcome, Program, Status
from evaluator.sandbox.preambles import header_of

_END = "the preamble has come to its end"
_PROBE = f"raise RuntimeError({_END!r})"
"""Replaces the completion: it fails as a program and as a module."""

_failures: LruCache[tuple[str, str | None, bytes, Limits], str | None] = LruCache(256)


def why_it_fails(preamble: str, entry_point: str | None, payload: bytes, limits: Limits, bench: Bench) -> str | None:
    """How the preamble alone fails on one input, as `Execution.run` takes it; None if it comes to its end.

    `entry_point`: None for a program that reads stdin. Raises `FaultError`.
    """
    may_read = entry_point is None and header_of(preamble) is None
    key = (preamble, entry_point, payload if may_read else b"", limits)
    return _failures.get(key, lambda: _why(Program(_PROBE, entry_point, preamble), payload, limits, bench))


def _why(program: Program, payload: bytes, limits: Limits, bench: Bench) -> str | None:
    with bench.sandbox.execute(program, limits, several=False) as execution:
        outcome = attempt(payload, limits, bench, execution)
    failure = outcome.failure
    if failure is not None and failure.message == _END and outcome.status in (Status.RAISED, Status.NOT_LOADED):
        return None
    return f"the task's preamble can't be run: {_reason(outcome)}"


def _reason(outcome: Outcome) -> str:
    failure = outcome.failure
    if outcome.message:
        return outcome.message
    if failure is not None:
        return f"{failure.type}: {failure.message}" if failure.message else failure.type
    return f"it ends the program with exit status {outcome.exit_status}"
