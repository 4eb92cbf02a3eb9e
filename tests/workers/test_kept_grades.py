"""Which grades are kept, what brings one back, and what it then says."""

import json
import os
import shutil
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import evaluator
from evaluator import Grade, Limits, Rollout, Task
from evaluator.graders import grader_of
from evaluator.model import Kind, Verdict
from evaluator.options import CacheSettings, Options
from evaluator.sandbox import Sandbox, Settings
from evaluator.workers.cached_grades import CachedGrades, cache_settings
from evaluator.workers.worker import Worker

PATIENT = Limits(wall_s=60, cpu_s=60, total_s=180)
DRAW = "open('/dev/urandom', 'rb').read(8).hex()"
PROGRAM = f"print({DRAW})"
"""Prints something else whenever it is run."""
STDIN: dict[str, Any] = {"task_id": "t", "in_outs": {"inputs": ["1\n"], "outputs": ["2\n"]}}
CALL: dict[str, Any] = {"task_id": "t", "mode": "call", "in_outs": {"fn_name": "f", "inputs": [[1]], "outputs": [2]}}
SUITE: dict[str, Any] = {
    "task_id": "t",
    "mode": "assert",
    "entry_point": "f",
    "test": "def check(candidate):\n    for x in (1, 2):\n        assert candidate(x) == 2 * x, candidate(x)\n",
}


class Cached:
    """Grades in this process, with a cache of the test's own. Each grading is a run of its own."""

    def __init__(self, folder: Path, sandbox: Sandbox) -> None:
        self.folder = folder
        self.sandbox = sandbox

    def __call__(self, row: dict[str, Any], completion: str = PROGRAM, *, cache: bool = True, **given: Any) -> Grade:
        of_run = {name: given.pop(name) for name in ("limits", "grader") if name in given}
        options = Options(**{"limits": PATIENT, "cache": cache_settings(self.folder if cache else None)} | of_run)
        task = Task.from_row(row)
        rollout = Rollout(**{"task_id": task.task_id, "sample_id": "s", "completion": completion} | given)
        with closing(Worker(options, sandbox=self.sandbox)) as worker:
            return worker.grade(task, rollout)


@pytest.fixture
def cached(tmp_path: Path, sandbox: Sandbox) -> Cached:
    return Cached(tmp_path / "cache", sandbox)


SAME: dict[str, tuple[dict[str, Any], str]] = {
    "wrong": (STDIN, "import sys\nprint(3)\nprint('\\x00é', file=sys.stderr)"),
    "does not compile": (CALL, "def f(x: return"),
    "a chat answer": (CALL, "Well:\n```python\ndef f(x):\n    return 2\n```\nThat is it."),
    "flagged": (CALL, "def f(x):\n    if x == 1:\n        return 2\n"),
    "a literal call": (
        SUITE | {"test": "def check(f):\n    assert f('Is it now, or today?') == 2\n"},
        "def f(x): return {1}",
    ),
    "a suite": (SUITE, "def f(x):\n    return 2 * x"),
    "a suite that fails": (SUITE, "def f(x):\n    return x"),
}


@pytest.mark.parametrize("what", SAME)
def test_a_grade_from_the_cache_says_what_a_new_one_says(cached: Cached, what: str) -> None:
    row, completion = SAME[what]
    first, second = (cached({**row, "task_id": name}, completion, sample_id=f"{name}!") for name in "ab")
    anew = cached({**row, "task_id": "b"}, completion, sample_id="b!", cache=False)
    assert [each.cached for each in (first, second, anew)] == [False, True, False]
    assert without_times(second) == without_times(anew)
    assert [(case.wall_s, case.cpu_s, case.memory_mb) for case in second.cases] == [
        (case.wall_s, case.cpu_s, case.memory_mb) for case in first.cases
    ]


def without_times(grade: Grade) -> Grade:
    cases = tuple(replace(case, wall_s=None, cpu_s=None, memory_mb=None) for case in grade.cases)
    return replace(grade, cases=cases, cached=False)


