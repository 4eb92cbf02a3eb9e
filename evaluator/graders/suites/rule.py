"""The grade of a test suite: which of its two runs decides, and what becomes of one on which they disagree.

With the test in its own process (`SplitRun`) a completion may pass. It fails by that alone where plain data decided
it: else the same test is run once more in the completion's process (`PlainRun`), as most graders run it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Final

import msgspec

from evaluator import flags
from evaluator.assertions.needs import Need
from evaluator.assertions.plan import SuitePlan
from evaluator.graders.bench import Bench
from evaluator.graders.suites.run import CannotRunError, PlainRun, SplitRun, SuiteRun, run_reference
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
from evaluator.sandbox.limits.refusals import may_try

_TAMPERING: Final = frozenset(("early_exit", "frame_walking", "gc_walking", "ctypes", "patched_builtins"))
"""Flags of what no honest completion needs: its plain run is not asked for."""
_CHANGING: Final = "(?:datetime|random|secrets|tempfile|time|uuid)"
_NOT_REPEATABLE: Final = re.compile(rf"\bimport[^\n]*\b{_CHANGING}\b|\bfrom {_CHANGING}\b|\b(?:hash|id)\(")
_NO_FILES: Final = "the test works with files, which two processes can share only where there are user namespaces"
_PROCESSES: Final = 32
"""That a completion may start, where its task needs some and says nothing of how many."""


@dataclass
class Checked:
    """What a suite found."""

    cases: list[CaseResult] = field(default_factory=list)
    notes: list[Flag] = field(default_factory=list)
    unverified: str | None = None
    """Why the grade is not verified; None where it is."""
    disagreement: Disagreement | None = None
    fault: str | None = None
    """Why the task can't be graded: its test can't be run, or not in this sandbox."""

    @property
    def passed(self) -> bool:
        return all(case.verdict is Verdict.PASSED for case in self.cases)


def limits_of(task: Task, plan: SuitePlan, limits: Limits, bench: Bench) -> Limits:
    """With the processes that the task needs, where the sandbox can let it start some."""
    named = task.limits is not None and "processes" in task.limits
    if named or limits.processes or Need.PROCESSES not in plan.needs or not bench.sandbox.allows_processes:
        return limits
    return msgspec.structs.replace(limits, processes=_PROCESSES)


def grade_check(task: Task, plan: SuitePlan, code: str, limits: Limits, bench: Bench) -> Checked:
    """Grades code by a task's suite. Raises as `grade` does."""
    try:
        checked = _graded(task, plan, code, limits, bench)
        if not checked.passed:
            checked.fault = _what_is_lacking(task, plan, limits, bench)
        return checked
    except CannotRunError as error:
        return Checked(fault=str(error))


def _graded(task: Task, plan: SuitePlan, code: str, limits: Limits, bench: Bench) -> Checked:
    reason = plan.one_process
    if reason is None and "files" in plan.suite.uses and not bench.sandbox.shares_files:
        reason = _NO_FILES
    if reason is not None:
        plain = plain_run(task, plan, code, limits, bench)
        return Checked(plain.cases, plain.notes, reason)
    with SplitRun(task, plan, code, limits, bench) as suite:
        apart = suite.run()
    if apart.passed or apart.final or _is_tampering(task, code, apart):
        return Checked(apart.cases, apart.notes, apart.unsure)
    return _of_both(task, plan, code, limits, bench, apart)


def _what_is_lacking(task: Task, plan: SuitePlan, limits: Limits, bench: Bench) -> str | None:
    """Why nobody could pass here: what the task needs, or its own reference asks for, that the sandbox refuses."""
    if plan.needs and not bench.sandbox.allows_processes:
        return f"the task needs {min(plan.needs)}, which takes user namespaces: see `rollscope doctor`"
    if task.reference is None or not may_try(f"{task.preamble}\n{task.reference}"):
        return None
    reference = run_reference(task, plan, limits, bench)
    if reference is None or reference.executed is not None or not reference.lacking:
        return None
    return f"the task's own reference {reference.lacking[0]}, which can't be had in the sandbox"


def plain_run(task: Task, plan: SuitePlan, code: str, limits: Limits, bench: Bench) -> SuiteRun:
    """The test in the completion's process, as most graders run it. Raises `CannotRunError`, and what `grade` does."""
    reference = run_reference(task, plan, limits, bench)
    wanted = None if reference is None else reference.executed
    with PlainRun(task, plan, code, limits, bench, wanted) as suite:
        return suite.run()


