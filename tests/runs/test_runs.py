"""The run directory: what is written can be read, after any end, by SQL that can touch nothing else."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import duckdb
import msgspec
import pytest

from evaluator.model import (
    CaseResult,
    Difference,
    Flag,
    Frame,
    Grade,
    Limits,
    Mode,
    Rollout,
    Task,
    TestCase,
    Traceback,
    Verdict,
)  # fmt: skip
from evaluator.runs import writing
from evaluator.runs.reading import Manifest, QueryError, Run, RunError, rows_where, select
from evaluator.runs.schema import TABLES, column_names, sample_key
from evaluator.runs.writing import RunWriter
from tests.manifests import manifest_of
from tests.runs.older_run import forget_columns

TASK = Task(
    task_id="add",
    mode=Mode.CALL,
    prompt="Add two numbers.",
    entry_point="add",
    cases=(TestCase(0, "1\n2", "3"), TestCase(1, "2\n2", "4")),
)


def manifest(**fields: object) -> Manifest:
    return manifest_of(**({"dataset": "d.jsonl", "dataset_hash": "abc", "evaluator_version": "0.1.0"} | fields))


def rollout(sample: str, **fields: object) -> Rollout:
    return Rollout(**({"task_id": "add", "sample_id": sample, "completion": "def add(a, b): ...", "line": 7} | fields))


def grade(sample: str, verdict: Verdict = Verdict.PASSED, **fields: object) -> Grade:
    reward = {Verdict.PASSED: 1.0, Verdict.SANDBOX_ERROR: None, Verdict.UNKNOWN: None}.get(verdict, 0.0)
    return Grade(**({"task_id": "add", "sample_id": sample, "verdict": verdict, "reward": reward} | fields))


def write(path: Path, *grades: Grade, resume: bool = False, regrade: bool = False) -> None:
    with RunWriter.create(path, manifest(), resume=resume) as writer:
        writer.add_task(TASK, TASK.cases)
        if regrade:
            writer.regrade()
        for row, one in enumerate(grades):
            writer.add(rollout(one.sample_id), one, row)
        writer.close("finished")


def rows(path: Path, sql: str) -> list[tuple[object, ...]]:
    return Run.open(path).connect().execute(sql).fetchall()


def test_a_grade_comes_back_as_it_went_in(tmp_path: Path) -> None:
    traceback = Traceback("KeyError", "'x'", (Frame(3, "add", "return d['x']"),))
    cases = (
        CaseResult(index=0, verdict=Verdict.PASSED, actual="3", expected="3", wall_s=0.5, cpu_s=0.25,
                   memory_mb=9.0),
        CaseResult(index=1, verdict=Verdict.WRONG_ANSWER, actual="5", expected="4", wall_s=0.5,
                   memory_mb=11.0, difference=Difference("expected 4, got 5", line=1, column=1, path="[0]")),
        CaseResult(index=2, verdict=Verdict.RUNTIME_ERROR, error_type="KeyError", stdout="hi", stdout_bytes=2,
                   exit_code=1, traceback=traceback),
    )  # fmt: skip
    graded = grade(
        "s1", Verdict.WRONG_ANSWER, cases=cases, pass_rate=1 / 3, flags=(Flag("prints", "hi"),),
        checker="value", code="def add(a, b): ...", line_offset=2, layers=("seccomp",), error_line=3,
        limits=Limits(wall_s=2.0),
    )  # fmt: skip
    given = rollout("s1", model="m", group="g", step=3, sample_index=1, expected_pass=False, given_reward=0.25)
    with RunWriter.create(tmp_path / "run", manifest()) as writer:
        writer.add_task(TASK, TASK.cases)
        writer.add(given, graded, 41)

    connection = Run.open(tmp_path / "run").connect()
    [row] = connection.sql("FROM rollouts").to_df().to_dict("records")
    assert (row["row"], row["reward"], row["verdict"], row["group"]) == (41, 0.0, "wrong_answer", "g")
    assert (row["tests_passed"], row["tests_total"], row["first_failing_test"]) == (1, 3, 1)
    assert (row["wall_s"], row["cpu_s"], row["memory_mb"]) == (1.0, 0.25, 11.0)
    assert [list(row[name]) for name in ("flags", "flag_evidence", "layers")] == [["prints"], ["hi"], ["seccomp"]]
    assert (row["dataset_hash"], row["source_line"], row["expected_pass"]) == ("abc", 7, False)
    assert msgspec.json.decode(row["limits"], type=Limits) == Limits(wall_s=2.0)
    wrong, error = connection.sql("FROM cases ORDER BY test_index").fetchall()[1:]
    names = column_names("cases")
    assert wrong[names.index("difference")] == "expected 4, got 5"
    assert wrong[names.index("diff_path")] == "[0]"
    assert error[names.index("error_line")] == 3
    assert msgspec.json.decode(error[names.index("traceback")], type=Traceback) == traceback
    [(task, stored)] = connection.sql("SELECT task, cases FROM tasks").fetchall()
    assert msgspec.json.decode(task, type=Task) == TASK
    assert msgspec.json.decode(stored, type=tuple[TestCase, ...]) == TASK.cases


REASONS = "SELECT sample_id, verified, unverified_reason FROM rollouts ORDER BY 1"


def test_a_run_of_a_version_that_knew_fewer_columns_opens(tmp_path: Path) -> None:
    run = tmp_path / "run"
    write(run, grade("a", cases=(CaseResult(index=0, verdict=Verdict.PASSED),)), grade("b"))
    forget_columns(run, "unverified_reason", "flags")
    forget_columns(run, "exit_code", "traceback", table="cases")
    assert rows(run, REASONS) == [("a", True, None), ("b", True, None)]
    assert rows(run, "SELECT exit_code, verdict FROM cases") == [(None, "passed")]
    RunWriter.create(tmp_path / "empty", manifest()).close("finished")
    assert_same_columns(run, tmp_path / "empty")


def assert_same_columns(run: Path, other: Path) -> None:
    one, two = Run.open(run).connect(), Run.open(other).connect()
    for table in TABLES:
        assert one.view(table).columns == two.view(table).columns == column_names(table)
        assert [str(t) for t in one.view(table).types] == [str(t) for t in two.view(table).types]


def test_a_run_of_an_older_version_that_was_gone_on_with_shows_what_each_part_has(tmp_path: Path) -> None:
    run = tmp_path / "run"
    write(run, grade("a"), grade("b", Verdict.SANDBOX_ERROR))
    forget_columns(run, "unverified_reason")
    write(run, grade("c", verified=False, unverified_reason="it patches `open`"), resume=True)
    assert rows(run, REASONS) == [("a", True, None), ("b", True, None), ("c", False, "it patches `open`")]
    write(run, grade("b", verified=False, unverified_reason="late"), resume=True, regrade=True)
    assert rows(run, REASONS) == [("a", True, None), ("b", False, "late"), ("c", False, "it patches `open`")]
    assert rows(run, "SELECT count(*) FROM rollouts WHERE unverified_reason IS NULL") == [(1,)]


def test_the_bundled_run_opens() -> None:
    bundled = Path(__file__).resolve().parent.parent.parent / "data" / "example.run"
    assert rows(bundled, "SELECT count(*) FROM rollouts WHERE verified AND unverified_reason IS NOT NULL") == [(0,)]


def test_a_grade_that_could_not_be_made_has_no_reward(tmp_path: Path) -> None:
    write(tmp_path / "run", grade("a", Verdict.SANDBOX_ERROR), grade("b", Verdict.UNKNOWN), grade("c"))
    assert rows(tmp_path / "run", "SELECT avg(reward), count(reward) FROM rollouts") == [(1.0, 1)]
    assert Run.open(tmp_path / "run").manifest.counts == {
        "rollouts": 3, "sandbox_error": 1, "unknown": 1, "passed": 1,
    }  # fmt: skip


def test_text_that_is_not_unicode_is_kept_readable(tmp_path: Path) -> None:
    with RunWriter.create(tmp_path / "run", manifest()) as writer:
        writer.add(rollout("s\udcff", completion="x = '\ud800' # \0 \U0001f600"), grade("s\udcff", code="é\udc80"), 0)
        writer.add(rollout("t", completion=r"x = '\ud800'"), grade("t", flags=(Flag("f", "\udfff"),)), 1)
    got = rows(tmp_path / "run", "SELECT sample_id, completion, code, flag_evidence FROM rollouts ORDER BY row")
    assert got == [
        (r"s\udcff", "x = '\\ud800' # \0 \U0001f600", r"é\udc80", []),
        ("t", r"x = '\ud800'", None, [r"\udfff"]),
    ]
    with RunWriter.create(tmp_path / "run", manifest(), resume=True) as writer:
        assert sample_key("add", "s\udcff") in writer.graded_samples()


def test_the_columns_of_the_files_are_those_of_the_empty_views(tmp_path: Path) -> None:
    RunWriter.create(tmp_path / "empty", manifest()).close("finished")
    write(tmp_path / "full", grade("a", cases=(CaseResult(index=0, verdict=Verdict.PASSED),)))
    assert_same_columns(tmp_path / "empty", tmp_path / "full")
    assert all(rows(tmp_path / "empty", f"FROM {table}") == [] for table in TABLES)
    assert rows(tmp_path / "empty", "SELECT avg(reward), sum(len(flags)), max(row) FROM rollouts") == [(None,) * 3]


def test_a_run_can_be_read_while_it_grows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "PART_ROWS", 2)
    writer = RunWriter.create(tmp_path / "run", manifest())
    seen = []
    for row in range(5):
        writer.add(rollout(f"s{row}"), grade(f"s{row}"), row)
        seen += rows(tmp_path / "run", "SELECT count(*) FROM rollouts")[0]
    assert seen == [0, 2, 2, 4, 4]
    assert Run.open(tmp_path / "run").manifest.state == "running"
    writer.close("stopped")
    assert rows(tmp_path / "run", "SELECT count(*) FROM rollouts") == [(5,)]
    assert Run.open(tmp_path / "run").manifest.state == "stopped"


def test_tasks_that_are_written_while_a_run_is_opened_do_not_matter(tmp_path: Path) -> None:
    write(tmp_path / "run", grade("s1"))
    tasks = tmp_path / "run" / "tasks.parquet"
    tasks.rename(tmp_path / "later")
    run = Run.open(tmp_path / "run")
    with run.connect(parts=True) as connection:
        (tmp_path / "later").rename(tasks)
        run.view_parts(connection, run.parts, run.parts)
        assert connection.sql("SELECT count(*) FROM part_rollouts").fetchall() == [(1,)]


def test_a_part_is_written_before_its_text_fills_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "PART_BYTES", 10_000)
    writer = RunWriter.create(tmp_path / "run", manifest())
    loud = CaseResult(index=0, verdict=Verdict.PASSED, stdout="x" * 20_000)
    writer.add(rollout("a"), grade("a", cases=(loud,)), 0)
    assert Run.open(tmp_path / "run").parts == [0]


def test_resume_knows_what_is_graded_and_adds_to_it(tmp_path: Path) -> None:
    write(tmp_path / "run", grade("a"), grade("b"))
    with RunWriter.create(tmp_path / "run", manifest(), resume=True) as writer:
        assert writer.graded_samples() == {sample_key("add", "a"), sample_key("add", "b")}
        writer.add(rollout("c"), grade("c", Verdict.TIME_LIMIT), 2)
        writer.close("finished")
    assert rows(tmp_path / "run", "SELECT sample_id FROM rollouts ORDER BY 1") == [("a",), ("b",), ("c",)]
    assert rows(tmp_path / "run", "SELECT count(*) FROM tasks") == [(1,)]
    assert Run.open(tmp_path / "run").manifest.counts == {"rollouts": 3, "passed": 2, "time_limit": 1}


def test_keys_of_samples_do_not_run_into_each_other() -> None:
    assert sample_key("ab", "c") != sample_key("a", "bc")


def test_resume_refuses_another_way_of_grading(tmp_path: Path) -> None:
    write(tmp_path / "run", grade("a"))
    for other, named in (
        (manifest(dataset_hash="def"), "dataset hash"),
        (manifest(checker="exact"), "checker"),
        (manifest(unverified="unknown"), "unverified keep, not unknown"),
        (manifest(limits=Limits(wall_s=1.0)), "limits"),
    ):
        with pytest.raises(RunError, match=f"{named}.*--output") as refused:
            RunWriter.create(tmp_path / "run", other, resume=True)
        assert "\n" not in str(refused.value)
    RunWriter.create(tmp_path / "run", manifest(), resume=True).close()  # and it let go of the lock


def test_a_run_is_not_overwritten(tmp_path: Path) -> None:
    write(tmp_path / "run", grade("a"))
    with pytest.raises(RunError, match="--resume"):
        RunWriter.create(tmp_path / "run", manifest())
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("dear")
    for resume in (False, True):
        with pytest.raises(RunError, match="not empty"):
            RunWriter.create(tmp_path / "mine", manifest(), resume=resume)
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.txt"]


def test_only_one_process_writes_a_run(tmp_path: Path) -> None:
    writer = RunWriter.create(tmp_path / "run", manifest())
    with pytest.raises(RunError, match=f"process {os.getpid()} is writing it"):
        RunWriter.create(tmp_path / "run", manifest(), resume=True)
    writer.close()
    RunWriter.create(tmp_path / "run", manifest(), resume=True).close()


def test_newer_grades_replace_older_ones(tmp_path: Path) -> None:
    first = CaseResult(index=0, verdict=Verdict.SANDBOX_ERROR)
    second = CaseResult(index=0, verdict=Verdict.PASSED)
    write(tmp_path / "run", grade("a"), grade("b", Verdict.SANDBOX_ERROR, cases=(first,)), grade("c"))
    write(tmp_path / "run", grade("b", cases=(second,)), resume=True, regrade=True)
    write(tmp_path / "run", grade("d"), resume=True)
    write(tmp_path / "run", grade("b", Verdict.TIME_LIMIT, cases=(second, second)), resume=True, regrade=True)
    assert rows(tmp_path / "run", "SELECT sample_id, verdict FROM rollouts ORDER BY 1") == [
        ("a", "passed"), ("b", "time_limit"), ("c", "passed"), ("d", "passed"),
    ]  # fmt: skip
    assert rows(tmp_path / "run", "SELECT verdict FROM cases") == [("passed",), ("passed",)]
    assert Run.open(tmp_path / "run").manifest.counts == {"rollouts": 4, "passed": 3, "time_limit": 1}


KILLED_AT_EVERY_STEP = textwrap.dedent("""
    import os, signal, sys
    import pandas  # which pyarrow would import in every fork
    from evaluator.runs import writing
    from evaluator.model import CaseResult, Grade, Rollout, Verdict
    from evaluator.runs.reading import Manifest
    from evaluator.runs.writing import RunWriter

    def write(path, steps):
        writing.PART_ROWS = 2
        def count(event, args):  # opening, renaming and making files are the moments at which a kill matters
            nonlocal steps
            if event in ("open", "os.rename", "os.mkdir") and path in str(args[0]):
                steps -= 1
                if steps == 0:
                    os.kill(os.getpid(), signal.SIGKILL)
        sys.addaudithook(count)
        writer = RunWriter.create(path, Manifest(dataset_hash="abc", evaluator_version="0.1.0"))
        for row in range(4):
            case = CaseResult(index=0, verdict=Verdict.PASSED)
            name = f"s{row}"
            graded = Grade(task_id="add", sample_id=name, verdict=Verdict.PASSED, reward=1.0, cases=(case,))
            writer.add(Rollout(task_id="add", sample_id=name, completion=""), graded, row)
        writer.close("finished")

    for step in range(1, 200):
        if not (child := os.fork()):
            write(f"{sys.argv[1]}{step}", step)
            os._exit(0)
        if os.waitpid(child, 0)[1] == 0:
            break
    print(step)
