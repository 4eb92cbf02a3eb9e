"""A task's own checker (`Task.checker_code`): a Python program that is called with three file names and prints 1 or 0.

The files are the test case's input, its expected output and the completion's output, in this order. That is how
open-r1's grader calls the `generated_checker` of its codeforces dataset: what prints 1 and nothing else is right.

The checker is as untrusted as a completion, and reads what an untrusted completion wrote. So it runs in the sandbox, in
a process of its own for each test case, which is forked when the completion's has ended. Whatever happens in it can
change the verdict of this one test case, and nothing else.

Such checkers often crash on an output that is not in the right format, as `int("no")` does. If that made the grade
unknown, a completion could avoid a 0. So a checker that fails is asked once more, about the expected output as if
the completion had printed it. If it accepts that, it works, and the output is wrong. If not, the task is to blame, and
the grade is unknown. A checker that runs into a limit is not asked again: nobody knows what it would have said.
"""

from __future__ import annotations

import math
import re
from typing import Final

from msgspec.structs import replace

from evaluator.cases import Bench, attempt
from evaluator.checkers import message, shortened
from evaluator.graders.plans import IS_C, PlannedCase
from evaluator.model import CaseResult, Difference, Limits, Verdict
from evaluator.sandbox import FaultError, Outcome, Program, Status

LIMITS: Final = Limits()
"""Of the checker, whatever those of the completion are: `total_s` for all test cases of a completion together."""
_FILES: Final = ("input.txt", "correct_output.txt", "solution_output.txt")
_WRITE_FILES: Final = f"""
import sys
def write_files():
    sizes = map(int, sys.stdin.buffer.readline().split())
    sys.argv[:] = ["checker.py", *{_FILES}]
    for name, size in zip({_FILES}, sizes):
        with open(name, "wb") as file:
            file.write(sys.stdin.buffer.read(size))
write_files()
del sys, write_files
"""
_MIB: Final = 2**20
_SHOWN: Final = 500
_NO_CPP: Final = "the output differs, and the task's checker is C++ (testlib), which is not run: give one in Python"


_RUNS_TEXT: Final = re.compile(r"\b(?:eval|exec|compile|__import__|import_module|pickle|subprocess|os\.system)\b")


def why_unverified(code: str) -> str | None:
    """Why a pass by this checker proves nothing: what a completion printed may decide what the checker says."""
    found = _RUNS_TEXT.search(code)
    return f"the task's checker uses {found[0]}, so an output may run in it" if found else None


class TaskChecker:
    """The checker of a task, for the test cases of one completion."""

    def __init__(self, code: str, bench: Bench) -> None:
        self._program = Program(code, preamble=_WRITE_FILES)
        self._bench = bench
        self._used_s = 0.0
        self._failure = _NO_CPP if IS_C.search(code) else ""
        """Why it is not asked any more."""

    def judge(self, result: CaseResult, planned: PlannedCase, output: bytes) -> None:
        """Sets verdict and message of a test case by what the checker says of the completion's output.

        Raises `FaultError`.
        """
        if not self._failure:
            outcome = self._run(planned, output)
            answer = _answer(outcome)
            said = _said(outcome)
            if answer == "1":
                result.verdict, result.difference = Verdict.PASSED, None
                return
            if answer == "0":
                result.difference = Difference(message(f"the task's checker rejects it{said}"))
                return
            how = _how(outcome)
            if outcome.status not in _OF_MACHINE and self._accepts_expected(planned):
                result.difference = Difference(message(f"the task's checker can't read it: {how}{said}"))
                return
            self._failure = f"the task's checker failed in test {result.index}: {how}{said}"
        result.verdict, result.difference = Verdict.UNKNOWN, None
        result.error_message = self._failure

    def _accepts_expected(self, planned: PlannedCase) -> bool:
        return _answer(self._run(planned, _bytes(planned.case.expected))) == "1"

    def _run(self, planned: PlannedCase, output: bytes) -> Outcome:
        files = (planned.payload, _bytes(planned.case.expected), output)
        sizes = " ".join(str(len(file)) for file in files)
        payload = b"".join((sizes.encode(), b"\n", *files))
        largest_mb = math.ceil(max(map(len, files)) / _MIB)
        limits = replace(LIMITS, output_mb=max(LIMITS.output_mb, largest_mb), total_s=LIMITS.total_s - self._used_s)
        if limits.total_s <= 0:
            return Outcome(status=Status.TIME, message=f"{LIMITS.total_s:g} s for all test cases had passed")
        with self._bench.sandbox.execute(self._program, limits, reuse=False, several=False) as execution:
            outcome = attempt(payload, limits, self._bench, execution)
            if outcome.status is Status.ANSWERED and execution.finish():
                outcome.status = Status.REJECTED
        if outcome.status is Status.FAULT:
            raise FaultError(outcome.message)
        self._used_s += outcome.wall_s
        return outcome


_OF_MACHINE: Final = (Status.TIME, Status.MEMORY, Status.OUTPUT)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _answer(outcome: Outcome) -> str:
    """`1`, `0`, or an empty text for anything else."""
    printed = outcome.stdout.data.strip()
    if outcome.status is not Status.ANSWERED or outcome.exit_status or printed not in (b"1", b"0"):
        return ""
    return printed.decode()


def _said(outcome: Outcome) -> str:
    """What it wrote to stderr besides a traceback, which `_how` is about."""
    text = " ".join(outcome.stderr.text().split()) if outcome.failure is None else ""
    return f" ({shortened(text, _SHOWN)})" if text else ""


def _how(outcome: Outcome) -> str:
    """How it ended, in one line."""
    failure = outcome.failure
    if outcome.message or outcome.status in _OF_MACHINE:
        return outcome.message or f"its {outcome.status.value} limit"
    if failure is not None and failure.type:
        return f"{failure.type}: {failure.message}" if failure.message else failure.type
    if outcome.exit_status:
        return f"exit status {outcome.exit_status}"
    return f"it printed {shortened(outcome.stdout.text().strip(), _SHOWN)!r}, not 1 or 0"
