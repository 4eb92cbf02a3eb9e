"""The smallest input on which a failing program is wrong."""

from evaluator.model import Mode, Task, TestCase
from evaluator.strengthening.smallest import Smallest, smallest_failing
from evaluator.workers.single import in_worker

SORT = "def f(items):\n    return sorted(items)\n"
CASES = (
    TestCase(0, "[4, 2, 9]", "[2, 4, 9]"),
    TestCase(1, "[3, 1, 3, 5, 9, 2, 5]", "[1, 2, 3, 3, 5, 5, 9]"),
    TestCase(2, "[1]", "[1]"),
)
TASK = Task(task_id="t", mode=Mode.CALL, entry_point="f", cases=CASES)


def smallest(code: str, test: int) -> Smallest:
    return in_worker(smallest_failing, TASK, code, SORT, test, 60.0)


def test_a_long_input_becomes_the_two_items_that_matter() -> None:
    found = smallest("def f(items):\n    return sorted(set(items))\n", 1)
    assert [text.count(",") for text in (found.input, found.expected, found.actual)] == [1, 1, 0]


def test_an_exception_and_an_endless_loop_are_failures_too() -> None:
    raised = smallest("def f(items):\n    return sorted(items)[: len(items) // (len(items) < 4)]\n", 1)
    assert (raised.actual, raised.input.count(",")) == ("ZeroDivisionError", 3)
    loops = smallest("def f(items):\n    while 9 in items:\n        pass\n    return sorted(items)\n", 0)
    assert (loops.input, loops.actual) == ("f([9])", "time limit")


def test_a_right_program_has_none() -> None:
    assert "no test case" in smallest(SORT, 0).refusal
