"""Test code as harnesses run it after a program becomes a task, with the function to call where it names one."""

import pytest

from evaluator import grade
from evaluator.formats.tests_alone import task_of_code
from evaluator.model import Kind, Mode, RecordError, Verdict

ADD = "LIMIT = 3\n\ndef add(a, b):\n    return a + b\n"
CHECK = "def check(candidate):\n    assert candidate(1, 2) == 3\n"
UNITTEST = (
    "import unittest\n\nclass T(unittest.TestCase):\n    def test_it(self):\n        self.assertEqual(add(1, 2), 3)\n"
)


@pytest.mark.parametrize(
    ("test", "entry_point"),
    [
        ("assert add(1, 2) == 3\nassert add(0, 0) == 0", "add"),
        ("import math\nfrom math import pi\nassert math.isclose(add(pi, 0), pi)", "add"),
        (f"METADATA = {{}}\n\n{CHECK}\n\ncheck(add)\n", "add"),
        (f"{CHECK}\ncheck(sub)\ncheck(add)\n", "add"),
        ("for n in range(3):\n    assert add(n, n) == 2 * n", None),
        ("assert LIMIT == 3", None),
        (UNITTEST, None),
    ],
)
def test_the_function_that_test_code_names_and_that_it_judges(test: str, entry_point: str | None) -> None:
    task = task_of_code(test, "t")
    assert task.entry_point == entry_point
    assert grade(task, ADD, kind=Kind.FULL).verdict is Verdict.PASSED
    wrong = ADD.replace("a + b", "a + b + 1").replace("3", "4")
    assert grade(task, wrong, kind=Kind.FULL).verdict is Verdict.WRONG_ANSWER


def test_a_name_given_wins_and_the_prompt_may_be_continued() -> None:
    task = task_of_code(CHECK, "t", entry_point="add", prompt="def add(a, b):\n")
    assert (task.entry_point, task.mode) == ("add", Mode.ASSERT)
    assert grade(task, "    return a + b\n").verdict is Verdict.PASSED


@pytest.mark.parametrize(
    ("test", "message"),
    [
        (" \n", "the test code is empty"),
        ("x = 1\nassert (", r"not valid Python: line 2: '\(' was never closed"),
        ("assert add(1)\0", "the test code is not valid Python: "),
    ],
)
def test_what_is_no_test_code_is_refused(test: str, message: str) -> None:
    with pytest.raises(RecordError, match=message):
        task_of_code(test, "t")
