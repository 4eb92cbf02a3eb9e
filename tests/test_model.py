"""The records: limits, verdicts and grades."""

import pytest

from evaluator.model import CaseResult, Grade, Limits, RecordError, Verdict, limits_from


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


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("threads", 2**31, "limits.threads is too large: give at most 10,000"),
        ("processes", 10**18, "limits.processes is too large: give at most 10,000"),
        ("output_mb", 2**63, "limits.output_mb is too large: give at most 1,000,000,000"),
        ("wall_s", 10**400, "limits: "),
        ("threads", 10**400, "limits.threads is too large: give at most 10,000"),
        ("wall_s", "\ud800", "limits: Expected numbers, got text"),
        ("wall_s", float("nan"), "limits.wall_s is nan: give a number above 0"),
    ],
)
def test_limits_that_no_machine_can_keep_are_refused(name: str, value: object, told: str):
    with pytest.raises(RecordError) as refused:
        limits_from({name: value})
    assert str(refused.value).startswith(told)
