"""BigCodeBench: rows become unittest tasks; every kind of completion and of file that its runner writes is read."""

import json

import pytest

from evaluator.extraction import extract
from evaluator.formats import load_rollouts, load_tasks, sniff
from evaluator.model import Kind, Mode

COMPLETE = '''\
import csv
from pathlib import Path
SEPARATOR = ";"

def task_func(path, rows):
    """
    Write rows to a file and return how many there were.

    Requirements:
    - csv
    - pathlib

    Example:
    >>> task_func("a.csv", [[1, 2]])
    1
    """
'''
BODY = (
    '    with Path(path).open("w", newline="") as stream:\n'
    "        csv.writer(stream, delimiter=SEPARATOR).writerows(rows)\n"
    "    return len(rows)"
)
TEST = """\
import unittest
import tempfile
from pathlib import Path

class TestCases(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "out.csv"
    def tearDown(self):
        self.folder.cleanup()
    def test_case_1(self):
        self.assertEqual(task_func(self.path, [[1, 2], [3, 4]]), 2)
        self.assertEqual(self.path.read_text().split(), ["1;2", "3;4"])
    def test_case_2(self):
        self.assertEqual(task_func(self.path, []), 0)
"""
ROW = {
    "task_id": "BigCodeBench/7", "complete_prompt": COMPLETE, "instruct_prompt": "Write rows to a file.",
    "canonical_solution": BODY, "code_prompt": COMPLETE.partition('    """')[0], "test": TEST,
    "entry_point": "task_func", "doc_struct": json.dumps({"reqs": ["csv", "pathlib"]}), "libs": "['csv', 'pathlib']",
}  # fmt: skip


@pytest.fixture
def task(read):
    format_, (task,), problems = read(load_tasks, ROW)
    assert (format_, problems) == ("bigcodebench", [])
    return task


def test_tasks(task, passes):
    assert (task.mode, task.entry_point, task.prompt, task.test) == (Mode.UNITTEST, "task_func", COMPLETE, TEST)
    assert task.metadata["instruct_prompt"] == "Write rows to a file."
    assert passes(task, task.reference)


@pytest.mark.parametrize(
    ("completion", "kind"),
    [
        (BODY, Kind.CONTINUATION),
        (f"{COMPLETE}{BODY}\n", Kind.FULL),
        (f"def task_func(path, rows):\n{BODY}\n", Kind.FULL),
        (f"Here it is:\n```python\nimport csv\ndef task_func(path, rows):\n{BODY}\n```\n", Kind.CHAT),
    ],
    ids=["rest of the prompt", "program", "program without the imports", "chat"],
)
def test_every_kind_of_completion(read, task, passes, completion, kind):
    field = "completion" if kind is Kind.CONTINUATION else "solution"
    format_, (rollout,), _ = read(load_rollouts, {"task_id": "BigCodeBench/7", field: completion})
    assert format_ == "bigcodebench"
    assert extract(rollout.completion, task=task, kind=rollout.kind).kind is kind
    assert passes(task, rollout.completion, rollout.kind)
    assert not passes(task, rollout.completion.replace("len(rows)", "None"), rollout.kind)


def test_os_sys_and_environ_are_there_without_an_import(task, passes):
    uses = BODY.replace("    return", "    assert os.sep and sys.path and environ is not None\n    return")
    assert passes(task, f"def task_func(path, rows):\n{uses}\n")


def test_results_of_a_run(tmp_path):
    path = tmp_path / "samples_eval_results.json"
    samples = [
        {"task_id": "BigCodeBench/7", "solution": "def task_func(): pass", "status": "fail", "details": {"ALL": "x"}},
        {"task_id": "BigCodeBench/7", "solution": "def task_func(): return 1", "status": "pass", "details": {}},
    ]
    path.write_text(json.dumps({"date": "2024-06-01 10:00", "eval": {"BigCodeBench/7": samples}}))
    rollouts = list(load_rollouts(path))
    assert sniff(path).format == "bigcodebench"
    assert [(r.sample_id, r.expected_pass) for r in rollouts] == [
        ("BigCodeBench/7#0", False), ("BigCodeBench/7#1", True),
    ]  # fmt: skip
    assert rollouts[1].completion == "def task_func(): return 1"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"test": ""}, "test is missing"),
        ({"test": "import unittest\nclass TestCases(\n"}, "test is not valid Python: line 2"),
        ({"complete_prompt": None, "code_prompt": None}, "complete_prompt is missing"),
        ({"entry_point": None}, "entry_point is missing"),
        ({"canonical_solution": 1}, "canonical_solution must be text, not int"),
    ],
)
def test_a_broken_row_is_reported_in_one_line(read, fields, message):
    _, (task,), (problem,) = read(load_tasks, ROW | fields, ROW, format="bigcodebench")
    assert task.task_id == "BigCodeBench/7"
    assert message in problem
