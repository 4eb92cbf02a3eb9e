"""The `tests` grader: runs a completion on every test case.

The reward is 1.0 if all pass, else 0.0; with `reward` "fraction" the share of the test cases that passed, with
"weighted" their share of the task's `weights` (one per test case, in order; by default equal).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Literal

import msgspec

from evaluator import flags
from evaluator.cases import (
    SHOWN_WHEN_RIGHT,
    SHOWN_WHEN_WRONG,
    Bench,
    attempt,
    early_exit,
    excerpt,
    explain_carriage_returns,
    explain_undefined,
    not_run,
    passed,
    reject_if_tampered,
    result_of,
    run_cases,
)
from evaluator.checkers import render
from evaluator.excerpts import keep_texts, keep_values
from evaluator.extraction import extract
from evaluator.graders.answers import conclude, unknown_grade
from evaluator.graders.checker_code import TaskChecker, why_unverified
from evaluator.graders.grader import Grader, nothing_more, refusal_by, withheld
from evaluator.graders.plans import CasePlan, PlannedCase, plan_for, test_cases
from evaluator.lru_cache import LruCache
from evaluator.model import CaseResult, Difference, Flag, Grade, Limits, RecordError, Rollout, Task, Verdict
from evaluator.options import task_limits
from evaluator.sandbox import Outcome, Program, Status, encoded_call
from evaluator.sandbox.host.program import header_of
from evaluator.stages import stage
from evaluator.suites.reading import UngradableError
from evaluator.suites.reading.plan import SuitePlan
from evaluator.suites.rule import grade_suite, limits_of

Reward = Literal["all", "fraction", "weighted"]

_END = "the preamble has come to its end"
_PROBE = f"raise RuntimeError({_END!r})"
"""Replaces the completion: it fails as a program and as a module."""

_failures: LruCache[tuple[str, str | None, bytes, Limits], str | None] = LruCache(256)


class Config(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How to compute the reward."""

    reward: Reward = "all"


def make(config: Config) -> Grader:
    plan = partial(plan_for, checker=None)
    return Grader(
        "tests",
        partial(grade, reward=config.reward),
        test_cases,
        refusal=partial(refusal_by, plan),
        kept_by=nothing_more,
    )


def grade(
    task: Task,
    rollout: Rollout,
    bench: Bench,
    *,
    reward: Reward = "all",
    prepare: Callable[[CasePlan], CasePlan] = lambda plan: plan,
) -> Grade:
    """Grades one rollout. `prepare` may change how answers are judged.

    Raises `FaultError` if the sandbox failed, `SandboxUnavailable` if there is none, `RecordError` for bad limits.
    """
    options = bench.options
    if reward != "all":
        bench = replace(bench, all_or_nothing=False)
    result = unknown_grade(rollout, "tests")
    result.limits = task_limits(task, options)
    with stage("extraction"):
        in_thoughts = options.unfinished_thinking == "grade"
        extraction = extract(rollout.completion, task=task, kind=rollout.kind, unfinished_thinking=in_thoughts)
    result.code, result.kind, result.line_offset = extraction.code, extraction.kind, extraction.line_offset
    result.extracted_from = extraction.extracted_from
    try:
        plan = plan_for(task, options.checker)
    except UngradableError as error:
        result.error_message = str(error)
        return result
    if isinstance(plan, SuitePlan):
        result.limits = limits_of(task, plan, result.limits, bench)
    if result.limits.processes and not bench.sandbox.allows_processes:
        result.error_message = "limits.processes requires user namespaces: see `rollscope doctor`"
        return result
    result.checker = plan.checker if isinstance(plan, CasePlan) else None
    fault = None
    if extraction.code is None:
        result.cases = tuple(map(not_run, plan.cases if isinstance(plan, SuitePlan) else plan.test_cases))
    elif isinstance(plan, SuitePlan):
        fault = _grade_by_suite(task, plan, extraction.code, result, bench)
    else:
        fault = _grade_by_answers(task, prepare(plan), extraction.code, result, bench)
    result.layers = bench.sandbox.layers
    if fault is not None:
        result.cases, result.error_message = (), fault
        return result
    if failed := [case for case in result.cases if case.verdict is not Verdict.PASSED]:
        explain_undefined(failed)
        explain_carriage_returns(failed, task)
    failing = conclude(result, extraction.reason if extraction.code is None else None)
    result.error_line = failing.error_line if failing is not None else None
    if reward != "all" and any(case.verdict is Verdict.UNKNOWN for case in result.cases):
        result.verdict, result.pass_rate = Verdict.UNKNOWN, None  # its share is not known
    result.reward = _reward(result, task, reward)
    return withheld(result, options.unverified)


