"""One run in the sandbox, within the completion's time; a second one if the machine was too busy."""

from __future__ import annotations

from collections.abc import Callable

from evaluator.graders.bench import Bench
from evaluator.model import Limits
from evaluator.sandbox import Execution, Outcome, UndecidedError

_LEAST_S = 0.01


def attempt(payload: bytes, limits: Limits, bench: Bench, execution: Execution) -> Outcome:
    """Runs on one input; once more, alone, if it had no CPU for most of the time.

    Raises `UndecidedError` if it had none even then, or if the machine does not report it.
    """
    return attempt_by(lambda wall_s: execution.run(payload, wall_s=wall_s), limits, bench, execution)


def attempt_by(run: Callable[[float], Outcome], limits: Limits, bench: Bench, execution: Execution) -> Outcome:
    """Like `attempt`, of what `run` does with `execution` within so many seconds."""
    outcome = run(min(limits.wall_s, max(execution.left_s, _LEAST_S)))
    if outcome.doubt == "starved" and execution.left_s > 0:
        with bench.alone():
            outcome = run(min(limits.wall_s, execution.left_s))
    if outcome.doubt:
        raise UndecidedError(outcome.message)
    return outcome
