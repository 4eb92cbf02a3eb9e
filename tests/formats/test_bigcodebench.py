"""BigCodeBench: rows become unittest tasks; every kind of completion and of file that its runner writes is read."""

import json
from pathlib import Path

import pytest

from evaluator.extraction import extract
from evaluator.formats import load_rollouts, load_tasks
from evaluator.model import Kind

ROW = json.loads((Path(__file__).parent / "files" / "bigcodebench.jsonl").read_text())
COMPLETE, BODY = ROW["complete_prompt"], ROW["canonical_solution"]


@pytest.fixture
def task(read):
    format_, (task,), problems = read(load_tasks, ROW)
    assert (format_, problems) == ("bigcodebench", [])
    return task


@pytest.mark.parametrize(
    ("completion", "kind"),
    [
        (BODY, Kind.CONTINUATION),
        (f"{COMPLETE}{BODY}\n", Kind.FULL),
        (f"def task_func(n):\n{BODY}\n", Kind.FULL),
        (f"Here it is:\n```python\nimport math\ndef task_func(n):\n{BODY}\n```\n", Kind.CHAT),
    ],
    ids=["rest of the prompt", "program", "program without the imports", "chat"],
)
def test_every_kind_of_completion(read, task, passes, completion, kind):
    field = "completion" if kind is Kind.CONTINUATION else "solution"
    format_, (rollout,), _ = read(load_rollouts, {"task_id": "BigCodeBench/0", field: completion})
    assert format_ == "bigcodebench"
    assert extract(rollout.completion, task=task, kind=rollout.kind).kind is kind
    assert passes(task, rollout.completion, rollout.kind)
    assert not passes(task, rollout.completion.replace("isqrt(n)", "nan"), rollout.kind)


def test_os_sys_and_environ_are_there_without_an_import(task, passes):
    uses = BODY.replace("    return", "    assert os.sep and sys.path and environ is not None\n    return")
    assert passes(task, f"def task_func(n):\n{uses}\n")


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
    assert task.task_id == "BigCodeBench/0"
    assert message in problem
