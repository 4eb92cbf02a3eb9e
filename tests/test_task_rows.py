"""What a row must have to become a task, and what a reader is told when it has not."""

import json
import re

import pytest

from evaluator.model import Limits, Mode, RecordError, Task, TestCase
from evaluator.options import Options, task_limits
from evaluator.tasks.given_tests import cases_from


def row(**fields):
    return {"task_id": "t", **fields}


def test_a_call_task_gets_its_cases_and_entry_point_from_in_outs():
    task = Task.from_row(row(in_outs={"inputs": ["1\n2"], "outputs": ["3"], "fn_name": "add"}))
    assert (task.mode, task.entry_point) == (Mode.CALL, "add")
    assert task.cases == (TestCase(0, "1\n2", "3"),)


def test_in_outs_may_be_json_text():
    given = {"inputs": ["5"], "outputs": ["25"], "fn_name": None}
    assert Task.from_row(row(in_outs=json.dumps(given))) == Task.from_row(row(in_outs=given))


def test_without_a_function_name_the_task_is_stdin():
    task = Task.from_row(row(in_outs={"inputs": [["3", "1 2 3"]], "outputs": [["6"]]}))
    assert (task.mode, task.entry_point) == (Mode.STDIN, None)
    assert task.cases == (TestCase(0, "3\n1 2 3", "6"),)


def test_a_row_with_test_code_is_an_assert_task():
    task = Task.from_row(row(entry_point="f", test="def check(candidate):\n    assert candidate(1) == 2\n"))
    assert (task.mode, task.cases) == (Mode.ASSERT, ())


@pytest.mark.parametrize(
    "test",
    [
        "assert add(2, 3) == 5",
        "def check(candidate):\n    assert add(2, 3) == 5\n    assert 5 == add(3, 2), 'turned'\n",
        "assert sorted([add(1, 1), abs(add(-1, 0))], key=int) == [1, 2]",
        "from math import isclose\nassert isclose(add(0.1, 0.2), 0.3)",
        "def near(a, b): return abs(a - b) < 1\ndef test_add():\n    assert near(add(1, 1), 2)",
        "assert all(f(add(n, 1)) for n, f in [(1, str)])",
    ],
)
def test_the_entry_point_is_the_one_function_that_the_asserts_call(test):
    task = Task.from_row(row(test=test))
    assert (task.mode, task.entry_point) == (Mode.ASSERT, "add")
    assert Task.from_row(row(test=test, entry_point="other")).entry_point == "other"


@pytest.mark.parametrize(
    ("test", "told"),
    [
        ("assert add(2, 3) == sub(8, 3)", "entry_point is missing, and the asserts call add, sub: name the function"),
        ("def check(candidate):\n    assert candidate(2, 3) == 5", "entry_point is missing: a task of mode assert"),
        ("assert len([1]) == 1", "entry_point is missing: a task of mode assert"),
        ("assert add(2, 3) ==", "entry_point is missing: a task of mode assert"),
    ],
)
def test_an_entry_point_that_the_asserts_do_not_tell_has_to_be_named(test, told):
    with pytest.raises(RecordError, match=re.escape(told)):
        Task.from_row(row(test=test))


@pytest.mark.parametrize("fields", [{"text": "Add.", "test_list": ["assert add(1, 2) == 3"]}, {"mode": "stdin"}])
def test_a_row_without_tests_is_refused_and_what_reads_other_formats_is_named(fields):
    with pytest.raises(RecordError, match=r"the row has no tests: .*evaluator\.load_task reads rows of other formats"):
        Task.from_row(row(**fields))
    with pytest.raises(RecordError, match=r"task_id is missing: .*evaluator\.load_task reads rows of other formats"):
        Task.from_row({"question_id": "abc301_a", **fields})
    for decides in ({"mode": "answer"}, {"grader": "own"}):
        assert Task.from_row(row(**fields | decides)).cases == ()


