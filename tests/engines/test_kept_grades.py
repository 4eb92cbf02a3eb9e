"""Which grades are kept, what brings one back, and what it then says."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import evaluator
from evaluator import Grade, Limits, Rollout, Task, grade_all
from evaluator.model import Kind, Verdict
from evaluator.sandbox import Settings
from tests.engines.processes import set_apart

PATIENT = Limits(wall_s=30, cpu_s=30, total_s=90)
DRAW = "open('/dev/urandom', 'rb').read(8).hex()"
PROGRAM = f"print({DRAW})"
"""Prints something else whenever it is run."""
FUNCTION = f"def f(x):\n    return {DRAW}"
STDIN: dict[str, Any] = {"task_id": "t", "in_outs": {"inputs": ["1\n"], "outputs": ["2\n"]}}
CALL: dict[str, Any] = {"task_id": "t", "mode": "call", "in_outs": {"fn_name": "f", "inputs": [[1]], "outputs": [2]}}
LITERAL = "def check(candidate):\n    assert candidate(1) == 2\n"
SUITE: dict[str, Any] = {
    "task_id": "t",
    "mode": "assert",
    "entry_point": "f",
    "test": "def check(candidate):\n    for x in (1, 2):\n        assert candidate(x) == 2 * x, candidate(x)\n",
}


@pytest.fixture(scope="module", autouse=True)
def others_apart() -> None:
    set_apart()


class Cached:
    """Grades with a cache of the test's own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, row: dict[str, Any] | Task, completion: str = PROGRAM, **options: Any) -> Grade:
        task = row if isinstance(row, Task) else Task.from_row(row)
        given = {name: options.pop(name) for name in ("kind", "metadata", "sample_id") if name in options}
        rollout = Rollout(task_id=task.task_id, completion=completion, **given)
        options = {"cache": self.folder, "limits": PATIENT, "workers": 1} | options
        (grade,) = grade_all([task], [rollout], **options)
        return grade


@pytest.fixture
def cached(tmp_path: Path) -> Cached:
    return Cached(tmp_path / "cache")


SAME: dict[str, tuple[dict[str, Any], str]] = {
    "passed": (STDIN, "print(2)"),
    "wrong": (STDIN, "import sys\nprint(3)\nprint('\\x00é', file=sys.stderr)"),
    "raised": (CALL, "def f(x):\n    def g():\n        return 1 / 0\n    return g()"),
    "does not compile": (CALL, "def f(x: return"),
    "no code": (CALL, ""),
    "a chat answer": (CALL, "Well:\n```python\ndef f(x):\n    return 2\n```\nThat is it."),
    "flagged": (CALL, "def f(x):\n    if x == 1:\n        return 2\n"),
    "a literal call": (
        {**SUITE, "test": "def check(candidate):\n    assert candidate(1) == 2\n"},
        "def f(x): return {1}",
    ),
    "a suite": (SUITE, "def f(x):\n    return 2 * x"),
    "a suite that fails": (SUITE, "def f(x):\n    return x"),
    "exits": (STDIN, "raise SystemExit(3)"),
}


@pytest.mark.parametrize("what", SAME)
def test_a_grade_from_the_cache_says_what_a_new_one_says(cached: Cached, what: str) -> None:
    row, completion = SAME[what]
    first, second = (cached({**row, "task_id": name}, completion, sample_id=f"{name}!") for name in "ab")
    anew = cached({**row, "task_id": "b"}, completion, sample_id="b!", cache=None)
    assert [each.cached for each in (first, second, anew)] == [False, True, False]
    assert without_times(second) == without_times(anew)
    assert [(case.wall_s, case.cpu_s, case.memory_mb) for case in second.cases] == [
        (case.wall_s, case.cpu_s, case.memory_mb) for case in first.cases
    ]


def without_times(grade: Grade) -> Grade:
    cases = tuple(replace(case, wall_s=None, cpu_s=None, memory_mb=None) for case in grade.cases)
    return replace(grade, cases=cases, cached=False)


def test_the_completion_is_not_run_again(cached: Cached) -> None:
    first, second, anew = cached(STDIN), cached(STDIN), cached(STDIN, cache=None)
    assert second.cases[0].actual == first.cases[0].actual
    assert anew.cases[0].actual != first.cases[0].actual


