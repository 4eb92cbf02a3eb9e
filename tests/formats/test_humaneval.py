"""HumanEval: its rows. `test_all_files` has its samples."""

import pytest

from evaluator.formats import Role, load_rollouts, load_tasks
from evaluator.formats.reading.registry import claims_of
from evaluator.model import Mode

PROMPT = 'from typing import List\n\n\ndef f(x: List[int]) -> int:\n    """Adds."""\n'
ROW = {
    "task_id": "HumanEval/0", "prompt": PROMPT, "entry_point": "f", "canonical_solution": "    return sum(x)\n",
    "test": "METADATA = {}\n\n\ndef check(candidate):\n    assert candidate([1, 2]) == 3\n",
}  # fmt: skip


def test_tasks(read, passes):
    format_, (task,), problems = read(load_tasks, ROW)
    assert (format_, problems) == ("humaneval", [])
    assert (task.mode, task.entry_point, task.test) == (Mode.ASSERT, "f", ROW["test"])
    assert task.preamble == "from typing import List\n\n\n"
    assert task.reference == PROMPT + "    return sum(x)\n"
    assert passes(task, task.reference)
    assert passes(task, "    return sum(x)\n")
    assert passes(task, "def f(x: List[int]):\n    return sum(x)\n"), "the preamble has what the program left out"
    assert not passes(task, "    return 0\n")


def test_a_test_of_classes_makes_the_task_a_unittest(read, passes):
    test = "import unittest\nclass TestF(unittest.TestCase):\n    def test(self): self.assertEqual(f([1]), 1)\n"
    _, (task,), _ = read(load_tasks, ROW | {"test": test})
    assert task.mode is Mode.UNITTEST
    assert passes(task, task.reference)
    assert not passes(task, "    return 0\n")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"entry_point": ""}, "entry_point is missing: name the function or class that the tests call"),
        ({"entry_point": "f(x)"}, "entry_point must be a Python name, not 'f(x)'"),
        ({"test": ["assert f([1]) == 1"]}, "test must be text, not list"),
        ({"task_id": None}, "task_id is missing"),
    ],
)
def test_a_broken_row_is_reported_in_one_line_and_the_rest_is_read(read, fields, message):
    _, (task,), (problem,) = read(load_tasks, ROW | fields, ROW, format="humaneval")
    assert task.task_id == "HumanEval/0"
    assert message in problem


def test_generations_are_rollouts_and_rows_of_other_languages_say_so(read):
    row = {"task_id": "Python/0", "prompt": "def f(x):\n", "generation": "    return x\n"}
    format_, (rollout,), (problem,) = read(load_rollouts, row, row | {"task_id": "Java/3"})
    assert (format_, rollout.task_id, rollout.completion) == ("humaneval_x", "Python/0", "    return x\n")
    assert problem == "task_id is 'Java/3', not Python: it can't be graded here"
    assert claims_of(Role.TASKS, row) == [], "it has no tests"
