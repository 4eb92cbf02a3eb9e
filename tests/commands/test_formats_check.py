"""`rollscope formats FILE`: what is wrong with which rows, and where; and which grades the others came with."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.commands.command_line import COMMAND, environment, rollscope

GRADED = (
    b'{"task_id":"a","completion":"x","sample_id":"1","recorded_verdict":"passed","recorded_by":"HumanEval",'
    b'"reward":1}\n'
)
ROWS = (
    GRADED,
    b'{"task_id":"a","completion":"y","sample_id":"1"}\n',
    b'{"task_id":"a","completion":"y","language":"Java"}\n',
    b"\n{broken\n",
    b'{"task_id":"a","completion":"y","step":"' + b"one" * 99 + b'"}\n',
    b'{"task_id":"a","completion":"y","expected_pass":false}\n',
)
OFFSETS = [sum(map(len, ROWS[:place])) for place in range(len(ROWS))]
BAD = [
    (2, OFFSETS[1], "repeated id"), (3, OFFSETS[2], "not Python"), (5, OFFSETS[3] + 1, "not JSON"),
    (6, OFFSETS[4], "wrong type"),
]  # fmt: skip


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "r.jsonl"
    path.write_bytes(b"".join(ROWS))
    return path


def test_each_bad_line_is_told_with_its_place_its_reason_and_its_first_bytes(file: Path) -> None:
    report = json.loads(rollscope("formats", file, "--check", "--json", cwd=file.parent).stdout)
    assert [(each["line"], each["offset"], each["reason"]) for each in report["problems"]] == BAD
    begins = [each["snippet"] for each in report["problems"]]
    assert begins[0].startswith(repr(ROWS[1])[1:])
    assert begins[2] == repr(b"{broken\n")[1:]
    assert begins[3] == repr(ROWS[4][:200])[1:] + "..."
    assert report["reasons"] == {reason: 1 for _, _, reason in BAD}


def test_the_same_is_told_in_lines(file: Path) -> None:
    done = rollscope("formats", "r.jsonl", "--check", cwd=file.parent)
    assert done.returncode == 2
    assert "rollouts in format native" in done.stdout
    assert "2 usable rows, 4 bad lines: repeated id 1, not Python 1, not JSON 1, wrong type 1" in done.stdout
    for line, offset, reason in BAD:
        assert f"r.jsonl:{line}: byte {offset:,}, {reason}: " in done.stdout


def test_rows_without_tests_are_counted_with_what_would_read_them(tmp_path: Path) -> None:
    rows = ({"task_id": "a", "tests": "assert f()"}, {"task_id": "b", "unit_tests": ["assert f()"]})
    (tmp_path / "d.jsonl").write_text("".join(json.dumps({"prompt": "p", **row}) + "\n" for row in rows))
    printed = rollscope("formats", "d.jsonl", "--check", cwd=tmp_path).stdout
    assert "0 bad lines\n  1 row without tests; if unit_tests has them: --map tests=unit_tests" in printed
    mapped = rollscope("formats", "d.jsonl", "--map", "tests=unit_tests", cwd=tmp_path).stdout
    assert "without tests" not in mapped


def test_a_row_of_a_table_is_told_as_json(file: Path) -> None:
    table = file.with_name("r.csv")
    table.write_text("task_id,completion,step\nt,x,1\nt,y,one\n")
    done = rollscope("formats", table, "--check", cwd=file.parent)
    assert """(begins '{"task_id": "t", "completion": "y", "step": "one"}')""" in done.stdout


def test_without_check_twenty_lines_are_told_and_no_file_is_wrong(file: Path) -> None:
    file.write_bytes(GRADED + b"{broken\n" * 30)
    glance = rollscope("formats", file, cwd=file.parent)
    assert "1 usable row, 30 bad lines" in glance.stdout
    assert "and 10 more" in glance.stdout
    assert (glance.returncode, glance.stdout.count("r.jsonl:")) == (0, 21)
    assert rollscope("formats", file, "--check", cwd=file.parent).stdout.count("r.jsonl:") == 31
    assert "livecodebench" in rollscope("formats", cwd=file.parent).stdout


def test_the_grades_that_a_file_came_with_are_counted(file: Path) -> None:
    done = rollscope("formats", file, cwd=file.parent)
    assert "  graded by HumanEval: passed 1\n  graded by its source: not passed 1\n  1 reward\n" in done.stdout
    report = json.loads(rollscope("formats", file, "--json", cwd=file.parent).stdout)
    assert report["recorded"] == {"HumanEval": {"passed": 1}, "": {"not passed": 1}}
    file.write_bytes(ROWS[1])
    assert "  no recorded grades\n" in rollscope("formats", file, cwd=file.parent).stdout


@pytest.mark.parametrize("name", ["-", pytest.param("/dev/stdin", marks=pytest.mark.slow)])
def test_a_pipe_is_read_as_a_file_is(file: Path, name: str) -> None:
    done = subprocess.run(
        [*COMMAND, "formats", name], input=file.read_bytes(), env=environment(), capture_output=True, check=True
    )
    assert b"rollouts in format native" in done.stdout
    assert b"2 usable rows, 4 bad lines" in done.stdout


def test_a_folder_is_told_by_what_its_files_hold(file: Path) -> None:
    (file.parent / "empty.jsonl").write_text("")
    (file.parent / "tasks.jsonl").write_text('{"task_id": 1, "prompt": "p", "output": "x"}\n')
    done = rollscope("formats", ".", cwd=file.parent)
    assert done.returncode == 0
    assert "r.jsonl: rollouts in format native (" in done.stdout
    assert "2 usable rows, 5 bad lines: " in done.stdout
    assert "empty.jsonl:1: this file is skipped: is empty" in done.stdout
    assert "tasks.jsonl: tasks in format native (" in done.stdout
    assert "no row has tests; if output is the completion, these are rollouts: --map completion=output" in done.stdout
    report = json.loads(rollscope("formats", ".", "--json", cwd=file.parent).stdout)
    assert (report["holds"], report["rows"], report["bad_lines"]) == ("rollouts", 2, 5)
    assert [(each["holds"], each["rows"], each["with_tests"]) for each in report["also"]] == [("tasks", 1, 0)]


def test_a_file_without_a_row_is_told_line_by_line_and_not_sent_to_the_same_command(file: Path) -> None:
    file.write_bytes('{"task_id": "t", "completion": "é"}\n'.encode("latin-1"))
    done = rollscope("formats", file, "--check", cwd=file.parent)
    assert done.returncode == 2
    assert "r.jsonl:1: byte 0, not UTF-8 at byte 33 of the row: save the file as UTF-8" in done.stdout
    assert "rollscope formats" not in done.stdout + done.stderr


@pytest.mark.parametrize(("names", "role"), [("task_id=uid,test=tests", "tasks"), ("task_id=uid", "rollouts")])
def test_a_map_is_read_in_the_role_that_its_fields_show(file: Path, names: str, role: str) -> None:
    file.write_text('{"uid": 1, "completion": "x", "tests": "assert f() == 1"}\n')
    assert f"{role} in format mapped" in rollscope("formats", file, "--map", names, cwd=file.parent).stdout


def test_a_folder_of_other_files_is_told_their_names(file: Path) -> None:
    file.rename(file.with_name("r.log"))
    done = rollscope("formats", file.parent, cwd=file.parent)
    assert "holds no file of rows, only r.log: " in done.stderr
