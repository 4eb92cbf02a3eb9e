"""`grade_file`: names, callbacks, bad lines, stopping, resuming, refusals. No code is graded, so no sandbox starts."""

import json
import re
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from evaluator import FormatError, Grade, GradedFile, grade_file
from evaluator.checkers import CheckerError
from evaluator.formats import Problem
from evaluator.graders import GraderError
from evaluator.runs.files import default_run
from evaluator.runs.reading import QueryError, Run, RunError
from evaluator.runs.resuming import count_lines, dataset_path, resume_command
from evaluator.runs.schema import MAX_PROBLEMS
from evaluator.sandbox import InterpreterError, Settings

RIGHT = {"task_id": "t", "completion": "42"}
WRONG = {"task_id": "t", "completion": "41"}
TASK = {"task_id": "t", "answer": "42"}


def lines(*rows: object) -> str:
    return "".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a dataset and three rollouts."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d.jsonl").write_text(lines(TASK))
    (tmp_path / "r.jsonl").write_text(lines(RIGHT, WRONG, RIGHT))
    return tmp_path


def rewards(run: str | Path) -> list[float | None]:
    rows = Run.open(run).connect().sql('SELECT reward FROM rollouts ORDER BY "row"').fetchall()
    return [reward for (reward,) in rows]


def stopping(after: int) -> tuple[Callable[[Grade], None], threading.Event]:
    """Of these the first sets the second when it has seen so many grades."""
    stop, seen = threading.Event(), 0

    def count(grade: Grade) -> None:
        nonlocal seen
        seen += 1
        if seen == after:
            stop.set()

    return count, stop


def test_the_grades_are_kept_as_a_run() -> None:
    totals: list[int | None] = []
    grades: list[Grade] = []
    done = grade_file("r.jsonl", "d.jsonl", on_start=totals.append, on_grade=grades.append)
    assert (done.graded, done.stopped, done.bad_lines) == (3, False, 0)
    assert re.fullmatch(r"runs/r-\d{8}T\d{6}Z", str(done.run))
    assert rewards(done.run) == [1.0, 0.0, 1.0]
    assert sorted(grade.sample_id for grade in grades) == ["t#0", "t#1", "t#2"]
    assert totals == [3]
    manifest = Run.open(done.run).manifest
    assert (manifest.state, manifest.rollouts, manifest.dataset) == ("finished", "r.jsonl", "d.jsonl")


@pytest.mark.parametrize(
    ("file", "stem"),
    [
        ("r.jsonl", "r"), ("r.json.gz", "r"), ("a/r.jsonl.zst", "r"), ("r.rollouts.jsonl", "r"),
        ("step.12.jsonl", "step.12"), (".jsonl", "rollouts"), ("r.txt", "r.txt"),
    ],
)  # fmt: skip
def test_a_run_has_the_name_of_its_rollouts(file: str, stem: str) -> None:
    assert re.fullmatch(rf"runs/{re.escape(stem)}-\d{{8}}T\d{{6}}Z", str(default_run(Path(file))))


def test_a_name_that_is_taken_gets_a_number() -> None:
    now = datetime.now(UTC)
    for second in range(60):
        time = (now + timedelta(seconds=second)).strftime("%Y%m%dT%H%M%SZ")
        Path("runs", f"r-{time}").mkdir(parents=True)
        Path("runs", f"r-{time}-2").mkdir()
    assert default_run(Path("r.jsonl")).name.endswith("Z-3")


@pytest.mark.parametrize(("content", "count"), [("", 0), ("a", 1), ("a\n", 1), ("a\nb", 2)])
def test_a_last_line_without_an_end_counts(content: str, count: int) -> None:
    Path("c.jsonl").write_text(content)
    assert count_lines(Path("c.jsonl")) == count


def test_bad_lines_are_reported_all_and_kept_in_bounded_number() -> None:
    many = MAX_PROBLEMS - 100
    Path("d.jsonl").write_text(lines(*["no JSON"] * many, TASK))
    Path("r.jsonl").write_text(lines(*["no JSON"] * many, RIGHT))
    seen: list[Problem] = []
    done = grade_file("r.jsonl", "d.jsonl", out="run", on_problem=seen.append)
    assert (done.graded, done.bad_lines, len(seen)) == (1, 2 * many, 2 * many)
    manifest = Run.open("run").manifest
    assert [(each.path, each.line) for each in manifest.problems] == [
        (each.path, each.line) for each in seen[:MAX_PROBLEMS]
    ]
    assert [(each.line, each.offset, each.reason) for each in manifest.problems[:2]] == [
        (1, 0, "not JSON"), (2, 8, "not JSON"),
    ]  # fmt: skip
    assert manifest.problem_reasons == {"not JSON": 2 * many}
    again = grade_file("r.jsonl", "d.jsonl", out="run", resume=True)
    assert Run.open("run").manifest.problem_reasons == {"not JSON": 2 * many}
    assert (again.graded, again.bad_lines, Run.open("run").manifest.problems_total) == (0, 2 * many, 2 * many)


