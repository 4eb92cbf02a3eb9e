"""A test case's result from its run, before anything is compared."""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from evaluator import import_headers
from evaluator.given_tests import CARRIAGE_RETURNS
from evaluator.graders.cases.loop import excerpt
from evaluator.model import CaseResult, Flag, Mode, Task, Verdict
from evaluator.sandbox import Outcome, Status

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


def result_of(index: int, outcome: Outcome) -> CaseResult:
    """With the verdict `passed` if the run came to its end: the answer is judged later."""
    result = CaseResult(
        index=index,
        verdict=_VERDICTS.get(outcome.status, Verdict.PASSED),
        wall_s=outcome.wall_s,
        cpu_s=outcome.cpu_s,
        memory_mb=outcome.memory_mb,
        stdout=excerpt(outcome.stdout.text(), _SHOWN_STREAM),
        stdout_bytes=outcome.stdout.size,
        stderr=excerpt(outcome.stderr.text(), _SHOWN_STREAM),
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