def _is_tampering(task: Task, code: str, run: SuiteRun) -> bool:
    found = flags.flags_of(task, f"{task.preamble}\n{code}", run.cases, run.notes)  # whose imports the code may use
    return any(flag.word in _TAMPERING for flag in found)


def _of_both(task: Task, plan: SuitePlan, code: str, limits: Limits, bench: Bench, apart: SuiteRun) -> Checked:
    """The grade where the first run did not pass and is not final."""
    try:
        plain = plain_run(task, plan, code, limits, bench)
    except CannotRunError:  # of a test that ran before: it is the completion that is in its way
        return Checked(apart.cases, apart.notes)
    rejected = any(case.verdict is Verdict.REJECTED for case in plain.cases)
    if rejected or _is_tampering(task, code, plain):
        return Checked(apart.cases, apart.notes)
    differing = _differing(apart, plain)
    if not plain.passed:
        return Checked(_agreed(plain.cases, differing), plain.notes)
    if told := _answered_differently(task, plan, code, limits, bench):
        return Checked(apart.cases, [*apart.notes, Flag("differs_between_runs", told)])
    disagreement = Disagreement(
        apart=apart.verdict, plain=Verdict.PASSED, cases=tuple(differing), last_operation=apart.last_operation
    )
    reason = _disagrees(apart.verdict)
    match bench.options.disagreement:
        case "keep":
            return Checked(plain.cases, plain.notes, reason, disagreement)
        case "fail":
            return Checked(apart.cases, apart.notes, reason, disagreement)
        case _:
            return Checked(_agreed(plain.cases, differing), plain.notes, reason, disagreement)


def _answered_differently(task: Task, plan: SuitePlan, code: str, limits: Limits, bench: Bench) -> str:
    """Which call had another answer in each of two more runs, though nothing of the task's is random; else empty."""
    texts = (task.prompt, task.preamble, task.test, task.reference)
    if any(_NOT_REPEATABLE.search(text) for text in texts if text):
        return ""
    noting = replace(plan, suite=msgspec.structs.replace(plan.suite, records=True))
    with SplitRun(task, noting, code, limits, bench) as suite:
        apart = suite.run()
    with PlainRun(task, noting, code, limits, bench, None) as suite:
        plain = suite.run()
    for case, (one, other) in enumerate(zip(apart.calls, plain.calls, strict=False)):
        if one is None or other is None:
            return ""  # its processes were made anew, or not: what is answered from here on may depend on that
        for call, (noted, again) in enumerate(zip(one, other, strict=False), 1):
            pairs = list(zip(noted.split(" "), again.split(" "), strict=True))
            if "-" in pairs[1]:
                return ""  # it was given more than data: what it answers from here on depends on that too
            if any(left != right and "-" not in (left, right) for left, right in pairs):
                return f"test {case}: call {call} of the test, {noted.partition(' ')[0]}, was answered differently"
    return ""


def _differing(apart: SuiteRun, plain: SuiteRun) -> list[CaseDisagreement]:
    """The test cases that failed in the first run alone."""
    return [
        CaseDisagreement(
            index=one.index, apart=one.verdict, plain=other.verdict, apart_message=_message(one),
            plain_message=_message(other),
        )
        for one, other in zip(apart.cases, plain.cases, strict=True)
        if one.verdict is not Verdict.PASSED and other.verdict is Verdict.PASSED
    ]  # fmt: skip


def _disagrees(apart: Verdict) -> str:
    return f"{SPLIT_DISAGREES}: {apart} with the test in a process of its own, passed without"


def _message(case: CaseResult) -> str:
    return case.error_message or (case.difference.message if case.difference else "")


def _agreed(cases: list[CaseResult], differing: list[CaseDisagreement]) -> list[CaseResult]:
    """The results of the plain run, but for those with which the first run does not agree: they are unknown."""
    doubtful = {each.index: each for each in differing}
    return [
        msgspec.structs.replace(
            case,
            verdict=Verdict.UNKNOWN,
            error_message=_disagrees(doubtful[case.index].apart),
        )
        if case.index in doubtful
        else case
        for case in cases
    ]
