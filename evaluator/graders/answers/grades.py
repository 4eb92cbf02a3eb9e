"""What the graders of answers have in common: a grade that begins as unknown, and follows from its checks."""

from __future__ import annotations

from evaluator.model import Grade, Rollout, Verdict


def begun(rollout: Rollout, grader: str) -> Grade:
    """A grade of which nothing is known yet."""
    return Grade(
        task_id=rollout.task_id,
        sample_id=rollout.sample_id,
        verdict=Verdict.UNKNOWN,
        reward=None,
        grader=grader,
    )


def conclude(grade: Grade, nothing_found: str | None = None) -> None:
    """Verdict, message and pass rate from the grade's cases; or why there was nothing to look at."""
    failing = next((case for case in grade.cases if case.verdict is not Verdict.PASSED), None)
    grade.pass_rate = grade.tests_passed / grade.tests_total
    if nothing_found is not None:
        grade.verdict, grade.error_message = Verdict.NO_CODE, nothing_found
    elif failing is None:
        grade.verdict = Verdict.PASSED
    else:
        grade.verdict = failing.verdict
        grade.error_message = failing.difference.message if failing.difference else failing.error_message