""")


@pytest.mark.slow
def test_a_run_killed_at_any_step_stays_readable_and_resumable(tmp_path: Path) -> None:
    command = [sys.executable, "-c", KILLED_AT_EVERY_STEP, str(tmp_path / "run")]
    steps = int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    samples = [f"s{row}" for row in range(4)]
    assert steps > 10
    for step in range(1, steps + 1):
        path = tmp_path / f"run{step}"
        if (path / "run.json").exists():
            one_without_the_other = "FROM rollouts FULL JOIN cases USING (task_id, sample_id) WHERE test_index IS NULL"
            assert rows(path, f"SELECT * {one_without_the_other} OR row IS NULL") == []
        with RunWriter.create(path, manifest(), resume=True) as writer:
            graded = writer.graded_samples()
            for row, sample in enumerate(samples):
                if sample_key("add", sample) not in graded:
                    case = CaseResult(index=0, verdict=Verdict.PASSED)
                    writer.add(rollout(sample), grade(sample, cases=(case,)), row)
            writer.close("finished")
        both = "FROM rollouts JOIN cases USING (task_id, sample_id) ORDER BY 1"
        assert rows(path, f"SELECT sample_id {both}") == [(sample,) for sample in samples]
        assert not list(path.rglob("*.tmp"))
        assert Run.open(path).manifest.counts == {"rollouts": 4, "passed": 4}


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that is only read: a passed, b did not end, c passed."""
    path = tmp_path_factory.mktemp("graded") / "run"
    with RunWriter.create(path, manifest()) as writer:
        for row, one in enumerate((grade("a"), grade("b", Verdict.TIME_LIMIT), grade("c"))):
            writer.add(rollout(one.sample_id, model="m"), one, row)
    return path


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM read_text('{run}/run.json')",
        "COPY (SELECT 1) TO '{run}/rollouts/part-00009.parquet'",
        "INSTALL httpfs",
        "ATTACH '{run}/x.db'",
        "SET enable_external_access = true",
    ],
)
def test_sql_reaches_nothing_but_the_run(graded: Path, statement: str) -> None:
    connection = Run.open(graded).connect()
    before = sorted(graded.parent.rglob("*"))
    with pytest.raises(duckdb.Error):
        connection.execute(statement.format(run=graded))
    with pytest.raises(QueryError):
        select(connection, statement.format(run=graded))
    assert sorted(graded.parent.rglob("*")) == before
    assert select(connection, "SELECT count(*) FROM rollouts").fetchall() == [(3,)]


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        ("rewards > 0", '"reward"'),
        ("reward >", "syntax error"),
        ("1=1) OR (1=1", "syntax error"),
        ("true; DROP VIEW rollouts", "."),
        ("group = 'g'", '"group"'),
        ("code = read_text('/etc/passwd')", "."),
        ("model", "."),
    ],
)
def test_a_bad_condition_is_reported_in_one_line(graded: Path, condition: str, said: str) -> None:
    with pytest.raises(QueryError, match=said) as refused:
        rows_where(Run.open(graded).connect(), "rollouts", condition).fetchall()
    assert "\n" not in str(refused.value)


