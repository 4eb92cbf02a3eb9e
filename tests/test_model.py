"""The records: limits, verdicts and grades."""

import json
from pathlib import Path

import msgspec
import pytest

from evaluator.model import CaseResult, Grade, Limits, RecordError, Verdict, limits_from
from evaluator.options import Options, Settings, options_of


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
    assert repr(grade) == "<Grade s: wrong_answer, reward 0.0, 1 of 3 tests passed>"


def test_a_grade_as_a_truth_value_is_refused_and_as_a_dict_is_json():
    grade = Grade(task_id="t", sample_id="s", verdict=Verdict.UNKNOWN, reward=None, error_message="no\ntests " * 99)
    assert len(repr(grade).splitlines()[0]) == len(repr(grade)) < 200
    with pytest.raises(TypeError, match="neither true nor false"):
        assert grade
    told = grade.to_dict()
    assert (told["verdict"], told["passed"], told["limits"]["wall_s"]) == ("unknown", False, 10.0)
    assert msgspec.json.decode(json.dumps(told), type=Grade) == grade


def test_limits_and_python_as_keywords():
    base = Options(limits=Limits(total_s=5, threads=7), sandbox=Settings(strictness="degraded"))
    words = {"limits": {"wall_s": 2}, "timeout": 9, "memory": 2048, "python": Path("/p"), "grader": None}
    found = options_of(base, words)
    assert found.limits == Limits(wall_s=9, cpu_s=9, total_s=9, threads=7, memory_mb=2048, virtual_mb=8192)
    assert found.sandbox == Settings(strictness="degraded", python="/p")
    assert options_of(base, {"limits": {"wall_s": 2}}).limits == Limits(wall_s=2, total_s=5, threads=7)
    with pytest.raises(RecordError, match="unknown field `wal_s`"):
        options_of(None, {"limits": {"wal_s": 2}})


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
