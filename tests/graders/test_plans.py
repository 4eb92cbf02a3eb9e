"""What a task was when it was first graded has no part in how it is graded later."""

import tracemalloc

from evaluator.model import Mode, Task, TestCase, Verdict
from tests.graders.conftest import Graded

ECHO = "print(input())"


def test_a_task_that_was_changed_is_graded_as_it_is_now(graded: Graded) -> None:
    task = Task(task_id="t", mode=Mode.STDIN, cases=(TestCase(0, "1\n", "1\n"),))
    assert graded(task, ECHO).reward == 1.0
    task.cases = (TestCase(0, "1\n", "2\n"), TestCase(1, "2\n", "2\n"))
    assert graded(task, ECHO).pass_rate == 0.5
    task.checker = "no-such"
    assert graded(task, ECHO).verdict is Verdict.UNKNOWN
    task.checker = "exact"
    assert graded(task, ECHO).pass_rate == 0.5
    check = "def check(candidate):\n    assert candidate(1) == {}\n"
    asserts = Task(task_id="t", mode=Mode.ASSERT, entry_point="f", test=check.format(1))
    assert graded(asserts, "def f(x): return x").reward == 1.0
    asserts.test = check.format(2)
    assert graded(asserts, "def f(x): return x").reward == 0.0


def test_a_completion_has_the_imports_of_a_test_that_is_read_as_calls(graded: Graded) -> None:
    """As in a benchmark's own grader, where both are one module; what the test imports of the completion is its own."""
    test = "import re\nfrom solution import f\n\ndef check(candidate):\n    assert candidate('aha') == 'bhb'\n"
    task = Task(task_id="t", mode=Mode.ASSERT, entry_point="f", test=test)
    assert graded(task, "def f(s): return re.sub('a', 'b', s)").verdict is Verdict.PASSED
    task.test = test.replace("import re", "import no_such_module")
    assert graded(task, "def f(s): return s").verdict is Verdict.UNKNOWN, "the test can't run, whatever the completion"


def test_tests_that_no_format_has_read_are_named(graded: Graded) -> None:
    more = {"note": "not an assert", "difficulty": 2, "tests_seen": 3, "unit_tests": ["assert add(1, 2) == 3"]}
    task = Task(task_id="t", mode=Mode.STDIN, metadata=more)
    message = graded(task, "print(1)").error_message
    assert message == (
        "the task has no test cases, but a field unit_tests: `--dataset-map tests=unit_tests` reads tests from it"
    )


def test_the_rollouts_of_a_task_that_can_not_be_graded_are_not_kept(graded: Graded) -> None:
    """A run may have a million of them."""
    size, number = 100_000, 200
    task = Task(task_id="t", mode=Mode.STDIN)
    tracemalloc.start()
    try:
        for turn in range(number):
            assert graded(task, f"# {turn}".ljust(size)).error_message == "the task has no test cases"
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 10 * size