def test_a_condition_chooses_rows(graded: Path) -> None:
    connection = Run.open(graded).connect()
    chosen = rows_where(connection, "rollouts", "verdict = 'passed' AND sample_id <> 'c' -- not c")
    assert [row[column_names("rollouts").index("sample_id")] for row in chosen.fetchall()] == ["a"]
    assert len(rows_where(connection, "rollouts", "  ").fetchall()) == 3


def test_what_is_not_a_run_is_reported_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for name, text in (("broken", '{"version": '), ("newer", '{"version": 99}')):
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.json").write_text(text)
    for name in ("file", "broken", "newer", "absent"):
        with pytest.raises(RunError, match=name) as refused:
            Run.open(tmp_path / name)
        assert "\n" not in str(refused.value)


def test_bad_lines_are_kept_in_bounded_number(tmp_path: Path) -> None:
    writer = RunWriter.create(tmp_path / "run", manifest())
    for line in range(1201):
        writer.manifest.add_problem("r.jsonl", line + 1, "no JSON", "{\udcff")
    writer.close("finished")
    stored = Run.open(tmp_path / "run").manifest
    assert (len(stored.problems), stored.problems_total, stored.problems[-1].line) == (1000, 1201, 1000)


def test_a_run_given_up_leaves_nothing(tmp_path: Path) -> None:
    writer = RunWriter.create(tmp_path / "run", manifest())
    writer.add_task(TASK, TASK.cases)
    writer.discard()
    assert not (tmp_path / "run").exists()
    write(tmp_path / "kept", grade("a"))
    RunWriter.create(tmp_path / "kept", manifest(), resume=True).discard()
    assert rows(tmp_path / "kept", "SELECT count(*) FROM rollouts") == [(1,)]
