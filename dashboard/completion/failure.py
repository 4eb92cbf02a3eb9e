"""Why a rollout or a test case did not pass, in words."""

from __future__ import annotations

import json

from dashboard.queries.records import CaseRecord, RolloutRecord, decoded
from evaluator.model import Traceback, Verdict

_LONGEST = 200

_WHY: dict[Verdict, str] = {
    Verdict.PASSED: "passed",
    Verdict.WRONG_ANSWER: "no exception: the result differs from what is expected",
    Verdict.TIME_LIMIT: "no traceback: the program was killed at its time limit",
    Verdict.MEMORY_LIMIT: "no traceback: the program was killed at its memory limit",
    Verdict.OUTPUT_LIMIT: "the program printed more than its output limit",
    Verdict.NO_CODE: "no code or answer was found in the completion",
    Verdict.REJECTED: "the program broke the sandbox's protocol, or tampered with it",
    Verdict.SANDBOX_ERROR: "the sandbox failed, which is not the completion's fault, so it has no reward",
    Verdict.UNKNOWN: "it could not be graded, so it has no reward",
    Verdict.NOT_RUN: "not run, as an earlier test case failed or timed out",
    Verdict.RUNTIME_ERROR: "no traceback: its process ended before the test case did",
    Verdict.COMPILE_ERROR: "the program does not load",
}
_STOPPED: dict[Verdict, str] = {
    Verdict.TIME_LIMIT: "where it was at its time limit",
    Verdict.MEMORY_LIMIT: "where it was at its memory limit",
}


def traceback(test: CaseRecord | None) -> Traceback | None:
    """The exception's frames, or where a stopped program was."""
    return decoded(test.traceback, Traceback) if test else None


def line_of(rollout: RolloutRecord, test: CaseRecord | None) -> int | None:
    """The line of the code to look at first."""
    trace = traceback(test)
    return (test or rollout).error_line or (trace.line if trace else None)


def summary(result: RolloutRecord | CaseRecord) -> str:
    """The exception in one short line, shown after the failing line of code."""
    if not result.error_type:
        return ""
    text = f"{result.error_type}: {result.error_message or ''}".split("\n", 1)[0].rstrip(": ")
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def no_test_decides(rollout: RolloutRecord) -> bool:
    """Whether no single test case explains the verdict, or a reward of several parts."""
    undecided = rollout.verdict == Verdict.UNKNOWN or rollout.tests_passed == rollout.tests_total
    return rollout.verdict == Verdict.NO_CODE or (bool(rollout.components) and undecided)


def explained(verdict: Verdict) -> str:
    """The general sentence of a verdict."""
    return _WHY[verdict]


def reason(verdict: Verdict, rollout: RolloutRecord, message: str, trace: Traceback | None) -> str:
    """The general sentence of a verdict, with the limit or the part of the reward that it is about."""
    if rollout.grader == "stored":
        return "the stored verdict: nothing ran here"
    limits: dict[str, float] = json.loads(rollout.limits or "{}")
    words = {
        Verdict.TIME_LIMIT: _time_limit(limits, message),
        Verdict.MEMORY_LIMIT: f" (limit: {limits.get('memory_mb', 0):g} MiB)",
        Verdict.OUTPUT_LIMIT: f" (limit: {limits.get('output_mb', 0):g} MiB)",
    }
    if rollout.components and no_test_decides(rollout):
        return "a part of its reward that no test case decides: see the table"
    if verdict is Verdict.WRONG_ANSWER and rollout.code is None:
        return "the answer differs from what is expected"
    why = _STOPPED.get(verdict, _WHY[verdict]) if trace and trace.frames else _WHY[verdict]
    return why + words.get(verdict, "")


def _time_limit(limits: dict[str, float], message: str) -> str:
    """Which of the two limits it was, if the message says."""
    wall, cpu = f"{limits.get('wall_s', 0):g} s wall time", f"{limits.get('cpu_s', 0):g} s CPU time"
    if "CPU" in message:
        return f" (limit: {cpu})"
    return f" (limit: {wall})" if "wall" in message else f" (limits: {wall}, {cpu})"
