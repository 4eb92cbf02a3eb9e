"""What graders share: a grade that is unknown at first and follows from its test cases, and graders of answers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from evaluator.cases import SHOWN_WHEN_RIGHT, SHOWN_WHEN_WRONG, Bench, excerpt
from evaluator.graders.grader import Grader, nothing_more, refusal_by
from evaluator.model import CaseResult, Difference, Grade, Rollout, Task, TestCase, Verdict
from evaluator.suites.reading import UngradableError


def unknown_grade(rollout: Rollout, grader: str, why: str | None = None) -> Grade:
    """A grade about which nothing is known yet, or ever, which `why` explains."""
    return Grade(
        task_id=rollout.task_id,
        sample_id=rollout.sample_id,
        verdict=Verdict.UNKNOWN,
        reward=None,
        grader=grader,
        error_message=why,
    )


def answer_grader(
    name: str,
    cases: Callable[[Task], tuple[TestCase, ...]],
    complete: Callable[[Task, Rollout, Bench, Grade], None],
    *,
    waits: int = 0,
) -> Grader:
    """A grader that runs no code. `cases` and `complete` raise `UngradableError` if the task can't be graded."""

    def grade(task: Task, rollout: Rollout, bench: Bench) -> Grade:
        result = unknown_grade(rollout, name)
        try:
            complete(task, rollout, bench, result)
        except UngradableError as error:
            result.error_message = str(error)
        return result

    def test_cases(task: Task) -> tuple[TestCase, ...]:
        try:
            return cases(task)
        except UngradableError:
            return ()

    return Grader(
        name,
        grade,
        test_cases,
        refusal=partial(refusal_by, cases),
        runs_code=False,
        waits=waits,
        kept_by=None if waits else nothing_more,
    )


def case_result(case: TestCase, actual: str | None, problem: str | None, room: int | None = None) -> CaseResult:
    """`problem`: what is wrong with the answer; None if it passes. `room`: how many characters are kept."""
    room = room or (SHOWN_WHEN_RIGHT if problem is None else SHOWN_WHEN_WRONG)
    return CaseResult(
        index=case.index,
        verdict=Verdict.PASSED if problem is None else Verdict.WRONG_ANSWER,
        expected=excerpt(case.expected, room),
        actual=None if actual is None else excerpt(actual, room),
        difference=None if problem is None else Difference(problem),
    )


def conclude(grade: Grade, why_no_answer: str | None = None) -> CaseResult | None:
    """Sets verdict, error and pass rate from the grade's cases, or says why there was no answer.

    Returns the case that decides: the first failing one, or else the first unknown one.
    """
    others = [case for case in grade.cases if case.verdict is not Verdict.PASSED]
    failing = next((case for case in others if case.verdict.graded), others[0] if others else None)
    if why_no_answer is not None:
        grade.verdict, grade.error_message = Verdict.NO_CODE, why_no_answer
    elif failing is None:
        grade.verdict = Verdict.PASSED
    else:
        unknown = failing.verdict is Verdict.UNKNOWN
        grade.verdict, grade.error_type = failing.verdict, failing.error_type
        grade.error_message = (unknown and grade.unverified_reason) or failing.error_message
        if grade.error_message is None and failing.difference is not None:
            grade.error_message = failing.difference.message
    if grade.verdict.graded:
        grade.pass_rate = (len(grade.cases) - len(others)) / len(grade.cases)
    return failing
