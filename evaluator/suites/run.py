"""One run of a test suite: with the test in a separate process, or in the completion's."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple, Self

from evaluator.cases import (
    SHOWN_WHEN_RIGHT,
    SHOWN_WHEN_WRONG,
    Bench,
    attempt_by,
    early_exit,
    excerpt,
    reject_if_tampered,
    result_of,
    run_cases,
)
from evaluator.checkers import get_checker, render
from evaluator.lru_cache import LruCache
from evaluator.model import CaseResult, Difference, Flag, Limits, Opaque, Task, TestCase, Verdict
from evaluator.sandbox import BadValueError, Outcome, Program, Status, decoded
from evaluator.stages import stage
from evaluator.suites.host.cases import CaseReport, SharedProcessCase
from evaluator.suites.host.suite_process import SuiteCase, SuiteProcess
from evaluator.suites.reading.plan import SuitePlan
from evaluator.suites.reading.uses import Need


@dataclass
class SuiteRun:
    """The results of one run of a suite."""

    cases: list[CaseResult] = field(default_factory=list)
    notes: list[Flag] = field(default_factory=list)
    unsure: str | None = None
    """Why a pass is not verified; None if it is."""
    final: bool = False
    """Whether a failure is final: plain data decided it, or a run in one process would end in the same way."""
    left_s: float = 0.0
    """What is left of `limits.total_s`, which all runs of a completion share."""

    @property
    def verdict(self) -> Verdict:
        """That of the first test case that did not pass."""
        return next((case.verdict for case in self.cases if case.verdict is not Verdict.PASSED), Verdict.PASSED)

    @property
    def passed(self) -> bool:
        return self.verdict is Verdict.PASSED


class CannotRunError(Exception):
    """The suite fails by itself. The message says how."""


_CaseRun = SuiteCase | SharedProcessCase
_Counts = tuple[int, ...] | None
"""How many asserts a task's reference executes in each test case; None if it does not pass."""


