"""Translates a grade into code_gen's `result` codes and its `metadata` about the first failure.

Source: `resources_servers/code_gen/lcb_integration/testing_util.py` of NeMo Gym 0.7.0, as observed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from evaluator.graders.colossalai_testing.run import truncated
from evaluator.model import CaseResult, Grade, JsonValue, Mode, Task, TestCase, Verdict

_KILLED: Final = -1
_WRONG: Final = -2
_TIME: Final = -3
_ERROR: Final = -4

_CODES: Final[Mapping[Verdict, bool | int]] = {
    Verdict.PASSED: True,
    Verdict.WRONG_ANSWER: _WRONG,
    Verdict.RUNTIME_ERROR: _ERROR,
    Verdict.COMPILE_ERROR: _ERROR,
    Verdict.TIME_LIMIT: _TIME,
    Verdict.MEMORY_LIMIT: _KILLED,
    Verdict.OUTPUT_LIMIT: _KILLED,
    Verdict.REJECTED: _KILLED,
}


class Codes(NamedTuple):
    """code_gen's two fields."""

    result: list[bool | int]
    """A code per test case that ran: true passed, -1 killed, -2 wrong answer (false where a function was called),
    -3 time limit, -4 error."""
    metadata: dict[str, JsonValue]
    """About the first failing test case; the time taken if there is none."""


def codes_of(task: Task, grade: Grade) -> Codes | None:
    """None if code_gen would report nothing: no code ran, or not on inputs."""
    if task.mode not in (Mode.CALL, Mode.STDIN) or grade.code is None or not grade.verdict.graded:
        return None
    ran = [case for case in grade.cases if case.verdict is not Verdict.NOT_RUN]
    if grade.verdict is Verdict.COMPILE_ERROR:
        message = f"Error during testing: {_exception_text(ran[0])}"
        return Codes([_ERROR], {"error_code": _ERROR, "error_message": message})
    failing = next((case for case in ran if case.verdict is not Verdict.PASSED), None)
    result = [_code(task, case) for case in ran]
    if failing is None:
        return Codes(result, {"execution time": sum(case.wall_s or 0.0 for case in ran)})
    return Codes(result, _account(task, failing))


def _code(task: Task, case: CaseResult) -> bool | int:
    return False if (task.mode, case.verdict) == (Mode.CALL, Verdict.WRONG_ANSWER) else _CODES[case.verdict]


def _exception_text(case: CaseResult) -> str:
    """The exception as `str` gives it, with the line for a syntax error."""
    message = case.error_message or ""
    if case.error_type not in ("SyntaxError", "IndentationError", "TabError") or case.error_line is None:
        return message or case.error_type or ""
    return f"{message} (<string>, line {case.error_line})"


def _account(task: Task, case: CaseResult) -> dict[str, JsonValue]:
    given = next(each for each in task.cases if each.index == case.index)
    code = _CODES[case.verdict]
    account: dict[str, JsonValue] = {
        "inputs": truncated(given.input if task.mode is Mode.STDIN else f"[{given.input.replace(chr(10), ', ')}]"),
        "expected": truncated(given.expected),
        "error_code": code,
        "error_message": _message(task, given, case),
    }
    if case.verdict is Verdict.WRONG_ANSWER:
        account["output"] = truncated(case.actual or "")
    else:
        account["error"] = _error(case)
    if case.traceback is not None and case.verdict is Verdict.RUNTIME_ERROR:
        account["traceback"] = "\n".join(
            [
                "Traceback (most recent call last):",
                *(f'  File "<string>", line {frame.line}, in {frame.function}' for frame in case.traceback.frames),
                f"{case.traceback.type}: {case.traceback.message}",
            ]
        )
    return account


def _error(case: CaseResult) -> str:
    if case.error_type:
        return f"{case.error_type}({case.error_message!r})" if case.error_message else f"{case.error_type}()"
    return case.error_message or case.verdict.value.replace("_", " ")


def _message(task: Task, given: TestCase, case: CaseResult) -> str:
    if case.verdict is Verdict.TIME_LIMIT:
        return "Time Limit Exceeded"
    if case.verdict is not Verdict.WRONG_ANSWER:  # "Runtime Error" and so on
        return case.verdict.value.replace("_", " ").title()
    if task.mode is Mode.CALL:
        return "Wrong Answer"
    actual, expected = _lines(case.actual or ""), _lines(given.expected)
    if len(actual) != len(expected):
        return "Wrong answer: mismatched output length"
    place = ((case.difference.line if case.difference else None) or 1) - 1  # as the checker reported it
    if place >= len(actual) or actual[place] == expected[place]:
        place = next((n for n, pair in enumerate(zip(actual, expected, strict=True)) if pair[0] != pair[1]), 0)
    return f"Wrong answer at output_line_idx={place}: {truncated(actual[place])} != {truncated(expected[place])}"


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.strip().split("\n")]