ALIKE: dict[str, Callable[[], tuple[dict[str, Any], dict[str, Any]]]] = {
    "another id": lambda: ({"task_id": "other"}, {}),
    "another source": lambda: ({"source": "elsewhere", "licence": "MIT"}, {}),
    "another field": lambda: ({"difficulty": 7}, {}),
    "limits in another order": lambda: ({"limits": {"cpu_s": 29, "wall_s": 28}}, {}),
    "a grader in another order": lambda: ({}, {"grader": '{"reward": "fraction", "name": "tests"}'}),
    "more workers": lambda: ({}, {"workers": 2}),
}
BEFORE: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "limits in another order": ({"limits": {"wall_s": 28, "cpu_s": 29}}, {}),
    "a grader in another order": ({}, {"grader": "tests:reward=fraction"}),
}


@pytest.mark.parametrize("what", ALIKE)
def test_what_decides_nothing_changes_nothing(cached: Cached, what: str) -> None:
    (row_before, options_before), (row, options) = BEFORE.get(what, ({}, {})), ALIKE[what]()
    assert not cached(STDIN | row_before, **options_before).cached
    assert cached(STDIN | row, **options).cached


DECIDES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "an input": ({"in_outs": {"inputs": ["2\n"], "outputs": ["2\n"]}}, {}),
    "an output": ({"in_outs": {"inputs": ["1\n"], "outputs": ["3\n"]}}, {}),
    "one more test": ({"in_outs": {"inputs": ["1\n", "1\n"], "outputs": ["2\n", "2\n"]}}, {}),
    "the mode": ({"mode": "call", "entry_point": "f"}, {}),
    "the prompt": ({"prompt": "Add."}, {}),
    "the preamble": ({"preamble": "import math"}, {}),
    "the reference": ({"reference": "print(2)"}, {}),
    "the row's checker": ({"checker": "tokens"}, {}),
    "the run's checker": ({}, {"checker": "tokens"}),
    "the row's grader": ({"grader": "tests:reward=fraction"}, {}),
    "the run's grader": ({}, {"grader": "tests:reward=fraction"}),
    "the exit code": ({"exit_code": "strict"}, {}),
    "the weights": ({"weights": [2]}, {}),
    "the row's limits": ({"limits": {"wall_s": 29}}, {}),
    "the run's limits": ({}, {"limits": replace(PATIENT, memory_mb=900)}),
    "the libraries": ({"libs": "['numpy']"}, {}),
    "fail fast": ({}, {"fail_fast": True}),
    "isolation": ({}, {"isolation": "test"}),
    "unverified": ({}, {"unverified": "unknown"}),
    "disagreement": ({}, {"disagreement": "keep"}),
    "the kind": ({}, {"kind": Kind.FULL}),
    "the sandbox": ({}, {"sandbox": Settings(strictness="degraded")}),
    "the Python inside": ({}, {"sandbox": Settings(python=sys.executable)}),
}


@pytest.mark.parametrize("what", DECIDES)
def test_what_decides_is_in_the_key(cached: Cached, what: str) -> None:
    row, options = DECIDES[what]
    assert not cached(STDIN).cached
    assert not cached(STDIN | row, **options).cached
    assert cached(STDIN).cached


IS_CACHED = """
from pathlib import Path
from evaluator import Rollout, Task, grade_all
task = Task.from_row({"task_id": "t", "in_outs": {"inputs": ["1\\n"], "outputs": ["2\\n"]}})
print([each.cached for each in grade_all([task], [Rollout(task_id="t", completion="print(2)")], cache=Path("c"))])
"""


def test_another_source_of_this_package_grades_anew(tmp_path: Path) -> None:
    def is_cached() -> str:
        places = os.environ | {"PYTHONPATH": str(tmp_path)}
        words = [sys.executable, "-c", IS_CACHED]
        return subprocess.run(words, env=places, cwd=tmp_path, capture_output=True, text=True, check=True).stdout

    shutil.copytree(Path(evaluator.__file__).parent, tmp_path / "evaluator")
    assert [is_cached() for _ in range(2)] == ["[False]\n", "[True]\n"]
    for path in (tmp_path / "evaluator").rglob("*.py"):
        os.utime(path, (1, 1))
    assert is_cached() == "[True]\n"
    with (tmp_path / "evaluator" / "checkers" / "floats.py").open("a") as file:
        file.write("# changed")
    assert is_cached() == "[False]\n"


def test_a_part_of_the_text_does_not_slip_into_another(cached: Cached) -> None:
    assert not cached(STDIN | {"prompt": "a", "preamble": "bc = 1"}).cached
    assert not cached(STDIN | {"prompt": "ab", "preamble": "c = 1"}).cached