def test_what_was_stopped_is_kept_and_resumed() -> None:
    Path("r.jsonl").write_text(lines(*[RIGHT | {"completion": f"{n}, so 42"} for n in range(50)]))
    count, stop = stopping(after=2)
    stopped = grade_file("r.jsonl", "d.jsonl", out="run", workers=1, on_grade=count, stop=stop)
    assert (stopped.graded, stopped.stopped, Run.open("run").manifest.state) == (2, True, "stopped")
    totals: list[int | None] = []
    rest = grade_file("r.jsonl", "d.jsonl", out="run", resume=True, on_start=totals.append)
    assert (rest.graded, rest.stopped, totals) == (48, False, [48])
    assert len(rewards("run")) == 50


@pytest.mark.parametrize(
    ("options", "left"), [({"limit": 10}, 0), ({"limit": 30}, 10), ({}, 30), ({"only": "wrong_answer", "limit": 5}, 5)]
)
def test_what_is_left_is_what_of_the_limit_is_not_done(options: dict[str, Any], left: int) -> None:
    Path("r.jsonl").write_text(lines(*[RIGHT | {"completion": f"{n}, so 42"} for n in range(50)]))
    count, stop = stopping(after=20)
    grade_file("r.jsonl", "d.jsonl", out="run", workers=1, on_grade=count, stop=stop)
    totals: list[int | None] = []
    rest = grade_file("r.jsonl", "d.jsonl", out="run", resume=True, on_start=totals.append, **options)
    assert (totals, rest.graded) == ([left], left)


def test_what_a_callback_raises_ends_it_and_it_can_be_resumed() -> None:
    def full(grade: Grade) -> None:
        raise OSError("no room for my own file")

    with pytest.raises(OSError, match="my own file"):
        grade_file("r.jsonl", "d.jsonl", out="run", workers=1, on_grade=full)
    assert (Run.open("run").manifest.state, len(rewards("run"))) == ("stopped", 1)
    assert grade_file("r.jsonl", "d.jsonl", out="run", resume=True).graded == 2


@pytest.mark.parametrize("only", ["wrong_answer", "wrong_answer, time_limit", "reward < 0.5"])
def test_some_are_graded_again(only: str) -> None:
    grade_file("r.jsonl", "d.jsonl", out="run")
    Path("r.jsonl").write_text(lines(WRONG, RIGHT, WRONG))  # only what is graded again can show it
    totals: list[int | None] = []
    again = grade_file("r.jsonl", "d.jsonl", out="run", only=only, on_start=totals.append)
    assert (again.graded, totals, rewards("run")) == (1, [1], [1.0, 1.0, 1.0])


def test_a_run_keeps_its_grader_and_checker_wherever_it_is_resumed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("own.py").write_text("RUNS_CODE = False\ndef half(task, rollout, bench):\n    return 0.5\n")
    done = grade_file("r.jsonl", "d.jsonl", out="run", grader="own.py:half", checker="tokens", limit=1)
    manifest = Run.open("run").manifest
    assert (done.graded, manifest.options.grader, manifest.options.checker) == (1, f"{folder}/own.py:half", "tokens")
    (folder / "elsewhere").mkdir()
    monkeypatch.chdir("elsewhere")
    assert grade_file("../r.jsonl", "../d.jsonl", out="../run", resume=True).graded == 2
    assert rewards("../run") == [0.5] * 3


def test_a_resumed_run_keeps_its_preamble_and_takes_no_other() -> None:
    grade_file("r.jsonl", "d.jsonl", out="run", preamble="import math", limit=1)
    grade_file("r.jsonl", "d.jsonl", out="run", resume=True)
    assert Run.open("run").manifest.options.preamble == "import math"
    with pytest.raises(RunError, match="was graded with preamble one of 1 lines, not one of 2 lines"):
        grade_file("r.jsonl", "d.jsonl", out="run", preamble="import re\nimport math", resume=True)


def test_the_dataset_has_names_of_its_own_which_a_resumed_run_keeps() -> None:
    Path("r.jsonl").write_text(lines({"uid": "t", "said": {"text": "42"}}, {"uid": "t", "said": {"text": "41"}}))
    Path("d.jsonl").write_text(lines({"name": "t", "solution": {"value": "42"}}))
    field_map = {"task_id": "uid", "completion": "said.text"}
    dataset_map = {"task_id": "name", "answer": "solution.value"}
    grade_file("r.jsonl", "d.jsonl", out="run", field_map=field_map, dataset_map=dataset_map, limit=1)
    assert Run.open("run").manifest.dataset_map == "task_id=name,answer=solution.value"
    assert grade_file("r.jsonl", "d.jsonl", out="run", field_map=field_map, resume=True).graded == 1
    assert rewards("run") == [1.0, 0.0]
    manifest = Run.open("run").manifest
    assert manifest.field_map == "task_id=uid,completion=said.text"
    assert manifest.dataset_map == "task_id=name,answer=solution.value"


