"""One run in the sandbox, within the time that a completion has; a second one where the machine was too busy."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from evaluator.graders.bench import Bench
from evaluator.model import Limits
from evaluator.sandbox import Execution, Outcome, Status

_LEAST_S = 0.01


class Budget:
    """The seconds that a completion has left for all its test cases. Waiting to be alone costs none of them."""

    def __init__(self, total_s: float) -> None:
        self._end = time.monotonic() + total_s

    def left(self) -> float:
        return self._end - time.monotonic()

    @contextmanager
    def alone(self, bench: Bench) -> Iterator[None]:
        left = self.left()
        with bench.alone():
            self._end = time.monotonic() + left
            yield


def attempt(payload: bytes, limits: Limits, budget: Budget, bench: Bench, execution: Execution) -> Outcome:
    """Runs on one input; once more, alone, when it ran out of wall time with little CPU time used."""
    return attempt_by(lambda wall_s: execution.run(payload, wall_s=wall_s), limits, budget, bench)


def attempt_by(run: Callable[[float], Outcome], limits: Limits, budget: Budget, bench: Bench) -> Outcome:
    """`attempt` of whatever `run` runs within so many seconds."""
    outcome = run(min(limits.wall_s, max(budget.left(), _LEAST_S)))
    starved = outcome.status is Status.TIME and outcome.cpu_s < min(limits.wall_s, limits.cpu_s) / 2
    if starved and budget.left() > 0:
        with budget.alone(bench):
            outcome = run(min(limits.wall_s, budget.left()))
    return outcome
