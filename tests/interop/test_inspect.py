"""The scorer for inspect_ai: the tests of its samples, and what a score says. `tests/trainers` has inspect_ai."""

import json
import math
from typing import Any

import pytest

from evaluator import grade
from evaluator.interop.inspect import score_fields, task_for
from evaluator.model import RecordError

ADD = "def add(a, b):\n    return a + b\n"
HUMANEVAL = {
    "prompt": "from typing import List\n\n\ndef total(numbers: List[int]) -> int:\n",
    "test": "def check(candidate):\n    assert candidate([1, 2]) == 3\n    assert candidate([]) == 0\n",
    "entry_point": "total",
}
TOTAL = "def total(numbers: List[int]) -> int:\n    return sum(numbers)\n"


def sample(metadata: object = None, target: str | list[str] = "") -> dict[str, Any]:
    target = [target] if isinstance(target, str) else target
    return {"id": "s", "input": "Write add.", "metadata": metadata or {}, "target": target}


def scored(given: dict[str, Any], completion: str, tests: str | None = None, **options: Any) -> dict[str, Any]:
    task = task_for(given, tests)
    return score_fields(task, grade(task, completion, **options), as_letter="grader" not in options)


@pytest.mark.parametrize("completion", [TOTAL, "    return sum(numbers)\n", f"Here:\n```python\n{TOTAL}```"])
def test_humaneval_keeps_its_tests_in_the_metadata(completion: str) -> None:
    score = scored(sample(HUMANEVAL, "    return sum(numbers)\n"), completion)
    assert (score["value"], score["metadata"]["tests_passed"], score["reason"]) == ("C", 2, None)


def test_mbpp_runs_the_imports_that_its_rows_name_and_apps_has_asserts_as_its_target() -> None:
    tests = ["assert add(1, 2) == 3", "assert math.isclose(add(0.1, 0.2), 0.3)"]
    row = {"task_id": 1, "prompt": "Add.", "code": ADD, "test_list": tests, "test_imports": ["import math"]}
    assert scored(sample(row, tests), ADD)["value"] == "C"
    asserts = ["assert solution([1, 2]) == 3", "assert solution([3, 4]) == 7"]
    code, share = "def solution(pair): return 3", "tests:reward=fraction"
    assert scored(sample({"question": "Add."}, asserts), code, grader=share)["value"] == 0.5


UNITTEST = """import unittest

class TestCases(unittest.TestCase):
    def test_sum(self):
        self.assertEqual(add(1, 2), 3)
"""
CALL = {"inputs": ["1\n2"], "outputs": ["3"], "fn_name": "add"}


@pytest.mark.parametrize(
    ("metadata", "target", "tests"),
    [
        ({"io": CALL}, "", "io"),
        ({"io": json.dumps(CALL)}, "", "io"),
        ({"in_outs": CALL}, "", None),
        ({}, "from math import pi\nassert add(1, 2) == 3", "target"),
        ({"check": "assert candidate(1, 2) == 3", "entry_point": "add"}, "", "check"),
        ({"test": UNITTEST.replace("add", "task_func")}, "", None),  # BigCodeBench's
        ({"suite": UNITTEST}, "", "suite"),
    ],
)
def test_where_the_tests_may_be(metadata: dict[str, object], target: str, tests: str | None) -> None:
    code = ADD.replace("add", "task_func") if "test" in metadata else ADD
    values = [scored(sample(metadata, target), each, tests)["value"] for each in (code, code.replace("+", "-"))]
    assert values == ["C", "I"]


def test_a_failure_says_what_was_expected_and_the_input() -> None:
    score = scored(sample({}, ["assert add(1, 2) == 3", "assert add(2, 2) == 5"]), f"Sure.\n```\n{ADD}```")
    failure = score["metadata"]["first_failure"]
    assert (failure["input"], failure["expected"], failure["actual"]) == ("assert add(2, 2) == 5", "5", "4")
    assert (score["answer"], score["metadata"]["verdict"]) == (ADD, "wrong_answer")
    assert score["explanation"].startswith("wrong_answer: 1 of 2 tests passed.\n\nFirst failure, test 1:")
    assert "expected 5, got 4" in score["explanation"]


def test_what_tests_nothing_is_wrong() -> None:
    score = scored(sample({}, ["assert add(1, 2) == 3"]), "```\n")
    assert (score["value"], score["answer"], score["reason"]) == ("I", None, "invalid_response_format")
    assert scored(sample({}, ["assert add(1, 2) == 3"]), "import sys\nsys.exit(0)")["value"] == "I"


def test_what_can_not_be_graded_has_no_value() -> None:
    score = scored(sample({"check": "assert 1 == 1"}), ADD, "check")
    assert math.isnan(score["value"])
    assert "the test never calls the completion" in score["explanation"]
    assert score["reason"] == "scoring_failed"


def test_a_sample_without_tests_is_refused() -> None:
    for given, tests, message in (
        (
            sample({}, "42"),
            None,
            r"neither metadata nor target has tests that can be read: .* code_tests\(tests=\.\.\.\)",
        ),
        (sample({"a": 1, "b": 2}), "tests", "metadata has no field 'tests'; it has a, b"),
        (sample({"tests": "assert ("}), "tests", "the test code is not valid Python: line 1"),
        (sample({}), "target", "the test code is empty"),
    ):
        with pytest.raises(RecordError, match=message):
            task_for(given, tests)
