"""Runs of asserts and unittest methods, written by hand: some of their grades are not verified."""

from pathlib import Path

import msgspec

from evaluator.graders.grader import withheld
from evaluator.model import (
    CaseResult,
    Difference,
    Frame,
    Grade,
    Mode,
    Rollout,
    Task,
    TestCase,
    Traceback,
    Verdict,
)
from evaluator.options import Unverified
from tests.dashboard import rows, sample_run
from tests.dashboard.sample_run import grade
from tests.manifests import manifest_of

PATCHES = "the check replaces `open`, a name of the completion's"
COMPARES = "line 4 of the test: two objects of the completion's class `Fraction` are compared"
MARKDOWN = 'assert top(["**bold** :red[x] $x^2$ <b>"], 1) == ["*a*"]'

TOP = Task(
    task_id="checks/top", mode=Mode.ASSERT, entry_point="top", test="def check(candidate):\n    ...\n",
    prompt='def top(numbers, n):\n    """The n largest of numbers, the largest first."""\n',
    cases=(
        TestCase(0, "assert candidate([1, 3, 2], 2) == [3, 2]", "[3, 2]"),
        TestCase(
            1, "numbers = list(range(40))\nbefore = list(numbers)\n"
            "assert candidate(numbers, 3) == [39, 38, 37], numbers", "[39, 38, 37]",
        ),
        TestCase(2, "with pytest.raises(ValueError):\n    candidate([1], -1)", "an exception: ValueError"),
        TestCase(
            3, "for n in range(3):\n    given = [5, 1, n]\n    assert sorted(candidate(given, 3), reverse=True) == (\n"
            "        candidate(given, 3)\n    )", "",
        ),
        TestCase(4, MARKDOWN, '["*a*"]'),
        TestCase(5, "assert candidate([], 1) is not None and not candidate([], 1)", "a true value"),
    ),
)  # fmt: skip
STACK = Task(
    task_id="checks/stack", mode=Mode.UNITTEST, entry_point="Stack",
    prompt="Write a class `Stack` with `push`, `pop` and `size`.",
    test="import unittest\n\nclass TestStack(unittest.TestCase):\n    ...\n",
    cases=(
        TestCase(
            0, "TestStack.test_pop\ndef test_pop(self):\n    stack = Stack()\n    stack.push(1)\n"
            "    self.assertEqual(stack.pop(), 1)\n    with self.assertRaises(IndexError):\n        stack.pop()\n", "",
        ),
        TestCase(
            1, "TestStack.test_saved\n@mock.patch('builtins.open', new_callable=mock.mock_open)\n"
            "def test_saved(self, opened):\n    Stack().save('x')\n    opened.assert_called_once_with('x', 'w')\n", "",
        ),
    ),
)  # fmt: skip
TASKS = (TOP, STACK)
SORTED = "def top(numbers, n):\n    return sorted(numbers)[-n:]\n"
RIGHT = "def top(numbers, n):\n    return sorted(numbers, reverse=True)[:n]\n"
CLASS = (
    "class Stack:\n    def __init__(self):\n        self.items = []\n\n    def pop(self):\n        return self.items[0]"
)


def _passed(case: TestCase, actual: str | None = None) -> CaseResult:
    return msgspec.structs.replace(sample_run.passed(case.index, case.expected), actual=actual)


def _wrong(case: TestCase, message: str, actual: str | None) -> CaseResult:
    found = sample_run.wrong(case.index, case.expected, "", message)
    return msgspec.structs.replace(found, actual=actual, difference=Difference(message))


def _raised(case: TestCase) -> CaseResult:
    type_, message = "IndexError", "list index out of range"
    return CaseResult(
        index=case.index, verdict=Verdict.RUNTIME_ERROR, expected=case.expected, error_type=type_,
        error_message=message, wall_s=0.004,
        traceback=Traceback(type_, message, (Frame(6, "pop", "return self.items[0]"),)),
    )  # fmt: skip


def grades() -> list[Grade]:
    """Six of asserts, of which one is not verified, and four of methods, of which three are not."""
    first, second, raises, loop, markdown, truth = TOP.cases
    right = (
        _passed(first, "[3, 2]"),
        _passed(second, "[39, 38, 37]"),
        _passed(raises, "ValueError: n is negative"),
        _passed(loop),
        _passed(markdown, "['*a*']"),
        _passed(truth, "True"),
    )
    wrong = (
        _wrong(first, "`candidate([1, 3, 2], 2) == [3, 2]`, got `[2, 3]`", "[2, 3]"),
        _wrong(second, "`candidate(numbers, 3) == [39, 38, 37]`, got `[37, 38, 39]`", "[37, 38, 39]"),
        _wrong(raises, "expected ValueError, nothing was raised", None),
        _wrong(loop, "`sorted(candidate(given, 3), reverse=True) == (candidate(given, 3))`, got `[5, 1, 0]`", None),
        right[4],
        _wrong(truth, "`candidate([], 1) is not None and not candidate([], 1)`, got `False`", "False"),
    )
    method, saved = STACK.cases
    none = _wrong(method, "`stack.pop() == 1`, got `None`", "None")
    patches = {"verified": False, "unverified_reason": PATCHES}
    found = [
        grade("checks/top", "top#0", right, RIGHT),
        grade("checks/top", "top#1", wrong, SORTED, error_message=wrong[0].difference.message),
        grade("checks/top", "top#2", right, RIGHT + "\n", verified=False, unverified_reason=COMPARES),
        grade("checks/stack", "stack#0", (_passed(method), _passed(saved)), CLASS, **patches),
        grade("checks/stack", "stack#1", (_raised(method), _passed(saved)), CLASS, **patches),
        grade("checks/stack", "stack#2", (none, _passed(saved)), CLASS, **patches),
        grade("checks/stack", "stack#3", (_passed(method), _passed(saved)), CLASS),
    ]
    return [msgspec.structs.replace(one, checker="python") for one in found]


def write(path: Path, unverified: Unverified = "keep") -> Path:
    """Write the run and return its directory."""
    found = [
        (Rollout(task_id=g.task_id, sample_id=g.sample_id, completion=g.code or "", model="m"), withheld(g, unverified))
        for g in grades()
    ]
    manifest = manifest_of(dataset="checks.dataset.jsonl", rollouts="checks.rollouts.jsonl", unverified=unverified)
    return rows.write(path, found, *TASKS, manifest=manifest)