class _Suite:
    """A completion and its suite, test case by test case."""

    _together = False
    """Whether the test runs in the completion's own process."""

    def __init__(
        self,
        task: Task,
        plan: SuitePlan,
        code: str,
        limits: Limits,
        bench: Bench,
        required: _Counts = None,
        *,
        audits: bool = False,
    ) -> None:
        """`required`: how many asserts each test case must execute; None: at least one in all.

        `audits`: whether to note what the sandbox refused, which needs trusted code.
        """
        self._required = required
        self._plan = plan
        self._limits = limits
        self._bench = bench
        self._program = Program(
            code, task.entry_point, task.preamble, plan.suite, self._together, audits,
            system=bool(plan.needs), loopback=Need.LOOPBACK in plan.needs,
        )  # fmt: skip
        self._notes: list[Flag] = []
        self._unsure: list[str] = []
        self.executed: list[int] = []
        """How many asserts were executed in each test case."""
        with stage("sandbox start"):
            self._execution = bench.sandbox.execute(self._program, limits, reuse=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._execution.close()

    def run(self) -> SuiteRun:
        """Runs all test cases. Raises `CannotRunError`, and what `grade` raises."""
        cases = run_cases(self._plan.cases, self._run, self._execution, self._limits.total_s, self._bench)
        self._end_suite()
        reject_if_tampered(cases, self._execution.finish())
        unsure = self._unsure[0] if self._unsure else None
        return SuiteRun(cases, self._notes, unsure=unsure, left_s=self._execution.left_s)

    def _run(self, place: int) -> CaseResult | None:
        runs: list[_CaseRun] = []

        def run_case(wall_s: float) -> Outcome:
            case_run = self._begun(place)
            if isinstance(case_run, Outcome):
                return case_run
            runs.append(case_run)
            return self._execution.run_case(case_run, wall_s=wall_s)

        outcome = attempt_by(run_case, self._limits, self._bench, self._execution)
        case = self._plan.cases[place]
        if not runs:
            return result_of(case.index, outcome)
        self._note(case.index, outcome, runs[-1].report)
        with stage("compare"):
            result = self._judged(case, outcome, runs[-1])
        report = runs[-1].report
        self.executed.append(0 if report is None else report.asserts)
        self._look_at(outcome, runs[-1], result)
        return result

    def _begun(self, place: int) -> _CaseRun | Outcome:
        """The test case, ready to run; or how the completion can't be loaded."""
        raise NotImplementedError

    def _look_at(self, outcome: Outcome, case_run: _CaseRun, result: CaseResult) -> None:
        """Looks at the result of a test case."""
        raise NotImplementedError

    def _end_suite(self) -> None:
        """Ends the suite's own process, if it has one."""

    def _note(self, index: int, outcome: Outcome, report: CaseReport | None) -> None:
        self._notes += outcome.notes
        self._notes += early_exit(index, outcome, self._notes)
        if report is not None and (report.subclasses or report.unsure):
            self._notes += (Flag("subclass", evidence) for evidence in report.subclasses)
            self._unsure += (reason for reason in report.unsure if reason not in self._unsure)

    def _judged(self, case: TestCase, outcome: Outcome, case_run: _CaseRun) -> CaseResult:
        """Raises `CannotRunError` if the test failed without the completion's doing."""
        result = result_of(case.index, outcome)
        report = case_run.report
        if outcome.status is Status.ANSWERED and report is not None:
            if report.status != "passed":
                used_completion = report.case_requests > 0 if report.status == "skipped" else case_run.used_completion
                if not used_completion:
                    self._refuse_faulty(report)
                judge_report(report, self._plan.suite.names, result)
            show_sides(report, result)
        if result.expected is None:
            passed = result.verdict is Verdict.PASSED
            result.expected = excerpt(case.expected, SHOWN_WHEN_RIGHT if passed else SHOWN_WHEN_WRONG)
        return result

    def _refuse_faulty(self, report: CaseReport) -> None:
        fails = report.status in ("raised", "unloadable", "skipped")
        if not fails or missing_name(report, self._plan.suite.names) is not None or self._names_completion(report):
            return
        if not self._plan.runs or report.type in ("ImportError", "ModuleNotFoundError"):
            message = f"{report.type}: {report.message}" if report.type else report.message
            where = f"line {report.line} of the test: " if report.line else ""
            raise CannotRunError(f"the test can't run: {where}{message}")

    def _names_completion(self, report: CaseReport) -> bool:
        """Whether the statement that failed reads something of the completion's: `assertRaises(f)` of a function."""
        suite = self._plan.suite
        names = {*suite.names, *suite.touched, self._program.entry_point, "candidate"}
        words = {*_WORD.findall(report.source), *(f"self.{name}" for name in _OF_SELF.findall(report.source))}
        return report.type in ("TypeError", "AttributeError") and not names.isdisjoint(words)


_WORD = re.compile(r"\w+")
_OF_SELF = re.compile(r"\b(?:self|cls)\.(\w+)")
_NAME_ERROR = re.compile(r"name '(\w+)' is not defined")


def missing_name(report: CaseReport, names: tuple[str, ...]) -> str | None:
    """The name that the test needs and the completion does not define."""
    match = _NAME_ERROR.match(report.message) if report.type == "NameError" else None
    return match[1] if match is not None and match[1] in names else None


def judge_report(report: CaseReport, names: tuple[str, ...], result: CaseResult) -> None:
    """Sets the verdict and the message of a test case that did not pass."""
    missing = missing_name(report, names)
    if missing is not None:
        result.verdict = Verdict.COMPILE_ERROR
        result.error_type, result.error_message = "NameError", f"the code defines no {missing!r}"
        return
    result.verdict = Verdict.WRONG_ANSWER
    if report.status == "failed":
        result.difference = Difference(_difference(report))
    elif report.status == "skipped":
        result.difference = Difference(f"the test was skipped: {report.message}")
    else:
        result.difference = Difference(f"the test raised {report.type}: {report.message}")


def _difference(report: CaseReport) -> str:
    """Both sides of a failed assert, and the test's message."""
    source = " ".join(report.source.split())
    message = report.message
    if report.actual is None:
        return f"{source}: {message}" if source and message else source or message or "the assert failed"
    actual = render(_value(report.actual), 300)
    sides = f"`{source[:300]}`, got `{actual}`"
    alike = report.expected is not None and actual == render(_value(report.expected), 300)
    if alike and report.op in ("==", "assertEqual"):
        sides += ", which looks the same and is not equal"
    if report.op.startswith("assert"):  # unittest repeats both sides before the test's message
        message = message.rpartition(" : ")[2] if " : " in message else ""
    names = "".join(f"; {name} is {render(_value(text), 300)}" for name, text in report.names)
    message = f"the test says: {message}" if message else ""
    return "; ".join(part for part in (": ".join(filter(None, (sides, _where(report)))), message) if part) + names


def _where(report: CaseReport) -> str:
    """Where two values first differ; empty if only the whole differs."""
    if report.op not in ("==", "assertEqual") or report.expected is None or report.actual is None:
        return ""
    difference = get_checker("python").rules["value"](_value(report.expected), _value(report.actual))
    return difference.message if difference is not None and difference.path else ""


_RELATIONS = frozenset(("<", "<=", ">", ">=", "!=", "in", "not in", "is not"))
"""With these the other side of an assert is not what was expected: `< 0.0001` is."""


def show_sides(report: CaseReport, result: CaseResult) -> None:
    room = SHOWN_WHEN_RIGHT if result.verdict is Verdict.PASSED else SHOWN_WHEN_WRONG
    if report.actual is not None:
        result.actual = render(_value(report.actual), room)
    if report.expected is not None:
        relation = f"{report.op} " if report.op in _RELATIONS else ""
        result.expected = relation + render(_value(report.expected), room)


def _value(text: str) -> object:
    try:
        return decoded(text.encode())
    except BadValueError:
        return Opaque("object", text[:200])


class SeparateProcessRun(_Suite):
    """The test in a separate process."""

    _process: SuiteProcess | None = None
    _final = True
    _over = False
    """Whether the remaining test cases can't run."""

    def __exit__(self, *raised: object) -> None:
        try:
            self._end_suite()
        finally:
            super().__exit__(*raised)

    def _end_suite(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.close()

    def _run(self, place: int) -> CaseResult | None:
        return None if self._over else super()._run(place)

    def _begun(self, place: int) -> _CaseRun | Outcome:
        process = self._ready(place)
        return process if isinstance(process, Outcome) else process.case(place)

    def _look_at(self, outcome: Outcome, case_run: _CaseRun, result: CaseResult) -> None:
        if result.verdict is not Verdict.PASSED:
            self._doubt(outcome, case_run)
        self._decide(case_run.report, result)

    def run(self) -> SuiteRun:
        result = super().run()
        if result.passed and not any(self.executed):
            result.unsure = result.unsure or "the test ended without executing an assert"
        result.final = self._final or any(case.verdict is Verdict.REJECTED for case in result.cases)
        return result

    def _doubt(self, outcome: Outcome, case_run: _CaseRun) -> None:
        """Notes if this test case might pass in one process."""
        used_up = outcome.status is Status.TIME and outcome.cpu_s >= self._limits.cpu_s
        if self._final and not used_up and isinstance(case_run, SuiteCase) and not case_run.final:
            self._final = False

    def _decide(self, report: CaseReport | None, result: CaseResult) -> None:
        """Notes if the test cases after this one can't run."""
        plan = self._plan
        if plan.suite.form == "methods" or result.verdict is Verdict.PASSED:
            return
        ended = report is None or not self._execution.begun
        if (ended and not plan.restarts) or (report is not None and report.setup) or not plan.continues:
            self._over = True

    def _ready(self, place: int) -> SuiteProcess | Outcome:
        """The suite's process, or how the completion can't be loaded.

        The two processes are connected: if one has ended, both are replaced.
        """
        process = self._process
        if process is not None and process.usable and self._execution.begun:
            return process
        self._end_suite()
        completion = self._execution.restart(wall_s=self._limits.wall_s)
        if isinstance(completion, Outcome):
            return completion
        with stage("sandbox start"):
            process = SuiteProcess(self._bench.sandbox, self._program, self._plan.suite, self._limits, completion)
        self._process = process
        for earlier in () if self._plan.restarts else range(place):
            self._execution.run_case(process.case(earlier), wall_s=self._limits.wall_s)
        return process


class SharedProcessRun(_Suite):
    """The test in the completion's own process, whose messages may be forged; only its end is certain."""

    _together = True
    lacking: tuple[str, ...] = ()

    def _begun(self, place: int) -> _CaseRun | Outcome:
        code = self._bench.sandbox.compiled.of(self._plan.suite)
        return SharedProcessCase(self._plan.suite, place, self._program.source, code)

    def _look_at(self, outcome: Outcome, case_run: _CaseRun, result: CaseResult) -> None:
        del outcome
        executed = self.executed[-1]
        required = 0 if self._required is None else self._required[len(self.executed) - 1]
        if result.verdict is Verdict.PASSED and executed < required:
            _fail(result, f"{executed} of {required} asserts were executed")
        self.lacking = tuple(case_run.report.lacking) if case_run.report is not None else self.lacking

    def run(self) -> SuiteRun:
        result = super().run()
        if self._required is None and not any(self.executed) and result.cases[-1].verdict is Verdict.PASSED:
            _fail(result.cases[-1], "no assert was executed")
        return result


def _fail(result: CaseResult, message: str) -> None:
    result.verdict = Verdict.WRONG_ANSWER
    result.difference = Difference(message)


class ReferenceRun(NamedTuple):
    """The result of a task's own reference with the test in its process."""

    executed: _Counts
    lacking: tuple[str, ...]
    """What it tried and the sandbox does not allow."""


_references: LruCache[tuple[object, ...], ReferenceRun] = LruCache(64)


def run_reference(task: Task, plan: SuitePlan, limits: Limits, bench: Bench) -> ReferenceRun | None:
    """None if the task has no reference. Raises what `grade` raises."""
    reference = task.reference
    if reference is None:
        return None

    def run() -> ReferenceRun:
        none = (0,) * len(plan.cases)
        with SharedProcessRun(task, plan, reference, limits, bench, none, audits=True) as suite:
            passed = suite.run().passed
        return ReferenceRun(tuple(suite.executed) if passed else None, suite.lacking)

    return _references.get((plan.suite, reference, limits), run)