def _grade_by_answers(task: Task, plan: CasePlan, code: str, result: Grade, bench: Bench) -> str | None:
    """Sets the cases, or returns why the task can't be graded."""
    notes: list[Flag] = []
    cases = _grade_cases(task, code, plan, result.limits, bench, notes)
    fault = _fault_of_preamble(task, plan, cases, result.limits, bench)
    if fault is None:
        result.cases = tuple(cases)
        if plan.checker_code is not None and any(case.verdict is Verdict.PASSED for case in cases):
            result.unverified_reason = why_unverified(plan.checker_code)
            result.verified = result.unverified_reason is None
        if plan.of_two_readings:
            notes += _wrapped_output(plan, cases)
        result.flags = flags.flags_of(task, code, cases, notes, plan.answers)
    return fault


def _wrapped_output(plan: CasePlan, cases: list[CaseResult]) -> Iterator[Flag]:
    """A note where both readings of a wrapped output pass."""
    passed = {case.index for case in cases if case.verdict is Verdict.PASSED}
    for case in plan.of_two_readings:
        if case.also is not None and case.index in passed:
            both = f"both {case.expected[:40]} and {case.also[:40]} pass"
            yield Flag("wrapped_output", f"{both}: nothing says which is meant")
            return


def _grade_by_suite(task: Task, plan: SuitePlan, code: str, result: Grade, bench: Bench) -> str | None:
    """Sets the cases, and whether they are verified; or returns why the task can't be graded."""
    with stage("run"):
        suite = grade_suite(task, plan, code, result.limits, bench)
        fault = suite.fault or _fault_of_suites_preamble(task, suite.cases, result.limits, bench)
    if fault is None:
        result.cases = tuple(suite.cases)
        result.verified, result.unverified_reason = suite.unverified is None, suite.unverified
        result.disagreement = suite.disagreement
        result.flags = flags.flags_of(task, code, suite.cases, suite.notes)
    return fault


def _fault_of_suites_preamble(task: Task, cases: list[CaseResult], limits: Limits, bench: Bench) -> str | None:
    """Like `_fault_of_preamble`, for a suite that could not be loaded."""
    first = cases[0]
    if not task.preamble or first.verdict is Verdict.PASSED or first.error_line is not None or first.difference:
        return None
    return _why_it_fails(task.preamble, task.entry_point or "check", encoded_call((), {}), limits, bench)


def _fault_of_preamble(task: Task, plan: CasePlan, cases: list[CaseResult], limits: Limits, bench: Bench) -> str | None:
    """Why the task's preamble is to blame for the first failing test case; None if the completion is."""
    if not plan.preamble:
        return None
    failing = next((place for place, case in enumerate(cases) if case.verdict is not Verdict.PASSED), None)
    if failing is None:
        return None
    has_answer = plan.by_value and cases[failing].verdict is Verdict.WRONG_ANSWER
    if has_answer or cases[failing].error_line is not None:
        return None  # the completion ran, so the preamble had run before
    entry_point = task.entry_point if plan.by_value else None
    with stage("run"):
        return _why_it_fails(plan.preamble, entry_point, plan.cases[failing].payload, limits, bench)


def _reward(result: Grade, task: Task, reward: Reward) -> float | None:
    """Raises `RecordError` if the weights do not fit the test cases."""
    if not result.verdict.graded:
        return None
    if reward == "all":
        return float(result.verdict is Verdict.PASSED)
    passed = [case.verdict is Verdict.PASSED for case in result.cases]
    weights = task.weights if reward == "weighted" and task.weights is not None else (1.0,) * len(passed)
    if len(weights) != len(passed):
        raise RecordError(f"weights: {len(weights)} for {len(passed)} test cases: give one per test case")
    if not (total := sum(weights)):
        raise RecordError("weights: all are 0: give at least one above 0")
    return sum(weight for weight, right in zip(weights, passed, strict=True) if right) / total


