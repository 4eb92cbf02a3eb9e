"""`rollscope check`: what it finds in a dataset's own tests and references."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evaluator.cli import main

ITSELF = "def check(candidate):\n    assert sorted(candidate([2, 1])) == sorted(candidate([2, 1]))\n"
PATCHED = "import sys\ndef check(candidate):\n    sys.modules['mine'] = candidate\n    assert candidate() == 3\n"
PLAIN = "def check(candidate):\n    assert candidate(1) == 2\n"
APART = "def check(candidate):\n    text = 'a' * 99\n    for _ in range(2): assert candidate(text) is text\n"
TASKS = [
    {"task_id": "fine", "mode": "assert", "entry_point": "f", "test": PLAIN,
     "reference": "def f(n): return n + 1"},
    {"task_id": "spoilt", "mode": "assert", "entry_point": "f", "test": PLAIN,
     "reference": "def f(n): return n"},
    {"task_id": "itself", "mode": "assert", "entry_point": "f", "test": ITSELF},
    {"task_id": "patched", "mode": "assert", "entry_point": "f", "test": PATCHED},
    {"task_id": "apart", "mode": "assert", "entry_point": "f", "test": APART, "reference": "def f(x): return x"},
    {"task_id": "empty", "mode": "assert", "entry_point": "f", "test": "def check(candidate):\n    pass\n"},
]  # fmt: skip
WANTED = [
    ("spoilt", 2, "its own reference does not pass: wrong_answer, test 0: expected 2, got 1"),
    ("itself", 3, "compares the candidate with itself: line 2 of the test"),
    ("patched", 4, "its grades are not verified: the test uses sys.modules (line 3)"),
    ("apart", 5, "the two runs of its own reference disagree: wrong_answer in two processes, passed in one"),
]


def checked(path: Path, tasks: list[dict[str, str]], *options: str) -> int:
    path.write_text("".join(json.dumps(task) + "\n" for task in tasks))
    with pytest.raises(SystemExit) as ended:
        main(["check", str(path), *options])
    assert isinstance(ended.value.code, int)
    return ended.value.code


def test_it_finds_what_is_odd(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status = checked(tmp_path / "tasks.jsonl", TASKS, "--json", "--workers", "1")
    told = json.loads(capsys.readouterr().out)
    found = [(each["task_id"], each["line"], each["what"]) for each in told["findings"]]
    assert status == 1
    assert [(*each[:2], each[2][: len(wanted[2])]) for each, wanted in zip(found, WANTED, strict=False)] == WANTED
    assert [(task, line) for task, line, what in found[4:] if what.startswith("can't be graded: ")] == [("empty", 6)]
    assert (told["tasks"], told["references"]) == (6, 3)


def test_it_says_so_where_nothing_is_odd(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert checked(tmp_path / "tasks.jsonl", TASKS[:1]) == 0
    assert capsys.readouterr().out == "1 task, 1 with a reference, 0 findings\n"


def test_a_dataset_without_a_task_is_bad_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert checked(tmp_path / "tasks.jsonl", [{"mode": "assert"}]) == 2
    assert "tasks.jsonl" in capsys.readouterr().err
