"""One run in the sandbox, within the time that a completion has; a second one where the machine was too busy."""

from __future__ import annotations

from collections.abc import Callable

from evaluator.graders.bench import Bench
from evaluator.model import Limits
from evaluator.sandbox import Execution, Outcome, UndecidedError

_LEAST_S = 0.01


def attempt(payload: bytes, limits: Limits, bench: Bench, execution: Execution) -> Outcome:
    """Runs on one input; once more, alone, where it was given no CPU for most of the time.

    Raises `UndecidedError` where it was given none even then, or where the machine does not say whether it was.
    """
    return attempt_by(lambda wall_s: execution.run(payload, wall_s=wall_s), limits, bench, execution)


def attempt_by(run: Callable[[float], Outcome], limits: Limits, bench: Bench, execution: Execution) -> Outcome:
    """`attempt` of whatever `run` runs by `execution` within so many seconds."""
    outcome = run(min(limits.wall_s, max(execution.left_s, _LEAST_S)))
    if outcome.doubt == "starved" and execution.left_s > 0:
        with bench.alone():
            outcome = run(min(limits.wall_s, execution.left_s))
    if outcome.doubt:
        raise UndecidedError(outcome.message)
    return outcome
