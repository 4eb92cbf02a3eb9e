"""Suites of unittest: unittest runs in the test's process, and every method is a test case."""

from __future__ import annotations

import pytest

from evaluator.model import Verdict
from tests.graders.conftest import Graded
from tests.graders.split_tasks import LIAR, Answer, Row, each_answer, source, suite_task

_STACK = """
class EmptyError(IndexError): pass
class Stack:
    def __init__(self, items=()): self._items = list(items)
    def push(self, item): self._items.append(item)
    def pop(self):
        if not self._items: raise EmptyError('nothing is in there')
        return self._items.pop()
    def __len__(self): return len(self._items)
    def __iter__(self): return iter(self._items)
    def __contains__(self, item): return item in self._items
"""
_LYING_STACK = (
    LIAR
    + """
class EmptyError(IndexError): pass
class Stack(Liar):
    def __init__(self, items=()): pass
    def push(self, item): pass
    def pop(self): return Liar()
"""
)

# fmt: off
ROWS = [
    Row("a-class-of-the-completion", suite_task("""
            import unittest

            class StackTest(unittest.TestCase):
                def setUp(self):
                    self.stack = Stack()

                def test_push(self):
                    self.stack.push(1)
                    self.assertEqual(len(self.stack), 1)
                    self.assertIn(1, self.stack)

                def test_pop(self):
                    self.stack.push('a')
                    self.assertEqual(self.stack.pop(), 'a')
                    with self.assertRaises(EmptyError):
                        self.stack.pop()
                    with self.assertRaisesRegex(IndexError, '^nothing'):
                        self.stack.pop()

                def test_iter(self):
                    self.assertListEqual(list(Stack([1, 2])), [1, 2])
                    self.assertIsInstance(self.stack, Stack)
                    self.assertNotIn(3, self.stack)
            """, entry_point="Stack"),
        right=_STACK,
        wrong=_STACK.replace("raise EmptyError('nothing is in there')", "return None"),
        attack=_LYING_STACK + """
import unittest
for name in dir(unittest.TestCase):
    if name.startswith('assert') and 'Raises' not in name:
        setattr(unittest.TestCase, name, lambda *_, **__: None)
unittest.TestCase.assertRaises = unittest.TestCase.assertRaisesRegex = lambda *_: open('/dev/null')
Stack.__iter__ = lambda self: iter(())
"""),
]
# fmt: on


@each_answer(ROWS)
def test_suites_run_next_to_the_completion(graded: Graded, row: Row, answer: Answer) -> None:
    row.assert_judged(graded(row.task, row.completion(answer)), answer)


NOTHING_TESTED = {
    "no test methods": "class Test(unittest.TestCase):\n    def helper(self): self.assertEqual(f(1), 2)",
    "all skipped": "class Test(unittest.TestCase):\n    @unittest.skip('not now')\n    def test_it(self): pass",
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
    completion = source(f"import unittest\ndef f(n): {ending}")
    assert graded(suite_task(THREE_METHODS), completion).reward == 0.0


@pytest.mark.parametrize("imported", ["", "import inspect"], ids=["two processes", "one process"])
def test_memory_is_measured_for_every_method(graded: Graded, imported: str) -> None:
    grade = graded(
        suite_task(f"{imported}\n{THREE_METHODS}\n{imported and 'inspect.stack()'}"), "def f(n): return 2 * n"
    )
    assert grade.verified is not bool(imported)
    assert [case.memory_mb > 1 for case in grade.cases] == [True] * 3
