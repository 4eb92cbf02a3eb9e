"""ClassEval: rows become unittest tasks about a class, and the rows that its generation writes are samples."""

import pytest

from evaluator.formats import load_rollouts, load_tasks
from evaluator.model import Mode

SKELETON = '''\
import math

class Walk:
    """
    A walk in the plane.
    """

    def __init__(self):
        """
        :field position: tuple, where it is
        """
        self.position = (0, 0)

    def step(self, x, y):
        """
        Goes on from here.
        >>> Walk().step(3, 4)
        """

    def distance(self):
        """
        :return: float, how far it is from the start
        """
'''
BODY = """\
class Walk:
    def __init__(self):
        self.position = (0, 0)

    def step(self, x, y):
        self.position = (self.position[0] + x, self.position[1] + y)

    def distance(self):
        return math.hypot(*self.position)
"""
TEST = """\
import unittest

class WalkTestStep(unittest.TestCase):
    def test_step_1(self):
        walk = Walk()
        walk.step(1, 2)
        self.assertEqual(walk.position, (1, 2))

class WalkTestMain(unittest.TestCase):
    def setUp(self):
        self.walk = Walk()
    def test_main(self):
        self.walk.step(3, 4)
        self.assertAlmostEqual(self.walk.distance(), 5.0)
"""
ROW = {
    "task_id": "ClassEval_7", "skeleton": SKELETON, "test": TEST, "solution_code": "import math\n\n" + BODY,
    "import_statement": ["import math"], "class_description": "    A walk in the plane.\n",
    "class_name": "Walk", "test_classes": ["WalkTestStep", "WalkTestMain"], "class_constructor": "class Walk: \n",
    "fields": ["self.position"], "methods_info": [{"method_name": "step", "test_class": "WalkTestStep"}],
}  # fmt: skip


def test_tasks(read, passes):
    format_, (task,), problems = read(load_tasks, ROW)
    assert (format_, problems) == ("classeval", [])
    assert (task.mode, task.entry_point, task.prompt) == (Mode.UNITTEST, "Walk", SKELETON)
    assert task.preamble == "import math\n"
    assert task.metadata["test_classes"] == ["WalkTestStep", "WalkTestMain"]
    assert passes(task, task.reference)
    assert not passes(task, SKELETON)


def test_samples_are_whole_classes(read, passes):
    chat = f"Here is the class:\n```python\n{BODY}```\nIt keeps a position."
    echo = f"### Instruction:\nPlease complete the class Walk.\n{SKELETON}\n### Response:\n{BODY}"
    row = ROW | {"predict": [BODY, chat, echo, SKELETON]}
    format_, rollouts, problems = read(load_rollouts, row)
    _, (task,), _ = read(load_tasks, row)
    assert (format_, problems) == ("classeval", [])
    assert [(r.sample_id, r.sample_index) for r in rollouts] == [(f"ClassEval_7#{n}", n) for n in range(4)]
    assert [passes(task, r.completion, r.kind) for r in rollouts] == [True, True, True, False]
    assert rollouts[0].metadata == {}, "the task's fields are not the sample's"


def test_samples_one_a_row(read):
    rows = [{"task_id": "ClassEval_7", "completion": BODY}, {"task_id": "ClassEval_8", "completion": "x"}]
    format_, rollouts, _ = read(load_rollouts, *rows)
    assert format_ == "classeval"
    assert [r.sample_id for r in rollouts] == ["ClassEval_7#0", "ClassEval_8#0"]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"test": None}, "test is missing"),
        ({"test": "class WalkTest(unittest.TestCase:\n"}, "test is not valid Python: line 1"),
        ({"class_name": ""}, "class_name is missing"),
        ({"import_statement": "import math"}, "import_statement must be a list of strings"),
    ],
)
def test_a_broken_row_is_reported_in_one_line(read, fields, message):
    _, (task,), (problem,) = read(load_tasks, ROW | fields, ROW, format="classeval")
    assert task.task_id == "ClassEval_7"
    assert message in problem


def test_samples_that_are_no_texts_are_reported(read):
    _, rollouts, (problem,) = read(load_rollouts, ROW | {"predict": [["class Walk: pass"]]}, format="classeval")
    assert rollouts == []
    assert "predict must be a list of strings" in problem
