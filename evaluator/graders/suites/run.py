"""One run of a test suite: with the test in a process of its own, or in the completion's."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, Self

from evaluator.assertions.needs import Need
from evaluator.assertions.plan import Form, SuitePlan
from evaluator.checkers import get_checker, render
from evaluator.graders.bench import Bench
from evaluator.graders.cases.attempts import attempt_by
from evaluator.graders.cases.loop import SHOWN_WHEN_RIGHT, SHOWN_WHEN_WRONG, excerpt, run_cases
from evaluator.graders.cases.results import early_exit, reject_if_tampered, result_of
from evaluator.graders.recent import Remembered
from evaluator.model import CaseResult, Difference, Flag, Limits, Opaque, Task, TestCase, Verdict
from evaluator.sandbox import (
    BadValueError,
    CaseReport,
    Outcome,
    PlainCase,
    Program,
    Status,
    SuiteCase,
    SuiteProcess,
    decoded,
)
from evaluator.stages import stage


@dataclass
class SuiteRun:
    """What one run of a suite found."""

    cases: list[CaseResult] = field(default_factory=list)
    notes: list[Flag] = field(default_factory=list)
    unsure: str | None = None
    """Why a pass is not verified; None where it is."""
    final: bool = False
    """Whether a failure stands: plain data decided it, or a plain run would end in the same way."""
    last_operation: str = ""
    """What the test did last with an object of the completion's, in the first test case that did not pass."""
    calls: list[list[str] | None] = field(default_factory=list)
    """Of each test case, what was noted of its calls; None where it did not come to an end."""

    @property
    def verdict(self) -> Verdict:
        """That of the first test case that did not pass."""
        return next((case.verdict for case in self.cases if case.verdict is not Verdict.PASSED), Verdict.PASSED)

    @property
    def passed(self) -> bool:
        return self.verdict is Verdict.PASSED


class CannotRunError(Exception):
    """The suite fails by itself. The message says how."""


class _Case(Protocol):
    found: CaseReport | None

    @property
    def asked(self) -> bool: ...


