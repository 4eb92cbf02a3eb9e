"""The standalone script of a test case, run with plain Python on code of our own."""

from __future__ import annotations

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
    encoded = json.dumps({"virtual_mb": 2048.0} | limits)
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
        [sys.executable, str(file)], capture_output=True, text=True, check=False, timeout=60, cwd=tmp_path
    )
    parts = done.stdout.split("--- ")[1:]
    return {name: body.rstrip("\n") for name, _, body in (part.partition("\n") for part in parts)} | (
        {"failed": done.stderr.strip()} if done.returncode else {}
    )


def test_a_call_shows_the_value_and_what_was_printed(tmp_path: Path) -> None:
    code = (
        'def add(a, b):\n    """Odd \'\'\' and \\\\ quotes."""\n    print("seen", b)\n'
        "    return [math.floor(a[0] + 0.5)] + [b]\n"
    )
    shown = ran(made(CALL, code), tmp_path)
    assert shown["expected"] == "[1, 'e']"
    assert shown["actual"] == "[1, 'é']"
    assert shown["stdout"] == "seen é"
    assert shown["exit status"] == "0"


def test_a_method_of_solution_is_called_rather_than_an_imported_name(tmp_path: Path) -> None:
    code = "from heapq import *\nclass Solution:\n    def merge(self, given):\n        return sorted(given)\n"
    assert ran(made(METHOD, code), tmp_path)["actual"] == "[1, 2]"


def test_a_program_reads_its_input(tmp_path: Path) -> None:
    shown = ran(made(STDIN, "import sys\na, b = map(int, sys.stdin)\nprint(a - b)\nraise SystemExit(3)\n"), tmp_path)
    assert (shown["expected"], shown["actual"], shown["exit status"]) == ("7", "-1", "3")


@pytest.mark.parametrize(("index", "actual"), [(0, "3"), (1, "15")])
def test_an_assert_shows_both_sides(tmp_path: Path, index: int, actual: str) -> None:
    shown = ran(made(ASSERT, "def double(n):\n    return n * 3\n", index), tmp_path)
    assert shown["actual"] == actual
    assert "AssertionError" in shown["stderr"]


def test_a_right_assert_ends_well(tmp_path: Path) -> None:
    shown = ran(made(ASSERT, "def double(n):\n    return n * 2\n", 1), tmp_path)
    assert (shown["actual"], shown["exit status"]) == ("10", "0")


def test_a_method_of_a_test_class_runs_alone(tmp_path: Path) -> None:
    code = "class Stack:\n    def pop(self):\n        return None\n    def size(self):\n        return 0\n"
    shown = ran(made(UNITTEST, code), tmp_path)
    assert "AssertionError: None != 1" in shown["stderr"]
    assert "Ran 1 test" in shown["stderr"]
    assert shown["exit status"] == "1"


def test_it_stops_at_the_limits(tmp_path: Path) -> None:
    shown = ran(made(STDIN, "import time\ntime.sleep(30)\n", wall_s=0.5), tmp_path)
    assert shown == {"failed": "time limit: 0.5 s of wall time"}
    shown = ran(made(STDIN, "print(len(bytearray(3 << 30)))\n"), tmp_path)
    assert "MemoryError" in shown["stderr"]
