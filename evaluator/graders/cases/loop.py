"""Runs a completion's test cases one after another, until a rule skips the rest."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from evaluator.checkers import shortened
from evaluator.graders.bench import Bench
from evaluator.model import CaseResult, Limits, TestCase, Verdict
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


SHOWN_WHEN_WRONG = 64 * 1024
SHOWN_WHEN_RIGHT = 2 * 1024
_TIME_OUTS_ALLOWED = 2
"""After the second the rest is skipped; after the first where one failure decides the reward."""

RunCase = Callable[[int], CaseResult | None]


def run_cases(
    cases: Sequence[TestCase],
    run: RunCase,
    execution: Execution,
    total_s: float,
    bench: Bench,
) -> list[CaseResult]:
    """A result for each test case. `run` takes a case's place, and returns None if it can't run any more."""
    allowed = 1 if bench.all_or_nothing else _TIME_OUTS_ALLOWED
    results: list[CaseResult] = []
    time_outs = 0
    stopped = False
    for place, case in enumerate(cases):
        if not stopped and execution.left_s <= 0:
            results.append(_late(case, total_s))
            stopped = True
            continue
        result = None if stopped else run(place)
        if result is None:
            results.append(not_run(case))
            stopped = True
            continue
        results.append(result)
        time_outs += result.verdict is Verdict.TIME_LIMIT
        failed_fast = bench.options.fail_fast and result.verdict is not Verdict.PASSED
        stopped = failed_fast or time_outs >= allowed or result.verdict is Verdict.REJECTED
    return results


def not_run(case: TestCase) -> CaseResult:
    return CaseResult(index=case.index, verdict=Verdict.NOT_RUN, expected=excerpt(case.expected, SHOWN_WHEN_RIGHT))


def _late(case: TestCase, total_s: float) -> CaseResult:
    late = not_run(case)
    late.verdict = Verdict.TIME_LIMIT
    late.error_message = f"{total_s:g} s for the whole completion had passed"
    return late


def is_whole(result: CaseResult) -> bool:
    """Whether a program's result has all that it printed: nothing was cut off, and all of it was text."""
    room = SHOWN_WHEN_RIGHT if result.verdict is Verdict.PASSED else SHOWN_WHEN_WRONG
    actual = result.actual
    return actual is not None and len(actual) <= room and len(actual.encode()) == result.stdout_bytes


def excerpt(text: str, room: int) -> str:
    return shortened(text, room, separator="\n", parts=4)