def _grade_cases(
    task: Task, code: str, plan: CasePlan, limits: Limits, bench: Bench, notes: list[Flag]
) -> list[CaseResult]:
    """The results; the sandbox's flags are added to `notes`."""
    program = Program(code, task.entry_point if plan.by_value else None, plan.preamble)
    reuse, several = bench.options.isolation == "completion", len(plan.cases) > 1
    with stage("sandbox start"):
        execution = bench.sandbox.execute(program, limits, reuse=reuse, several=several)
    checker = TaskChecker(plan.checker_code, bench) if plan.checker_code is not None else None
    with stage("run"), execution:
        tampering = ""
        ahead = execution.run_ahead(plan.payloads, wall_s=limits.wall_s, right=plan.right)

        def run(place: int) -> CaseResult:
            nonlocal tampering
            planned = plan.cases[place]
            outcome = ahead[place] if place < len(ahead) else attempt(planned.payload, limits, bench, execution)
            if outcome.notes:
                notes.extend(outcome.notes)
            if plan.by_value and outcome.exit_status is not None:
                notes.extend(early_exit(planned.case.index, outcome, notes))
            if outcome.right is not None and outcome.status is Status.ANSWERED and not outcome.exit_status:
                return passed(planned.case.index, outcome, planned.shown)
            result = _case_result(task, plan, planned, outcome)
            if checker is not None and result.verdict is Verdict.WRONG_ANSWER:
                tampering = tampering or execution.finish()  # its process has ended when the checker's starts
                checker.judge(result, planned, outcome.stdout.data)
            return result

        results = run_cases(plan.test_cases, run, execution, limits.total_s, bench)
        tampering = execution.finish() or tampering
    reject_if_tampered(results, tampering)
    return results


def _case_result(task: Task, plan: CasePlan, planned: PlannedCase, outcome: Outcome) -> CaseResult:
    result = result_of(planned.case.index, outcome)
    result.exit_code = None if plan.by_value else outcome.exit_status
    if outcome.status is Status.ANSWERED:
        if outcome.right is None:
            with stage("compare"):
                result.difference = _difference(plan, planned, outcome)
        if task.exit_code == "strict" and outcome.exit_status:
            result.verdict = Verdict.RUNTIME_ERROR
            result.error_message = f"exit status {outcome.exit_status}"
        elif result.difference is not None:
            result.verdict = Verdict.WRONG_ANSWER
    _keep_sides(result, plan, planned, outcome)
    return result


def _keep_sides(result: CaseResult, plan: CasePlan, planned: PlannedCase, outcome: Outcome) -> None:
    """Sets what is kept of both sides: of a long wrong answer, the part around the first difference."""
    passed, answered = result.verdict is Verdict.PASSED, outcome.status is Status.ANSWERED
    result.expected = excerpt(planned.case.expected, SHOWN_WHEN_RIGHT if passed else SHOWN_WHEN_WRONG)
    if outcome.right is not None and plan.by_value:
        result.actual = outcome.right
    elif not plan.by_value and passed:
        result.actual = excerpt(outcome.stdout.text(), SHOWN_WHEN_RIGHT)
    elif not plan.by_value:
        keep_texts(result, planned.case.expected, outcome.stdout.text())
    elif answered:
        with stage("compare"):
            result.actual = render(outcome.value, SHOWN_WHEN_RIGHT if passed else SHOWN_WHEN_WRONG)
            if (
                planned.is_known
                and not passed
                and max(len(result.actual), len(planned.case.expected)) > SHOWN_WHEN_WRONG
            ):
                keep_values(result, planned.expected, outcome.value)


def _difference(plan: CasePlan, planned: PlannedCase, outcome: Outcome) -> Difference | None:
    if plan.by_value:
        return planned.judge(outcome.value)
    return None if outcome.stdout.data in planned.right else planned.judge(outcome.stdout.text())


def _why_it_fails(preamble: str, entry_point: str | None, payload: bytes, limits: Limits, bench: Bench) -> str | None:
    """How the preamble alone fails on one input, as `Execution.run` takes it; None if it comes to its end.

    If it fails, the task is to blame, not the completion. The completion's process can't prove that: a completion could
    blame the task to avoid a 0. So the preamble runs again, without the completion, in a separate process.

    `entry_point`: None for a program that reads stdin. Raises `FaultError`.
    """
    may_read = entry_point is None and header_of(preamble) is None
    key = (preamble, entry_point, payload if may_read else b"", limits)
    return _failures.get(key, lambda: _failure_of(Program(_PROBE, entry_point, preamble), payload, limits, bench))


def _failure_of(program: Program, payload: bytes, limits: Limits, bench: Bench) -> str | None:
    with bench.sandbox.execute(program, limits, several=False) as execution:
        outcome = attempt(payload, limits, bench, execution)
    failure = outcome.failure
    if failure is not None and failure.message == _END and outcome.status in (Status.RAISED, Status.NOT_LOADED):
        return None
    return f"the task's preamble can't be run: {_reason(outcome)}"


def _reason(outcome: Outcome) -> str:
    failure = outcome.failure
    if outcome.message:
        return outcome.message
    if failure is not None:
        return f"{failure.type}: {failure.message}" if failure.message else failure.type
    return f"it ends the program with exit status {outcome.exit_status}"