def test_values_of_a_call_keep_what_json_can_not_hold():
    values = [10**30, float("inf"), "\ud800", "é"]
    (case,) = cases_from({"inputs": [values], "outputs": [float("nan")]}, Mode.CALL)
    assert [json.loads(line) for line in case.input.split("\n")] == values
    assert case.expected == "NaN"


@pytest.mark.parametrize(
    ("stated", "seconds", "mebibytes"),
    [
        (2, 2.0, 2.0),
        ("2.5", 2.5, 2.5),
        ("2 seconds", 2.0, None),
        ("500 ms", 0.5, None),
        ("1 - 2 secs", 2.0, None),
        ({"seconds": 1, "nanos": 500_000_000}, 1.5, None),
        ("256 megabytes", None, 256.0),
        ("1048576 bytes", None, 1.0),
        ("1 GB", None, 1024.0),
        *((nothing, None, None) for nothing in (None, 0, "", "None", "unlimited")),
    ],
)
def test_the_limits_that_a_dataset_states_are_read_in_its_words(stated, seconds, mebibytes):
    if seconds is not None or mebibytes is None:
        assert Task.from_row(row(answer=1, time_limit=stated)).time_limit == seconds
    if mebibytes is not None or seconds is None:
        assert Task.from_row(row(answer=1, memory_limit=stated)).memory_limit == mebibytes


def test_a_datasets_limits_raise_the_runs_and_its_own_limits_are_exact():
    task = Task.from_row(row(answer=1, time_limit=4, memory_limit=2048, limits={"cpu_s": 3}))
    limits = task_limits(task, Options())
    assert (limits.wall_s, limits.cpu_s, limits.total_s) == (20, 3, 120)
    assert (limits.memory_mb, limits.virtual_mb) == (2048, 8192)
    assert task_limits(Task.from_row(row(answer=1, time_limit=1, memory_limit=256)), Options()) == Limits()
    short = Options(limits=Limits(wall_s=1, cpu_s=1), time_factor=2)
    assert task_limits(Task.from_row(row(answer=1, time_limit=4)), short).cpu_s == 8


def test_unknown_fields_are_kept_as_metadata():
    assert Task.from_row(row(answer=1, difficulty="hard")).metadata == {"difficulty": "hard"}


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"task_id": None}, "task_id is missing"),
        ({"task_id": ""}, "task_id is missing"),
        ({"task_id": True}, "task_id is missing"),
        ({"mode": "shell"}, "mode is 'shell': give one of call, stdin, assert, unittest"),
        ({"mode": "call"}, "entry_point is missing"),
        ({"prompt": 3}, "prompt is int, not text"),
        ({"in_outs": "{"}, "in_outs is text that is not JSON"),
        ({"in_outs": "[" * 100_000}, "in_outs is text that is not JSON"),
        ({"in_outs": [1]}, "in_outs must be an object"),
        ({"in_outs": {"inputs": ["1"], "outputs": []}}, "1 inputs but 0 outputs"),
        ({"in_outs": {"inputs": "1", "outputs": []}}, "must be lists"),
        ({"limits": {"wall_s": -1}}, "limits.wall_s is -1.0"),
        ({"limits": {"wal_s": 1}}, "unknown field `wal_s`"),
        ({"limits": 3}, "limits must be an object"),
        ({"time_limit": "2 fortnights"}, "time_limit is '2 fortnights': give seconds"),
        ({"memory_limit": -1}, "memory_limit is -1: give mebibytes"),
        ({"checker": "def check():\n    pass"}, "checker is a program"),
        ({"checker": "lines", "checker_code": "print(1)"}, "checker and checker_code are both given"),
        ({"weights": [1, -1]}, "weights must be a list of numbers"),
        ({"weights": [10**400]}, "weights must be a list of numbers"),
        ({"weights": [float("nan")]}, "weights must be a list of numbers"),
        ({"exit_code": "maybe"}, "exit_code is 'maybe': give ignore or strict"),
    ],
)
def test_a_wrong_field_is_named(fields, told):
    with pytest.raises(RecordError, match=re.escape(told)) as raised:
        Task.from_row(row(**fields))
    assert "\n" not in str(raised.value)