def key(
    sandbox: Sandbox,
    row: dict[str, Any] | None = None,
    kind: Kind = Kind.CHAT,
    completion: str = PROGRAM,
    **options: Any,
) -> bytes | None:
    task = Task.from_row(STDIN | (row or {}))
    made = Options(**{"limits": PATIENT} | options)
    rollout = Rollout(task_id=task.task_id, completion=completion, kind=kind)
    cached = CachedGrades(made, CacheSettings(folder="none", run=""))
    return cached.key(task, rollout, grader_of(task, made.grader), sandbox)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({}, {"row": {"task_id": "other"}}),
        ({}, {"row": {"source": "elsewhere", "licence": "MIT"}}),
        ({}, {"row": {"difficulty": 7}}),
        ({}, {"cache": cache_settings(True)}),
        ({"row": {"limits": {"wall_s": 28, "cpu_s": 29}}}, {"row": {"limits": {"cpu_s": 29, "wall_s": 28}}}),
        ({"grader": "tests:reward=fraction"}, {"grader": '{"reward": "fraction", "name": "tests"}'}),
    ],
    ids=["id", "source", "field", "cache", "limits in another order", "grader in another order"],
)
def test_what_decides_nothing_is_not_in_the_key(sandbox: Sandbox, one: dict[str, Any], other: dict[str, Any]) -> None:
    assert key(sandbox, **one) == key(sandbox, **other) is not None


DECIDES: list[dict[str, Any]] = [
    {"row": {"in_outs": {"inputs": ["2\n"], "outputs": ["2\n"]}}},
    {"row": {"in_outs": {"inputs": ["1\n"], "outputs": ["3\n"]}}},
    {"row": {"in_outs": {"inputs": ["1\n", "1\n"], "outputs": ["2\n", "2\n"]}}},
    {"row": {"mode": "call", "entry_point": "f"}},
    {"row": {"prompt": "Add."}},
    {"row": {"preamble": "import math"}},
    {"row": {"prompt": "a", "preamble": "bc = 1"}},
    {"row": {"prompt": "ab", "preamble": "c = 1"}},  # a part of the text does not slip into another
    {"row": {"reference": "print(2)"}},
    {"row": {"checker": "tokens"}},
    {"checker": "tokens"},
    {"row": {"checker_code": "print(1)"}},
    {"row": {"checker_code": "print(0)"}},
    {"row": {"time_limit": 1}},
    {"row": {"memory_limit": 256}},
    {"time_factor": 2.0},
    {"row": {"grader": "tests:reward=fraction"}},
    {"grader": "tests:reward=fraction"},
    {"row": {"exit_code": "strict"}},
    {"row": {"weights": [2]}},
    {"row": {"limits": {"wall_s": 29}}},
    {"limits": replace(PATIENT, memory_mb=900)},
    {"row": {"libs": "['numpy']"}},
    {"fail_fast": True},
    {"isolation": "test"},
    {"unverified": "unknown"},
    {"disagreement": "keep"},
    {"kind": Kind.FULL},
    {"completion": f"{PROGRAM} "},
]


def test_what_decides_is_in_the_key(sandbox: Sandbox) -> None:
    found = {str(each): key(sandbox, **each) for each in [{}, *DECIDES]}
    for settings in (Settings(strictness="degraded"), Settings(python=sys.executable)):
        with Sandbox(settings) as other:
            other.require_proof()
            found[str(settings)] = key(other)
    assert None not in found.values()
    equal = [[name for name in found if found[name] == digest] for digest in set(found.values())]
    assert [names for names in equal if len(names) > 1] == []


IS_CACHED = """
from pathlib import Path
from evaluator import Rollout, Task, grade_all
task = Task.from_row({"task_id": "t", "in_outs": {"inputs": ["1\\n"], "outputs": ["2\\n"]}})
print([each.cached for each in grade_all([task], [Rollout(task_id="t", completion="print(2)")], cache=Path("c"))])
"""


@pytest.mark.slow
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


NOT_KEPT: dict[str, tuple[dict[str, Any], str, dict[str, Any], Verdict]] = {
    "time": (STDIN, "while True: pass", {"limits": replace(PATIENT, cpu_s=0.5)}, Verdict.TIME_LIMIT),
    "time in a later test": (
        {"task_id": "t", "in_outs": {"inputs": ["1", "2"], "outputs": ["2", "2"]}},
        "if input() == '2':\n    while True: pass",
        {"limits": replace(PATIENT, cpu_s=0.5)},
        Verdict.WRONG_ANSWER,
    ),
    "killed": (STDIN, "import os\nos.kill(os.getpid(), 9)", {}, Verdict.RUNTIME_ERROR),
    "unknown": (STDIN | {"checker": "no such"}, PROGRAM, {}, Verdict.UNKNOWN),
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
    answers = [
        cached(STDIN, "```python\nprint(2)\n```", grader=grader, metadata={"response_length": length})
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