class _Suite:
    """A completion and its check, test case after test case."""

    def __init__(
        self,
        task: Task,
        plan: SuitePlan,
        code: str,
        limits: Limits,
        bench: Bench,
        *,
        together: bool = False,
        audits: bool = False,
    ) -> None:
        self._plan = plan
        self._limits = limits
        self._bench = bench
        self._program = Program(
            code, task.entry_point, task.preamble, plan.suite, together, audits,
            system=bool(plan.needs), loopback=Need.LOOPBACK in plan.needs,
        )  # fmt: skip
        self._notes: list[Flag] = []
        self._unsure: list[str] = []
        self._calls: list[list[str] | None] = []
        with stage("sandbox start"):
            self._execution = bench.sandbox.execute(self._program, limits, reuse=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self._execution.__exit__(*raised)

    def run(self) -> SuiteRun:
        """Runs all test cases. Raises `CannotRunError`, and as `grade` does."""
        cases = run_cases(
            self._plan.cases, self._run, self._execution, self._limits.total_s, fail_fast=self._bench.options.fail_fast
        )
        self._end_check()
        reject_if_tampered(cases, self._execution.finish())
        return SuiteRun(cases, self._notes, unsure=self._unsure[0] if self._unsure else None, calls=self._calls)

    def _run(self, place: int) -> CaseResult | None:
        raise NotImplementedError

    def _end_check(self) -> None:
        """Ends what runs beside the completion."""

    def _note(self, index: int, outcome: Outcome, found: CaseReport | None) -> None:
        self._notes += outcome.notes
        self._notes += early_exit(index, outcome, self._notes)
        self._calls.append(found.calls if found is not None else None)
        if found is not None and (found.subclasses or found.unsure):
            self._notes += (Flag("subclass", told) for told in found.subclasses)
            self._unsure += (reason for reason in found.unsure if reason not in self._unsure)

    def _judged(self, case: TestCase, outcome: Outcome, case_run: _Case) -> CaseResult:
        """Raises `CannotRunError` where the check has failed without the completion's doing."""
        result = result_of(case.index, outcome)
        found = case_run.found
        if outcome.status is Status.ANSWERED and found is not None:
            if found.status != "passed":
                asked = found.asked_now > 0 if found.status == "skipped" else case_run.asked
                self._refuse_faulty(found, asked=asked)
                judge_found(found, self._plan.suite.names, result)
            show_sides(found, result)
        if result.expected is None:
            passed = result.verdict is Verdict.PASSED
            result.expected = excerpt(case.expected, SHOWN_WHEN_RIGHT if passed else SHOWN_WHEN_WRONG)
        return result

    def _refuse_faulty(self, found: CaseReport, *, asked: bool) -> None:
        by_itself = found.status in ("raised", "unloadable", "skipped") and not asked
        if by_itself and missing_name(found, self._plan.suite.names) is None:
            told = f"{found.type}: {found.message}" if found.type else found.message
            where = f"line {found.line} of the test: " if found.line else ""
            raise CannotRunError(f"the check can't be run: {where}{told}")


_NAME_ERROR = re.compile(r"name '(\w+)' is not defined")


def missing_name(found: CaseReport, names: tuple[str, ...]) -> str | None:
    """The name that the test wants of the completion, which the completion does not define."""
    told = _NAME_ERROR.match(found.message) if found.type == "NameError" else None
    return told[1] if told is not None and told[1] in names else None


def judge_found(found: CaseReport, names: tuple[str, ...], result: CaseResult) -> None:
    """The verdict of a test case that has not passed, and what is said of it."""
    missing = missing_name(found, names)
    if missing is not None:
        result.verdict = Verdict.COMPILE_ERROR
        result.error_type, result.error_message = "NameError", f"the code defines no {missing!r}"
        return
    result.verdict = Verdict.WRONG_ANSWER
    if found.status == "failed":
        result.difference = Difference(_difference(found))
    elif found.status == "skipped":
        result.difference = Difference(f"the test was skipped: {found.message}")
    else:
        result.difference = Difference(f"the test raised {found.type}: {found.message}")


def _difference(found: CaseReport) -> str:
    """Both sides of a failed assert, and what the test says of it."""
    source = " ".join(found.source.split())
    said = found.message
    if found.actual is None:
        return f"{source}: {said}" if source and said else source or said or "the assert failed"
    actual = render(_value(found.actual), 300)
    told = f"`{source[:300]}`, got `{actual}`"
    alike = found.expected is not None and actual == render(_value(found.expected), 300)
    if alike and found.op in ("==", "assertEqual"):
        told += ", which looks the same and is not equal"
    if found.op.startswith("assert"):  # unittest says both sides once more, and then what the test adds
        said = said.rpartition(" : ")[2] if " : " in said else ""
    where = "".join(f"; {name} is {render(_value(text), 300)}" for name, text in found.names)
    said = f"the test says: {said}" if said else ""
    return "; ".join(part for part in (": ".join(filter(None, (told, _where(found)))), said) if part) + where


def _where(found: CaseReport) -> str:
    """Where two values first differ, where more than that can be said than that they do."""
    if found.op not in ("==", "assertEqual") or found.expected is None or found.actual is None:
        return ""
    difference = get_checker("python").rules["value"](_value(found.expected), _value(found.actual))
    return difference.message if difference is not None and difference.path else ""


def show_sides(found: CaseReport, result: CaseResult) -> None:
    room = SHOWN_WHEN_RIGHT if result.verdict is Verdict.PASSED else SHOWN_WHEN_WRONG
    if found.actual is not None:
        result.actual = render(_value(found.actual), room)
    if found.expected is not None:
        result.expected = render(_value(found.expected), room)


def _value(text: str) -> object:
    try:
        return decoded(text.encode())
    except BadValueError:
        return Opaque("object", text[:200])


class SplitRun(_Suite):
    """The test in a process of its own."""

    _check: SuiteProcess | None = None
    _final = True
    _last_operation = ""
    _executed = 0
    """How many asserts have been."""
    _over = False
    """Whether the test cases that are left can't be run."""

    def __exit__(self, *raised: object) -> None:
        try:
            self._end_check()
        finally:
            super().__exit__(*raised)

    def _end_check(self) -> None:
        check, self._check = self._check, None
        if check is not None:
            check.close()

    def _run(self, place: int) -> CaseResult | None:
        if self._over:
            return None
        runs: list[SuiteCase] = []

        def run_case(wall_s: float) -> Outcome:
            check = self._made_ready(place)
            if self._execution.not_loaded is not None:
                return self._execution.not_loaded
            assert check is not None
            runs.append(check.case(place))
            return self._execution.run_case(runs[-1], wall_s=wall_s)

        outcome = attempt_by(run_case, self._limits, self._bench, self._execution)
        case = self._plan.cases[place]
        if not runs:
            self._calls.append(None)
            return result_of(case.index, outcome)
        case_run = runs[-1]
        self._note(case.index, outcome, case_run.found)
        with stage("compare"):
            result = self._judged(case, outcome, case_run)
        if result.verdict is not Verdict.PASSED:
            self._doubt(outcome, case_run)
        self._decide(case_run.found, result)
        self._executed += 0 if case_run.found is None else case_run.found.asserts
        return result

    def run(self) -> SuiteRun:
        found = super().run()
        if found.passed and not self._executed:
            found.unsure = found.unsure or "the test came to its end and no assert was executed"
        found.final = self._final or any(case.verdict is Verdict.REJECTED for case in found.cases)
        found.last_operation = self._last_operation
        return found

    def _doubt(self, outcome: Outcome, case_run: SuiteCase) -> None:
        """Whether a plain run could find that this test case passes."""
        used_up = outcome.status is Status.TIME and outcome.cpu_s >= self._limits.cpu_s
        if self._final and not used_up and not case_run.final:
            self._final, self._last_operation = False, case_run.last_operation

    def _decide(self, found: CaseReport | None, result: CaseResult) -> None:
        """Whether the test cases after this one can be run."""
        plan = self._plan
        if plan.form is Form.METHODS or result.verdict is Verdict.PASSED:
            return
        ended = found is None or not self._execution.begun
        if (ended and not plan.restarts) or (found is not None and found.setup) or not plan.goes_on:
            self._over = True

    def _made_ready(self, place: int) -> SuiteProcess | None:
        """Two processes that know of each other: when one of them has ended, so must the other."""
        check = self._check
        if check is not None and check.usable and self._execution.begun:
            return check
        self._end_check()
        self._execution.start_again()
        completion = self._execution.start(wall_s=self._limits.wall_s)
        if completion is None:
            return None
        with stage("sandbox start"):
            check = self._bench.sandbox.start_suite(self._program, self._plan.suite, self._limits, completion)
        self._check = check
        for earlier in () if self._plan.restarts else range(place):
            self._execution.run_case(check.case(earlier), wall_s=self._limits.wall_s)
        return check


_Counts = tuple[int, ...] | None
"""How many asserts a task's reference executes in each test case; None where it does not pass."""


class PlainRun(_Suite):
    """The test in the completion's own process: what that says may be made up, but for its ends."""

    def __init__(
        self,
        task: Task,
        plan: SuitePlan,
        code: str,
        limits: Limits,
        bench: Bench,
        wanted: _Counts,
        *,
        audits: bool = False,
    ) -> None:
        """`wanted`: how many asserts are to be executed in each test case; None: at least one in all.

        `audits`: whether what the code lacks is noted, which needs code that can be trusted.
        """
        super().__init__(task, plan, code, limits, bench, together=True, audits=audits)
        self._wanted = wanted
        self.executed: list[int] = []
        self.lacking: tuple[str, ...] = ()

    def _run(self, place: int) -> CaseResult | None:
        runs: list[PlainCase] = []

        def run_case(wall_s: float) -> Outcome:
            code = self._bench.sandbox.compiled.of(self._plan.suite)
            runs.append(PlainCase(self._plan.suite, place, self._program.source, code))
            return self._execution.run_case(runs[-1], wall_s=wall_s)

        outcome = attempt_by(run_case, self._limits, self._bench, self._execution)
        case_run = runs[-1]
        case = self._plan.cases[place]
        self._note(case.index, outcome, case_run.found)
        with stage("compare"):
            result = self._judged(case, outcome, case_run)
        self._count(place, case_run.found, result)
        self.lacking = tuple(case_run.found.lacking) if case_run.found is not None else self.lacking
        return result

    def run(self) -> SuiteRun:
        found = super().run()
        if self._wanted is None and not any(self.executed) and found.cases[-1].verdict is Verdict.PASSED:
            _fail(found.cases[-1], "no assert was executed")
        return found

    def _count(self, place: int, found: CaseReport | None, result: CaseResult) -> None:
        executed = 0 if found is None else found.asserts
        self.executed.append(executed)
        wanted = 0 if self._wanted is None else self._wanted[place]
        if result.verdict is Verdict.PASSED and executed < wanted:
            _fail(result, f"{executed} of {wanted} asserts were executed")


def _fail(result: CaseResult, told: str) -> None:
    result.verdict = Verdict.WRONG_ANSWER
    result.difference = Difference(told)


class ReferenceRun(NamedTuple):
    """What a task's own reference does with the test in its process."""

    executed: _Counts
    lacking: tuple[str, ...]
    """What it asked of the machine that is not to be had in the sandbox."""


_references: Remembered[tuple[object, ...], ReferenceRun] = Remembered(64)


def run_reference(task: Task, plan: SuitePlan, limits: Limits, bench: Bench) -> ReferenceRun | None:
    """None where there is none. Raises as `grade` does."""
    reference = task.reference
    if reference is None:
        return None

    def ran() -> ReferenceRun:
        none = (0,) * len(plan.cases)
        with PlainRun(task, plan, reference, limits, bench, none, audits=True) as together:
            cases = together.run().cases
        passed = all(case.verdict is Verdict.PASSED for case in cases)
        return ReferenceRun(tuple(together.executed) if passed else None, together.lacking)

    return _references.get((plan.suite, reference, limits), ran)
