"""The records: limits, verdicts and grades."""

from evaluator.model import CaseResult, Grade, Limits, Verdict


def test_limits_of_a_task_replace_only_what_they_name():
    limits = Limits().replaced({"wall_s": 2})
    assert (limits.wall_s, limits.cpu_s) == (2, Limits().cpu_s)


def test_every_verdict_has_its_own_letter():
    letters = [verdict.letter for verdict in Verdict]
    assert "".join(letters) == "PWECTMONRS?."


def test_a_grade_tells_its_first_failing_test():
    cases = tuple(
        CaseResult(index=index, verdict=verdict)
        for index, verdict in enumerate((Verdict.PASSED, Verdict.NOT_RUN, Verdict.WRONG_ANSWER))
    )
    grade = Grade(task_id="t", sample_id="s", verdict=Verdict.WRONG_ANSWER, reward=0.0, cases=cases)
    assert (grade.tests_passed, grade.tests_total, grade.first_failing_test) == (1, 3, 1)
