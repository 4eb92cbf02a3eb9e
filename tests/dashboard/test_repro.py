"""The standalone script of a test case, run with plain Python on code of our own."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from dashboard.completion import repro
from dashboard.queries.records import CaseRecord, RolloutRecord, TaskRecord
from evaluator.graders import shown_cases
from evaluator.model import Mode, Task, TestCase
from evaluator.runs.schema import TASK_COLUMNS, TaskRow

CALL = Task(
    task_id="call", mode=Mode.CALL, entry_point="add", preamble="import math",
    cases=(TestCase(0, '[1, 2]\n"\\u00e9"', '[1, "e"]'),),
)  # fmt: skip
METHOD = Task(task_id="method", mode=Mode.CALL, entry_point="merge", cases=(TestCase(0, "[2, 1]", "[1, 2]"),))
STDIN = Task(task_id="stdin", mode=Mode.STDIN, cases=(TestCase(0, "3\n4\n", "7\n"),))
ASSERT = Task(
    task_id="assert", mode=Mode.ASSERT, entry_point="double",
    test="LIMIT = 5\ndef check(candidate):\n    n = LIMIT\n    assert candidate(1) == 2\n"
    "    assert candidate(n) == 10\n",
)  # fmt: skip
UNITTEST = Task(
    task_id="unittest", mode=Mode.UNITTEST, entry_point="Stack",
    test="import unittest\n\nclass TestStack(unittest.TestCase):\n    def test_pop(self):\n"
    "        self.assertEqual(Stack().pop(), 1)\n    def test_size(self):\n"
    "        self.assertEqual(Stack().size(), 0)\n",
)  # fmt: skip


def made(task: Task, code: str, index: int = 0, **limits: float) -> str:
    """The script of a rollout with this code."""
    row = TaskRow(task, shown_cases(task, None))
    stored = {column.name: column.get(row) for column in TASK_COLUMNS}
    record = TaskRecord(**{name: stored[name] for name in TaskRecord.__struct_fields__})
    encoded = json.dumps({"virtual_mb": 2048.0, "wall_s": 240.0} | limits)
    empty = dict.fromkeys(RolloutRecord.__struct_fields__)
    rollout = RolloutRecord(**(empty | {"task_id": task.task_id, "sample_id": 's"\\', "limits": encoded}))
    expected = record.cases and json.loads(record.cases)[index]["expected"]
    case = CaseRecord(**(dict.fromkeys(CaseRecord.__struct_fields__) | {"test_index": index, "expected": expected}))
    return repro.script(record, rollout, case, code)


def ran(script: str, tmp_path: Path) -> dict[str, str]:
    """What it prints, by the name of each part."""
    file = tmp_path / "repro.py"
    file.write_text(script, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(file)], capture_output=True, text=True, check=False, timeout=240, cwd=tmp_path
    )
    parts = done.stdout.split("--- ")[1:]
    return {name: body.rstrip("\n") for name, _, body in (part.partition("\n") for part in parts)} | (
        {"failed": done.stderr.strip()} if done.returncode else {}
    )


TRIPLED = "def double(n):\n    return n * 3\n"
STACK = "class Stack:\n    def pop(self):\n        return None\n    def size(self):\n        return 0\n"
ADD = (
    'def add(a, b):\n    """Odd \'\'\' and \\\\ quotes."""\n    print("seen", b)\n'
    "    return [math.floor(a[0] + 0.5)] + [b]\n"
)
MERGE = "from heapq import *\nclass Solution:\n    def merge(self, given):\n        return sorted(given)\n"
READS = "import sys\na, b = map(int, sys.stdin)\nprint(a - b)\nraise SystemExit(3)\n"


@pytest.mark.parametrize(
    ("task", "code", "index", "shows"),
    [
        (CALL, ADD, 0, {"expected": "[1, 'e']", "actual": "[1, 'é']", "stdout": "seen é", "exit status": "0"}),
        pytest.param(METHOD, MERGE, 0, {"actual": "[1, 2]"}, marks=pytest.mark.slow),  # not the imported `merge`
        (STDIN, READS, 0, {"expected": "7", "actual": "-1", "exit status": "3"}),
        (ASSERT, TRIPLED, 1, {"actual": "15", "stderr": "AssertionError"}),
        (UNITTEST, STACK, 0, {"stderr": "AssertionError: None != 1", "exit status": "1"}),
    ],
    ids=["call", "method", "stdin", "later assert", "unittest"],
)
def test_it_shows_what_the_test_case_did(
    task: Task, code: str, index: int, shows: dict[str, str], tmp_path: Path
) -> None:
    shown = ran(made(task, code, index), tmp_path)
    for part, said in shows.items():
        assert said in shown[part] if part == "stderr" else said == shown[part]
    assert task is not UNITTEST or "Ran 1 test" in shown["stderr"], "the method runs alone"


@pytest.mark.slow
def test_it_stops_at_the_limits(tmp_path: Path) -> None:
    shown = ran(made(STDIN, "import time\ntime.sleep(600)\n", wall_s=0.5), tmp_path)
    assert shown == {"failed": "time limit: 0.5 s of wall time"}
    shown = ran(made(STDIN, "print(len(bytearray(3 << 30)))\n"), tmp_path)
    assert "MemoryError" in shown["stderr"]
