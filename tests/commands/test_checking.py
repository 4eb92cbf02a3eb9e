"""`rollscope check`: what it finds in a dataset's own tests and references."""

import json

import pytest

from tests.commands.command_line import Ask, write_rows

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


def checked(ask: Ask, tasks: list[dict[str, str]], *options: str) -> int:
    return ask("check", write_rows(ask.folder / "tasks.jsonl", *tasks), *options)


def test_it_finds_what_is_odd(ask: Ask) -> None:
    status = checked(ask, TASKS, "--json", "--workers", "1")
    told = json.loads(ask.out)
    found = [(each["task_id"], each["line"], each["what"]) for each in told["findings"]]
    assert status == 1
    assert [(*each[:2], each[2][: len(wanted[2])]) for each, wanted in zip(found, WANTED, strict=False)] == WANTED
    assert [(task, line) for task, line, what in found[4:] if what.startswith("can't be graded: ")] == [("empty", 6)]
    assert (told["tasks"], told["references"]) == (6, 3)


@pytest.mark.slow
def test_it_says_so_where_nothing_is_odd(ask: Ask) -> None:
    assert checked(ask, TASKS[:1]) == 0
    assert ask.out == "1 task, 1 with a reference, 0 findings\n"


def test_a_dataset_without_a_task_is_bad_input(ask: Ask) -> None:
    assert checked(ask, [{"task_id": "", "mode": "assert"}]) == 2
    assert "no readable tasks: " in ask.err
    assert "tasks.jsonl:1: task_id is missing" in ask.err


def test_a_folder_of_other_rows_is_read_by_a_map(ask: Ask) -> None:
    folder = ask.folder / "other"
    folder.mkdir()
    write_rows(folder / "a.jsonl", {"uid": "a", "tests": "assert add(1, 2) == 3", "sol": "def add(a, b): return a + b"})
    cases = [{"input": "1 2", "output": "3"}]
    write_rows(folder / "b.jsonl", {"uid": "b", "io": cases, "sol": "print(sum(map(int, input().split())))"})
    (folder / "c.jsonl").write_text("")
    status = ask("check", folder, "--map", "task_id=uid,test=tests,in_outs=io,reference=sol", "--workers", "1")
    assert "c.jsonl: this file is skipped: is empty" in ask.out
    assert "2 tasks, 2 with a reference, 1 finding\n" in ask.out
    assert status == 1
