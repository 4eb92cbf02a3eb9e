"""What a grader works with, and a completion on its test cases: one run of each in the sandbox, and its result."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field

import msgspec

from evaluator.checkers import shortened
from evaluator.model import CaseResult, Flag, Limits, Mode, Task, TestCase, Verdict
from evaluator.options import Options
from evaluator.sandbox import Execution, Outcome, Sandbox, Status, Stream, UndecidedError
from evaluator.tasks import import_headers
from evaluator.tasks.given_tests import CARRIAGE_RETURNS


@dataclass(frozen=True)
class Bench:
    """One worker's tools."""

    sandbox: Sandbox
    options: Options = field(default_factory=Options)
    alone: Callable[[], AbstractContextManager[object]] = nullcontext
    """A context in which no other worker of this process runs a completion."""
    all_or_nothing: bool = True
    """Whether the first failure of a test case decides the reward."""


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
"""After the second the rest is skipped; where one failure decides the reward, after the first, or a memory limit."""

RunCase = Callable[[int], CaseResult | None]


def run_cases(
    cases: Sequence[TestCase],
    run: RunCase,
    execution: Execution,
    total_s: float,
    bench: Bench,
) -> list[CaseResult]:
    """A result for each test case. `run` takes a case's place, and returns None if it can't run any more."""
    decides = bench.all_or_nothing
    allowed = 1 if decides else _TIME_OUTS_ALLOWED
    costly = (Verdict.TIME_LIMIT, Verdict.MEMORY_LIMIT) if decides else (Verdict.TIME_LIMIT,)
    results: list[CaseResult] = []
    spent = 0
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
        spent += result.verdict in costly
        failed_fast = bench.options.fail_fast and result.verdict not in (Verdict.PASSED, Verdict.UNKNOWN)
        stopped = failed_fast or spent >= allowed or result.verdict is Verdict.REJECTED
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


_SHOWN_STREAM = 16 * 1024
_UNDEFINED = re.compile(r"name '(\w\w+)' is not defined")
"""A single letter is probably a forgotten variable, though headers define `e` and `M`."""
_VERDICTS = {
    Status.RAISED: Verdict.RUNTIME_ERROR,
    Status.DIED: Verdict.RUNTIME_ERROR,
    Status.NOT_LOADED: Verdict.COMPILE_ERROR,
    Status.TIME: Verdict.TIME_LIMIT,
    Status.MEMORY: Verdict.MEMORY_LIMIT,
    Status.OUTPUT: Verdict.OUTPUT_LIMIT,
    Status.REJECTED: Verdict.REJECTED,
}


def passed(index: int, outcome: Outcome, expected: str) -> CaseResult:
    """As `result_of`, of an answer that is right for sure. `expected`: as it is shown."""
    stdout, stderr = outcome.stdout, outcome.stderr
    return CaseResult(
        index=index,
        verdict=Verdict.PASSED,
        expected=expected,
        actual=outcome.right,
        wall_s=outcome.wall_s,
        cpu_s=outcome.cpu_s,
        memory_mb=outcome.memory_mb,
        stdout=_shown(stdout),
        stdout_bytes=stdout.size,
        stderr=_shown(stderr),
        stderr_bytes=stderr.size,
        exit_code=outcome.exit_status,
    )


def _shown(stream: Stream) -> str:
    return excerpt(stream.text(), _SHOWN_STREAM) if stream.size else ""


def result_of(index: int, outcome: Outcome) -> CaseResult:
    """With the verdict `passed` if the run came to its end: the answer is judged later."""
    result = CaseResult(
        index=index,
        verdict=Verdict.PASSED if outcome.status is Status.ANSWERED else _VERDICTS[outcome.status],
        wall_s=outcome.wall_s,
        cpu_s=outcome.cpu_s,
        memory_mb=outcome.memory_mb,
        stdout=_shown(outcome.stdout),
        stdout_bytes=outcome.stdout.size,
        stderr=_shown(outcome.stderr),
        stderr_bytes=outcome.stderr.size,
        error_message=outcome.message or None,
        traceback=outcome.failure,
    )
    if outcome.failure is not None and outcome.failure.type:
        result.error_type, result.error_message = outcome.failure.type, outcome.message or outcome.failure.message
    return result


def explain_undefined(results: Iterable[CaseResult]) -> None:
    """Adds to the message about an undefined name that an import header defines it."""
    for result in results:
        undefined = _UNDEFINED.fullmatch(result.error_message or "") if result.error_type == "NameError" else None
        if undefined and undefined[1] in import_headers.names():
            result.error_message = f"{undefined[0]}. An import header defines it: --preamble lcb supplies one"


def explain_carriage_returns(results: Iterable[CaseResult], task: Task) -> None:
    """Adds to what went wrong that a program's input has carriage returns."""
    inputs = {case.index: case.input for case in task.cases} if task.mode is Mode.STDIN else {}
    for result in results:
        if "\r" not in inputs.get(result.index, ""):
            continue
        hint = f" ({CARRIAGE_RETURNS}: probably the cause)"
        if result.verdict is Verdict.RUNTIME_ERROR:
            result.error_message = f"{result.error_message or ''}{hint}".lstrip()
        elif result.verdict is Verdict.WRONG_ANSWER and result.difference is not None:
            message = f"{result.difference.message}{hint}"
            result.difference = msgspec.structs.replace(result.difference, message=message)


def early_exit(index: int, outcome: Outcome, notes: list[Flag]) -> list[Flag]:
    """A flag for the first call whose process exited by itself; a program may exit at any time."""
    by_itself = outcome.status is Status.DIED and outcome.exit_status is not None and outcome.exit_status >= 0
    if not by_itself or any(note.word == "early_exit" for note in notes):
        return []
    return [Flag("early_exit", f"test {index}: {outcome.message}")]


def reject_if_tampered(results: list[CaseResult], tampering: str) -> None:
    """A process that breaks the protocol after its last answer fails the last test case."""
    if tampering and all(result.verdict is Verdict.PASSED for result in results):
        results[-1].verdict, results[-1].error_message = Verdict.REJECTED, tampering