NOT_KEPT: dict[str, tuple[dict[str, Any], str, dict[str, Any], Verdict]] = {
    "time": (STDIN, "while True: pass", {"limits": replace(PATIENT, cpu_s=0.5)}, Verdict.TIME_LIMIT),
    "memory": (STDIN, "x = b'1' * 10**9", {"limits": replace(PATIENT, memory_mb=100)}, Verdict.MEMORY_LIMIT),
    "time in a later test": (
        {"task_id": "t", "in_outs": {"inputs": ["1", "2"], "outputs": ["2", "2"]}},
        "if input() == '2':\n    while True: pass",
        {"limits": replace(PATIENT, cpu_s=0.5)},
        Verdict.WRONG_ANSWER,
    ),
    "killed": (STDIN, "import os\nos.kill(os.getpid(), 9)", {}, Verdict.RUNTIME_ERROR),
    "unknown": (STDIN | {"checker": "no such"}, PROGRAM, {}, Verdict.UNKNOWN),
    "no tests": ({"task_id": "t"}, PROGRAM, {}, Verdict.UNKNOWN),
    "both ways": (SUITE, "def f(x): return x", {"grader": "both_ways"}, Verdict.WRONG_ANSWER),
    "a test of its day": (
        SUITE | {"test": "import datetime\ndef check(f):\n    assert f(1) == datetime.date.today().year\n"},
        "def f(x): return x",
        {},
        Verdict.WRONG_ANSWER,
    ),
    "an answer": ({"task_id": "t", "answer": "2"}, "2", {}, Verdict.PASSED),
}


@pytest.mark.parametrize("what", NOT_KEPT)
def test_what_may_be_another_grade_next_time_is_not_kept(cached: Cached, what: str) -> None:
    row, completion, options, verdict = NOT_KEPT[what]
    grades = [cached(row, completion, **options) for _ in range(2)]
    assert [(grade.verdict, grade.cached) for grade in grades] == [(verdict, False)] * 2


def test_a_length_penalty_is_that_of_the_length(cached: Cached) -> None:
    grader = "colossalai:max_new_tokens=100,overlong_tokens=50"
    row = {"task_id": "t", "in_outs": {"inputs": ["1\n"], "outputs": ["2\n"]}}
    answers = [
        cached(row, "```python\nprint(2)\n```", grader=grader, metadata={"response_length": length})
        for length in (60, 60, 90)
    ]
    assert [(grade.reward, grade.cached) for grade in answers] == [(8.0, False), (8.0, True), (2.0, False)]


OWN = """
def grade(task, rollout, bench):
    from evaluator.graders import tests
    return {"reward": tests.grade(task, rollout, bench).reward}
"""


def test_a_function_of_the_users_is_kept_if_its_file_says_so(cached: Cached, tmp_path: Path) -> None:
    (tmp_path / "silent.py").write_text(OWN)
    (tmp_path / "own.py").write_text(f"REPEATABLE = True\n{OWN}")
    (tmp_path / "other.py").write_text(f"REPEATABLE = True\n{OWN}")
    silent, own, other = (f"{tmp_path}/{name}.py:grade" for name in ("silent", "own", "other"))
    parts = json.dumps({"name": "weighted", "graders": [{"grader": "tests"}, {"grader": own, "name": "own"}]})
    assert [cached(STDIN, grader=silent).cached for _ in range(2)] == [False, False]
    assert [cached(STDIN, grader=own).cached for _ in range(2)] == [False, True]
    assert [cached(STDIN, grader=parts).cached for _ in range(2)] == [False, True]
    assert not cached(STDIN | {"difficulty": 7}, grader=own).cached, "it may read every field"
    assert not cached(STDIN, grader=other).cached


def test_a_test_that_only_has_the_words_is_kept(cached: Cached) -> None:
    row = SUITE | {"test": "def check(f):\n    assert f('Is it now, or today?') == 1\n"}
    assert [cached(row, "def f(x): return 1").cached for _ in range(2)] == [False, True]


def test_duplicates_of_a_grade_from_the_cache_point_to_it(cached: Cached) -> None:
    task = Task.from_row(STDIN)
    rollouts = [Rollout(task_id="t", completion=PROGRAM, sample_id=str(number)) for number in range(3)]
    for was_cached in (False, True):
        grades = list(grade_all([task], rollouts, limits=PATIENT, workers=1, cache=cached.folder))
        assert sorted((each.sample_id, each.duplicate_of) for each in grades) == [("0", None), ("1", "0"), ("2", "0")]
        assert [each.cached for each in grades] == [was_cached] * 3