def test_several_files_whose_rows_have_the_tests_need_no_dataset(folder: Path) -> None:
    tests = json.dumps({"inputs": ["1"], "outputs": ["2"], "fn_name": "f"})
    (folder / "dumps").mkdir()
    for step in (1, 2):
        code = f"def f(x):\n    return x * {step}\n"
        row = {"input": "Double it.", "output": code, "gts": tests, "score": 0.0, "step": step}
        (folder / "dumps" / f"{step}.jsonl").write_text(lines(row))
    done = grade_file("dumps", out="run", workers=1)
    assert (done.graded, rewards("run")) == (2, [0.0, 1.0])
    files = ["dumps/1.jsonl", "dumps/2.jsonl"]
    grade_file(files, out="two", workers=1, limit=1)
    manifest = Run.open("two").manifest
    assert "--dataset" not in resume_command(Path("two"), manifest)
    assert dataset_path(Path("two"), manifest) is None
    assert grade_file(files, out="two", workers=1, resume=True).graded == 1
    (folder / "dumps" / "3.jsonl").write_text(lines({"input": "?", "output": "x", "score": 0.0, "step": 3}))
    with pytest.raises(FormatError, match="has no tests: name the dataset"):
        grade_file("dumps", out="three")


def test_each_file_is_read_in_the_format_that_is_named_for_it() -> None:
    Path("d.jsonl").write_text(lines({"id": "t", "query": "?", "answer": "42", "test": ""}))
    done = grade_file("r.jsonl", "d.jsonl", format="native", dataset_format="query_answer")
    assert rewards(done.run) == [1.0, 0.0, 1.0]
    with pytest.raises(FormatError, match="'mbpp' has no rollouts"):
        grade_file("r.jsonl", "d.jsonl", format="mbpp", dataset_format="query_answer")


def test_rewards_that_came_with_the_rollouts_need_no_dataset() -> None:
    Path("r.jsonl").write_text(lines(RIGHT | {"given_reward": 0.25}))
    assert rewards(grade_file("r.jsonl", grader="stored").run) == [0.25]


@pytest.mark.parametrize(
    ("grade", "error", "said"),
    [
        (lambda: grade_file("r.jsonl", out="run"), FormatError, "r.jsonl: has no tests: name the dataset"),
        (lambda: grade_file("no.jsonl", "d.jsonl", out="run"), FormatError, "no.jsonl"),
        (lambda: grade_file("r.jsonl", "no.jsonl", out="run"), FormatError, "no.jsonl"),
        (lambda: grade_file("r.jsonl", "d.jsonl", out="run", grader="no"), GraderError, "'no' is unknown"),
        (lambda: grade_file("r.jsonl", "d.jsonl", out="run", checker="no"), CheckerError, "'no' is unknown"),
        (lambda: grade_file("r.jsonl", "d.jsonl", out="run", format="no"), FormatError, "no"),
        (lambda: grade_file("r.jsonl", "d.jsonl", out="run", dataset_format="no"), FormatError, "'no' is unknown"),
        (
            lambda: grade_file("r.jsonl", out="run", grader="stored", dataset_format="nemo_rl"),
            FormatError,
            "has no tasks",
        ),
        (lambda: grade_file("r.jsonl", "d.jsonl", resume=True), RunError, "name its directory with out"),
        (lambda: grade_file("r.jsonl", "d.jsonl", out="run", only="passed"), RunError, "run is not a run"),
        (
            lambda: grade_file("r.jsonl", "d.jsonl", out="run", sandbox=Settings(python="no")),
            InterpreterError,
            "no such file",
        ),
    ],
)
def test_what_can_not_be_graded_is_said_in_one_line_and_nothing_is_left(
    grade: Callable[[], GradedFile], error: type[ValueError], said: str
) -> None:
    with pytest.raises(error, match=re.escape(said)) as raised:
        grade()
    assert "\n" not in str(raised.value)
    assert not Path("run").exists()


def test_a_run_is_not_overwritten_and_a_bad_condition_leaves_it_as_it_was() -> None:
    grade_file("r.jsonl", "d.jsonl", out="run")
    with pytest.raises(RunError, match="already holds a run"):
        grade_file("r.jsonl", "d.jsonl", out="run")
    with pytest.raises(QueryError):
        grade_file("r.jsonl", "d.jsonl", out="run", only="no_such_column = 1")
    assert (Run.open("run").manifest.state, rewards("run")) == ("finished", [1.0, 0.0, 1.0])
