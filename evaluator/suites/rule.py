"""The grade of a test suite: which of its two runs decides, and what follows if they disagree.

With the test in a separate process (`SeparateProcessRun`) a completion may pass. It fails by that alone if plain data
decided: otherwise the same test runs once more in the completion's process (`SharedProcessRun`), as graders mostly do.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

import msgspec

from evaluator import flags
from evaluator.cases import Bench
from evaluator.lru_cache import LruCache
from evaluator.model import (
    SPLIT_DISAGREES,
    CaseDisagreement,
    CaseResult,
    Disagreement,
    Flag,
    Limits,
    Task,
    Verdict,
)
from evaluator.sandbox.host.limits.refusals import may_try
from evaluator.suites.host.suite_process import NOT_POSSIBLE
from evaluator.suites.reading.one_process import Reason
from evaluator.suites.reading.plan import SuitePlan
from evaluator.suites.reading.uses import Need
from evaluator.suites.run import CannotRunError, SeparateProcessRun, SharedProcessRun, SuiteRun, run_reference

_TAMPERING: Final = frozenset(("early_exit", "frame_walking", "gc_walking", "ctypes", "patched_builtins"))
"""Flags of what no honest completion needs: such code is not run in one process."""
_LINKS: Final = re.compile(r"\b(?:sym)?link[ \t]*\(|\b(?:hard|sym)link_to\b")
"""Refused where completion and test share a folder: what the test reads there must be what it seems."""
_NOTHING_LEFT: Final = (
    "the run in two processes failed, and left too little of limits.total_s for the run in one, which decides"
)
_LEAST_S: Final = 0.1
"""Of `total_s`, for a run after which nothing is left: it ends at once, as a run that takes too long."""
_PROCESSES: Final = 32
"""How many a completion may start if its task needs some and sets no limit."""


@dataclass
class SuiteGrade:
    """The result of a suite."""

    cases: list[CaseResult] = field(default_factory=list)
    notes: list[Flag] = field(default_factory=list)
    unverified: str | None = None
    """Why the grade is not verified; None if it is."""
    disagreement: Disagreement | None = None
    fault: str | None = None
    """Why the task can't be graded: its test can't run, or not in this sandbox."""

    @property
    def passed(self) -> bool:
        return all(case.verdict is Verdict.PASSED for case in self.cases)


def limits_of(task: Task, plan: SuitePlan, limits: Limits, bench: Bench) -> Limits:
    """The limits with the processes that the task needs, if the sandbox can allow any."""
    is_set = task.limits is not None and "processes" in task.limits
    if is_set or limits.processes or Need.PROCESSES not in plan.needs or not bench.sandbox.allows_processes:
        return limits
    return msgspec.structs.replace(limits, processes=_PROCESSES)


def grade_suite(task: Task, plan: SuitePlan, code: str, limits: Limits, bench: Bench) -> SuiteGrade:
    """Grades code by a task's suite. Raises what `grade` raises."""
    try:
        try:
            result = _graded(task, plan, code, limits, bench)
        except CannotRunError:
            if not _passes_reference(task, plan, limits, bench):
                raise
            result = _graded(task, replace(plan, runs=True), code, limits, bench)
        if not result.passed:
            result.fault = _missing_need(task, plan, limits, bench)
        return result
    except CannotRunError as error:
        return SuiteGrade(fault=str(error))


def _passes_reference(task: Task, plan: SuitePlan, limits: Limits, bench: Bench) -> bool:
    try:
        reference = run_reference(task, plan, limits, bench)
    except CannotRunError:
        return False
    return reference is not None and reference.executed is not None


def _graded(task: Task, plan: SuitePlan, code: str, limits: Limits, bench: Bench) -> SuiteGrade:
    reason = plan.one_process
    if reason is None and "files" in plan.suite.uses and not bench.sandbox.shares_files:
        reason = f"the test {Reason.FILES}"
    if reason is not None:
        shared = run_in_shared_process(task, plan, code, limits, bench)
        return SuiteGrade(shared.cases, shared.notes, reason)
    with SeparateProcessRun(task, plan, code, limits, bench) as suite:
        apart = suite.run()
    final = apart.final and not ("files" in plan.suite.uses and _LINKS.search(code))
    if apart.passed or final or _is_tampering(task, code, apart):
        unsure = apart.unsure or (plan.proves_nothing if apart.passed else None)
        return SuiteGrade(apart.cases, apart.notes, unsure)
    return _of_both(task, plan, code, limits, bench, apart)


def _missing_need(task: Task, plan: SuitePlan, limits: Limits, bench: Bench) -> str | None:
    """Why no completion could pass here: the sandbox refuses what the task, or its own reference, needs."""
    if plan.needs and not bench.sandbox.allows_processes:
        return f"the task needs {min(plan.needs)}, which require user namespaces: see `rollscope doctor`"
    if task.reference is None or not may_try(f"{task.preamble}\n{task.reference}"):
        return None
    reference = run_reference(task, plan, limits, bench)
    if reference is None or reference.executed is not None or not reference.lacking:
        return None
    return f"the task's own reference {reference.lacking[0]}, which the sandbox does not allow"


