"""Suites on which the two runs disagree: neither an honest completion's loss nor a cheat's gain."""

from typing import Literal

import pytest

from evaluator.model import SPLIT_DISAGREES, Verdict
from tests.graders.conftest import Graded
from tests.graders.split_attacks import Attack, attacks
from tests.graders.split_tasks import check_task, suite_task

FIELDS = check_task(
    """
    assert candidate(2).x == 2
    assert type(candidate(3)).__mro__[1:] == (object,) and candidate(3).x == 3
    """,
    prompt="Write a dataclass Point with x, and f(x), which makes one.",
)
"""Its second assert looks at what a class is derived from, which is another where a proxy stands for it."""
POINT = "from dataclasses import dataclass\n@dataclass\nclass Point:\n    x: int\ndef f(x):\n    return Point(x)\n"


def test_disagreement_is_unknown_and_both_outcomes_are_kept(graded: Graded) -> None:
    grade = graded(FIELDS, POINT)
    assert (grade.verdict, grade.reward, grade.verified) == (Verdict.UNKNOWN, None, False)
    reason = "wrong_answer in two processes, passed in one"  # alike for all: it is counted
    assert grade.unverified_reason == f"{SPLIT_DISAGREES}: {reason}"
    found = grade.disagreement
    assert found is not None
    assert (found.apart, found.plain) == (Verdict.WRONG_ANSWER, Verdict.PASSED)
    assert [case.plain for case in found.cases] == [Verdict.PASSED] * len(found.cases) != []
    assert [case.verdict for case in grade.cases].count(Verdict.UNKNOWN) == len(found.cases)


@pytest.mark.parametrize(
    ("disagreement", "verdict", "reward"), [("keep", Verdict.PASSED, 1.0), ("fail", Verdict.WRONG_ANSWER, 0.0)]
)
def test_disagreement_is_graded_as_asked(
    disagreement: Literal["keep", "fail"], verdict: Verdict, reward: float, graded: Graded
) -> None:
    grade = graded(FIELDS, POINT, disagreement=disagreement)
    assert (grade.verdict, grade.reward) == (verdict, reward)
    assert not (verdict is Verdict.PASSED and grade.verified)
    assert grade.disagreement is not None


def test_a_failure_in_both_runs_has_the_plain_runs_verdict(graded: Graded) -> None:
    grade = graded(FIELDS, POINT.replace("Point(x)", "Point(x + 1)"))
    assert (grade.verdict, grade.reward, grade.disagreement) == (Verdict.WRONG_ANSWER, 0.0, None)


def test_suite_that_executes_no_assert_is_not_verified(graded: Graded) -> None:
    task = check_task("for one, want in zip(candidate([1, 2]), [2, 3]):\n    assert one == want")
    right = graded(task, "def f(x): return [y + 1 for y in x]")
    nothing = graded(task, "def f(x): return []")
    assert (right.verdict, right.verified) == (Verdict.PASSED, True)
    assert not nothing.verified
    assert "without executing an assert" in (nothing.unverified_reason or "")


LITERAL = check_task("for x in (2, 3):\n    assert candidate(x) == x * x")
OBJECTS = suite_task(
    """
    import unittest

    class TestCounter(unittest.TestCase):
        def test_count(self):
            counter = Counter()
            counter.add("a")
            counter.add("a")
            self.assertEqual(counter.count("a"), 2)
            self.assertEqual(total(counter), 2)
    """,
    entry_point="Counter",
    prompt="Write a class Counter with add and count, and total(counter).",
)

# fmt: off
ATTACKS = attacks("""
=== literal: literal
--- answers-by-what-is-loaded
import sys
def f(x):
    return x * x if 'unittest' in sys.modules or '__test__' in globals() else 0
--- reads-the-frame-of-the-plain-run
import sys
def f(x):
    frame = sys._getframe(1)
    while frame is not None:
        if 'x' in frame.f_locals and frame.f_code.co_name == 'check':
            return frame.f_locals['x'] ** 2
        frame = frame.f_back
    return object()
--- makes-the-split-give-up
def f(x):
    return (item for item in [x * x] * 2) if x < 3 else lambda: x
=== object: counter
--- answers-with-what-equals-everything
class Two:
    def __eq__(self, other): return True
    def __hash__(self): return 2
def found(): return Two()
--- detects-the-graders-names
def found(): return 2 if any(name.startswith('@') for name in globals()) else 0
--- patches-unittest
import unittest
unittest.TestCase.assertEqual = lambda *_: None
def found(): return 0
--- leaves-early
import os
def found(): return 0
def leave(): os._exit(0)
""")
# fmt: on

NO_COUNTER = """
class Counter:
    def add(self, x):
        if 'leave' in globals(): leave()
    def count(self, x): return found()
def total(counter): return found()
"""


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_attack_on_the_second_run_earns_nothing(attack: Attack, graded: Graded) -> None:
    objects = attack.check == "counter"
    grade = graded(OBJECTS, attack.code + NO_COUNTER) if objects else graded(LITERAL, attack.code)
    assert grade.reward == 0.0 or (objects and grade.reward is None and grade.disagreement is not None), grade
    assert grade.verdict is not Verdict.PASSED, grade


def test_what_stops_the_reference_too_is_the_tests_doing(graded: Graded) -> None:
    task = check_task("import io\nassert candidate(io.BytesIO(b'ab')) == 2")
    right = "def f(file): return len(file.read())"
    assert graded(task, right).verdict is Verdict.UNKNOWN
    task.reference = right
    grade = graded(task, right)
    assert (grade.verdict, grade.verified, grade.unverified_reason) == (
        Verdict.PASSED, False, "the test passes an object of class BytesIO to the completion",
    )  # fmt: skip
    assert graded(task, "def f(file): return 3").verdict is Verdict.WRONG_ANSWER


def test_a_refused_link_to_a_file_of_the_test_is_neither_a_pass_nor_a_failure(graded: Graded) -> None:
    task = check_task("candidate('a')\nassert open('b').read() == '2'")
    code = "import os\ndef f(path):\n    open(path, 'w').write('2')\n    os.{}(path, 'b')"
    assert graded(task, code.format("link")).verdict is Verdict.UNKNOWN
    assert graded(task, code.format("rename")).verdict is Verdict.PASSED


@pytest.mark.parametrize(
    ("test", "data"),
    [
        ("class T(unittest.TestCase):\n    size = len(ITEMS)\n    def test(self): self.assertEqual(self.size, 2)",
         "[1, 2]"),
        ("class T(unittest.TestCase):\n    def test(self):\n        with self.assertRaises(\n            ITEMS\n"
        "        ):\n            f(1)", "ZeroDivisionError"),
    ],
)  # fmt: skip
def test_a_function_in_the_place_of_data_fails_though_the_test_can_not_run(
    test: str, data: str, graded: Graded
) -> None:
    task = suite_task(f"import unittest\n{test}")
    assert graded(task, "def f(x): pass\ndef ITEMS(): pass").verdict is Verdict.WRONG_ANSWER
    task.reference = f"ITEMS = {data}\ndef f(x): x / 0"
    grade = graded(task, task.reference)
    assert grade.verdict is Verdict.PASSED
    assert grade.verified
