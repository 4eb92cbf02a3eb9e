"""ClassEval: rows become unittest tasks about a class, and the rows that its generation writes are samples."""

import json
from pathlib import Path

import pytest

from evaluator.formats import load_rollouts, load_tasks
from evaluator.model import Mode

ROW = json.loads((Path(__file__).parent / "files" / "classeval.jsonl").read_text()) | {
    "import_statement": ["import math"]
}
SKELETON = ROW["skeleton"]
BODY = ROW["solution_code"].replace("+= 1", "+= math.isqrt(1)")  # which needs the import statement


def test_tasks(read, passes):
    format_, (task,), problems = read(load_tasks, ROW)
    assert (format_, problems) == ("classeval", [])
    assert (task.mode, task.entry_point, task.prompt) == (Mode.UNITTEST, "Counter", SKELETON)
    assert task.preamble == "import math\n"
    assert passes(task, BODY)
    assert not passes(task, SKELETON)


def test_samples_are_whole_classes(read, passes):
    chat = f"Here is the class:\n```python\n{BODY}```\nIt counts."
    echo = f"### Instruction:\nPlease complete the class Counter.\n{SKELETON}\n### Response:\n{BODY}"
    row = ROW | {"predict": [BODY, chat, echo, SKELETON]}
    format_, rollouts, problems = read(load_rollouts, row)
    _, (task,), _ = read(load_tasks, row)
    assert (format_, problems) == ("classeval", [])
    assert [(r.sample_id, r.sample_index) for r in rollouts] == [(f"ClassEval_0#{n}", n) for n in range(4)]
    assert [passes(task, r.completion, r.kind) for r in rollouts] == [True, True, True, False]
    assert rollouts[0].metadata == {}, "the task's fields are not the sample's"


def test_samples_one_a_row(read):
    rows = [{"task_id": "ClassEval_0", "completion": BODY}, {"task_id": "ClassEval_1", "completion": "x"}]
    format_, rollouts, _ = read(load_rollouts, *rows)
    assert format_ == "classeval"
    assert [r.sample_id for r in rollouts] == ["ClassEval_0#0", "ClassEval_1#0"]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"test": None}, "test is missing"),
        ({"test": "class CounterTest(unittest.TestCase:\n"}, "test is not valid Python: line 1"),
        ({"class_name": ""}, "class_name is missing"),
        ({"import_statement": "import math"}, "import_statement must be a list of strings"),
    ],
)
def test_a_broken_row_is_reported_in_one_line(read, fields, message):
    _, (task,), (problem,) = read(load_tasks, ROW | fields, ROW, format="classeval")
    assert task.task_id == "ClassEval_0"
    assert message in problem


def test_samples_that_are_no_texts_are_reported(read):
    _, rollouts, (problem,) = read(load_rollouts, ROW | {"predict": [["class Counter: pass"]]}, format="classeval")
    assert rollouts == []
    assert problem.startswith("predict[0]: the sample must be text")