def run_in_shared_process(
    task: Task, plan: SuitePlan, code: str, limits: Limits, bench: Bench, left_s: float | None = None
) -> SuiteRun:
    """The test in the completion's process, as most graders run it. Raises `CannotRunError`, and what `grade` does.

    `left_s`: what an earlier run of the completion left of `limits.total_s`; None: there was none.
    """
    reference = run_reference(task, plan, limits, bench)
    rest = limits if left_s is None else _within(limits, left_s)
    with SharedProcessRun(task, plan, code, rest, bench, reference.executed if reference else None) as suite:
        return suite.run()


def _within(limits: Limits, left_s: float) -> Limits:
    return msgspec.structs.replace(limits, total_s=max(left_s, _LEAST_S))


def _is_tampering(task: Task, code: str, run: SuiteRun) -> bool:
    seen = flags.flags_of(task, f"{task.preamble}\n{code}", run.cases, run.notes)  # code may use the preamble's imports
    return any(flag.word in _TAMPERING for flag in seen)


def _of_both(task: Task, plan: SuitePlan, code: str, limits: Limits, bench: Bench, apart: SuiteRun) -> SuiteGrade:
    """The grade if the first run did not pass and is not final."""
    try:
        shared = run_in_shared_process(task, plan, code, limits, bench, apart.left_s)
    except CannotRunError:  # the test ran before, so the completion is the cause
        return SuiteGrade(apart.cases, apart.notes)
    rejected = any(case.verdict is Verdict.REJECTED for case in shared.cases)
    if rejected or _is_tampering(task, code, shared):
        return SuiteGrade(apart.cases, apart.notes)
    if not shared.passed and shared.left_s <= 0:
        failed = (case.index for case in apart.cases if case.verdict not in (Verdict.PASSED, Verdict.NOT_RUN))
        return SuiteGrade(_unknown(apart.cases, dict.fromkeys(failed, _NOTHING_LEFT)), apart.notes)
    differing = _differing(apart, shared)
    agreed = _unknown(shared.cases, {each.index: _disagrees(each.apart) for each in differing})
    if not shared.passed:
        return SuiteGrade(agreed, shared.notes)
    if reason := _one_process_reason(task, plan, limits, bench, apart):
        return SuiteGrade(shared.cases, shared.notes, reason)
    disagreement = Disagreement(apart=apart.verdict, plain=Verdict.PASSED, cases=tuple(differing))
    reason = _disagrees(apart.verdict)
    match bench.options.disagreement:
        case "keep":
            return SuiteGrade(shared.cases, shared.notes, reason, disagreement)
        case "fail":
            return SuiteGrade(apart.cases, apart.notes, reason, disagreement)
        case _:
            return SuiteGrade(agreed, shared.notes, reason, disagreement)


_reasons: LruCache[tuple[object, ...], frozenset[str | None]] = LruCache(64)


def _one_process_reason(task: Task, plan: SuitePlan, limits: Limits, bench: Bench, apart: SuiteRun) -> str | None:
    """Why the test can't run in two processes, if the reference can't pass it there for the same reasons."""
    reference = task.reference
    reasons = _messages(apart)
    if reference is None or not all(reason and reason.startswith(NOT_POSSIBLE) for reason in reasons):
        return None

    def run() -> frozenset[str | None]:
        with SeparateProcessRun(task, plan, reference, limits, bench) as suite:
            return frozenset(_messages(suite.run()))

    known = _reasons.get((plan.suite, reference, limits), run)
    return str(reasons[0]).removeprefix(NOT_POSSIBLE) if known.issuperset(reasons) else None


def _messages(run: SuiteRun) -> list[str | None]:
    return [case.error_message for case in run.cases if case.verdict not in (Verdict.PASSED, Verdict.NOT_RUN)]


def _differing(apart: SuiteRun, shared: SuiteRun) -> list[CaseDisagreement]:
    """The test cases that failed only in the first run."""
    return [
        CaseDisagreement(
            index=one.index, apart=one.verdict, plain=other.verdict, apart_message=one.reason or "",
            plain_message=other.reason or "",
        )
        for one, other in zip(apart.cases, shared.cases, strict=True)
        if one.verdict is not Verdict.PASSED and other.verdict is Verdict.PASSED
    ]  # fmt: skip


def _disagrees(apart: Verdict) -> str:
    return f"{SPLIT_DISAGREES}: {apart} in two processes, passed in one"


def _unknown(cases: list[CaseResult], messages: Mapping[int, str]) -> list[CaseResult]:
    """With those test cases unknown that have a message."""
    return [
        msgspec.structs.replace(case, verdict=Verdict.UNKNOWN, error_message=messages[case.index])
        if case.index in messages
        else case
        for case in cases
    ]
