"""Suites of unittest: unittest runs in the test's process, and every method is a test case."""

import pytest

from evaluator.model import Verdict
from tests.graders.conftest import Graded
from tests.graders.split_tasks import suite_task

NOTHING_TESTED = {
    "no test methods": "class Test(unittest.TestCase):\n    def helper(self): self.assertEqual(f(1), 2)",
    "class skipped": "@unittest.skip('not now')\nclass Test(unittest.TestCase):\n    def test_it(self): pass",
    "skips itself": "class Test(unittest.TestCase):\n    def test_it(self): self.skipTest('not now')",
}


@pytest.mark.parametrize("test", NOTHING_TESTED.values(), ids=NOTHING_TESTED)
def test_a_suite_that_tests_nothing_is_not_passed(graded: Graded, test: str) -> None:
    grade = graded(suite_task("import unittest\n" + test), "def f(n): return 2 * n")
    assert (grade.verdict, grade.reward) == (Verdict.UNKNOWN, None)
    assert grade.error_message


THREE_METHODS = """
import unittest
class Test(unittest.TestCase):
    def test_double(self): self.assertEqual(f(2), 4)
    def test_negative(self): self.assertEqual(f(-1), -2)
    def test_zero(self): self.assertEqual(f(0), 0)
"""


def test_every_method_is_a_test_case(graded: Graded) -> None:
    grade = graded(suite_task(THREE_METHODS), "def f(n): return abs(2 * n)")
    assert [case.verdict for case in grade.cases] == [Verdict.PASSED, Verdict.WRONG_ANSWER, Verdict.PASSED]
    assert grade.first_failing_test == 1


def test_a_skipped_method_leaves_the_grade_unknown(graded: Graded) -> None:
    skips = THREE_METHODS.replace("    def test_zero", "    @unittest.skip('not now')\n    def test_zero")
    assert graded(suite_task(skips), "def f(n): return 2 * n").verdict is Verdict.UNKNOWN


@pytest.mark.parametrize("ending", ["raise unittest.SkipTest", "raise SystemExit(0)", "return None"])
def test_no_completion_can_skip_a_test(graded: Graded, ending: str) -> None:
    """An `unknown` rollout has no reward, so a completion that could cause one would escape its 0."""
    assert graded(suite_task(THREE_METHODS), f"import unittest\ndef f(n): {ending}").reward == 0.0


@pytest.mark.parametrize("imported", ["", "import inspect\n"], ids=["two processes", "one process"])
def test_memory_is_measured_for_every_method(graded: Graded, imported: str) -> None:
    grade = graded(suite_task(imported + THREE_METHODS + (imported and "inspect.stack()")), "def f(n): return 2 * n")
    assert grade.verified is not bool(imported)
    assert [case.memory_mb > 1 for case in grade.cases] == [True] * 3
