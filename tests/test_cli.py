"""The command on small files: its output, exit statuses and what it leaves; as a process where that matters."""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
import venv
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from evaluator.cli import main
from evaluator.formats import dataset_hash
from evaluator.graders.bench import Unverified
from evaluator.graders.unverified import withheld
from evaluator.model import Grade, Rollout, Verdict
from evaluator.runs.reading import Manifest, Run, RunWriter
from tests.engines.processes import descendants, wait_until_none
from tests.sandbox.refusing import command

ROOT = Path(__file__).resolve().parent.parent
COMMAND = [sys.executable, "-m", "evaluator.cli"]

ADD = {
    "task_id": "add", "mode": "call", "prompt": "Add.", "entry_point": "add",
    "in_outs": {"inputs": ["1\n2", "2\n2"], "outputs": ["3", "4"], "fn_name": "add"},
}  # fmt: skip
ECHO = {"task_id": "echo", "mode": "stdin", "in_outs": {"inputs": ["hi\n"], "outputs": ["hi\n"]}}
UNTESTED = {"task_id": "untested", "mode": "stdin", "in_outs": {"inputs": [], "outputs": []}}
RIGHT = "def add(a, b):\n    return a + b\n"
WRONG = "def add(a, b):\n    return a - b\n"
SLOW = "import time\ndef add(a, b):\n    time.sleep(99)\n# "


def environment(**more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name != "DISPLAY"}
    return kept | {"PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error", "ROLLSCOPE_NO_BROWSER": "1"} | more


class Done(NamedTuple):
    """How a command ended."""

    returncode: int
    stdout: str
    stderr: str


def words_of(arguments: Iterable[object]) -> list[str]:
    """`grade` starts one worker unless another number is given."""
    words = [str(argument) for argument in arguments]
    return [*words, "--workers", "1"] if words[0] == "grade" and "--workers" not in words else words


def rollscope(*arguments: object, cwd: Path) -> Done:
    """The command in this process."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    redirected = contextlib.chdir(cwd), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err)
    with redirected[0], redirected[1], redirected[2], pytest.raises(SystemExit) as ended:
        main(words_of(arguments))
    assert isinstance(ended.value.code, int)
    return Done(ended.value.code, *(stream.buffer.getvalue().decode() for stream in (out, err)))  # type: ignore[attr-defined]


def in_process(*arguments: object, cwd: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """The same, for `capsys` to see what it says."""
    monkeypatch.chdir(cwd)
    with pytest.raises(SystemExit) as ended:
        main(words_of(arguments))
    assert isinstance(ended.value.code, int)
    return ended.value.code


def write_rows(path: Path, *rows: object) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def sample(name: str, completion: str, task: str = "add", **fields: object) -> dict[str, object]:
    return {"task_id": task, "sample_id": name, "completion": completion, "kind": "full"} | fields


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    return write_rows(tmp_path / "d.jsonl", ADD, ECHO, UNTESTED)


def wait_until(holds: Callable[[], bool], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "waited in vain"
        threading.Event().wait(0.02)


def one_line(told: str) -> str:
    assert "Traceback" not in told
    [line] = told.strip().splitlines()
    return line


# grade


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Done]:
    folder = tmp_path_factory.mktemp("graded")
    data = write_rows(folder / "d.jsonl", ADD, ECHO, UNTESTED)
    rollouts = folder / "r.rollouts.jsonl"
    write_rows(
        rollouts,
        sample("a", RIGHT, expected_pass=True, model="m"),
        sample("b", WRONG, expected_pass=True),
        sample("c", RIGHT),
        sample("a", WRONG),
        sample("e", "print(input())", "echo"),
        sample("f", "1 / 0", "echo", expected_pass=False),
        sample("g", RIGHT, "nowhere"),
        sample("h", "print(1)", "untested"),
    )
    with rollouts.open("a") as file:
        file.write('{"task_id": "add", "completion"\n')
    words = [*COMMAND, "grade", str(rollouts), "--dataset", str(data), "--out", "run", "--json"]
    done = subprocess.run(words, cwd=folder, env=environment(), capture_output=True, text=True, check=False)
    return folder, Done(done.returncode, done.stdout, done.stderr)


def test_figures_over_several_models_say_so_and_stand_beside_those_of_each(tmp_path: Path) -> None:
    rows = [
        sample(f"{name}{n}", RIGHT if n <= m else WRONG, model=name) for m, name in enumerate("abc") for n in range(3)
    ]
    write_rows(tmp_path / "d.jsonl", ADD)
    write_rows(tmp_path / "r.jsonl", *rows)
    arguments = ("grade", "r.jsonl", "--dataset", "d.jsonl", "--out", "run")
    printed = rollscope(*arguments, cwd=tmp_path).stdout
    assert re.search(r"pass@1 +66\.7%.*, 3 models together\n", printed)
    assert re.search(r"\n +a: 33\.3%.*\n +b: 66\.7%.*\n +c: 100\.0%", printed)
    summary = json.loads(rollscope(*arguments, "--resume", "--json", cwd=tmp_path).stdout)
    assert [(each["model"], each["rollouts"], each["mean_reward"]) for each in summary["models"]] == [
        ("a", 3, pytest.approx(1 / 3)), ("b", 3, pytest.approx(2 / 3)), ("c", 3, 1.0),
    ]  # fmt: skip


def test_reasons_that_are_not_printed_are_all_counted(tmp_path: Path) -> None:
    write_rows(tmp_path / "d.jsonl", ADD)
    write_rows(tmp_path / "r.jsonl", *(sample(f"s{n}", RIGHT, f"gone{n}") for n in range(120)))
    printed = rollscope("grade", "r.jsonl", "--dataset", "d.jsonl", "--out", "run", cwd=tmp_path).stdout
    assert "and 115 reasons more" in printed


def test_grading_gives_verdicts_figures_and_a_run(graded: tuple[Path, Done]) -> None:
    folder, done = graded
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert summary["verdicts"] == {"passed": 3, "wrong_answer": 1, "runtime_error": 1, "unknown": 2}
    assert (summary["rollouts"], summary["graded"], summary["unknown"], summary["bad_lines"]) == (7, 5, 2, 2)
    assert sum(summary["ungraded_reasons"].values()) == 2
    assert any("is not in the dataset" in reason for reason in summary["ungraded_reasons"])
    assert summary["pass_at_1"]["value"] == pytest.approx((2 / 3 + 1 / 2) / 2)
    assert summary["expected"] == {"agree": 2, "differ": 1, "differing": ["b"]}
    assert summary["duplicates"] == 1
    assert summary["state"] == "finished"
    rows = Run.open(folder / "run").connect().sql(
        "SELECT sample_id, verdict, reward, row, source_line, first_failing_test FROM rollouts ORDER BY row"
    )  # fmt: skip
    assert rows.fetchall() == [
        ("a", "passed", 1.0, 0, 1, None), ("b", "wrong_answer", 0.0, 1, 2, 0), ("c", "passed", 1.0, 2, 3, None),
        ("e", "passed", 1.0, 3, 5, None), ("f", "runtime_error", 0.0, 4, 6, 0),
        ("g", "unknown", None, 5, 7, None), ("h", "unknown", None, 6, 8, None),
    ]  # fmt: skip


def test_bad_lines_are_told_with_file_and_line(graded: tuple[Path, Done]) -> None:
    folder, done = graded
    repeated, broken = (
        line for line in done.stderr.splitlines() if "r.rollouts.jsonl:" in line
    )  # progress is said, too
    assert repeated.startswith(f"{folder}/r.rollouts.jsonl:4: ")
    assert "'a'" in repeated
    assert broken.startswith(f"{folder}/r.rollouts.jsonl:9: ")
    stored = Run.open(folder / "run").manifest.problems
    assert [problem.line for problem in stored] == [4, 9]


def test_the_figures_end_with_what_to_type_next(tmp_path: Path, dataset: Path) -> None:
    rollouts = write_rows(tmp_path / "r.jsonl", sample("a", RIGHT))
    done = rollscope("grade", rollouts, "--dataset", dataset, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    [run] = (tmp_path / "runs").iterdir()
    assert run.name.startswith("r-20")
    assert f"rollscope view runs/{run.name}" in done.stdout
    assert "100.0%" in done.stdout
    assert not any(line != line.rstrip() for line in done.stdout.splitlines())


def test_tasks_are_kept_with_the_cases_that_were_run(tmp_path: Path) -> None:
    check = {
        "task_id": "neg", "mode": "assert", "entry_point": "neg", "prompt": "",
        "test": "def check(candidate):\n    assert candidate(1) == -1\n    assert candidate(2) == -2\n",
    }  # fmt: skip
    data = write_rows(tmp_path / "d.jsonl", check)
    rollouts = write_rows(tmp_path / "r.jsonl", sample("a", "def neg(x): return -x", "neg"))
    done = rollscope("grade", rollouts, "--dataset", data, "--out", "run", "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["verdicts"] == {"passed": 1}
    [(cases, total)] = Run.open(tmp_path / "run").connect().sql("SELECT cases, tests_total FROM tasks").fetchall()
    assert total == 2
    assert "candidate(2)" in json.loads(cases)[1]["input"] or "neg(2)" in json.loads(cases)[1]["input"]


def test_options_reach_the_grades(tmp_path: Path, dataset: Path) -> None:
    rollouts = write_rows(tmp_path / "r.jsonl", sample("a", SLOW), sample("b", WRONG), sample("c", RIGHT))
    done = rollscope(
        "grade", rollouts, "--dataset", dataset, "--out", "run", "--timeout", "0.5", "--memory", "2000", "--limit", 2,
        "--fail-fast", "--workers", 1, "--json", cwd=tmp_path,
    )  # fmt: skip
    assert json.loads(done.stdout)["verdicts"] == {"wrong_answer": 1, "time_limit": 1}
    run = Run.open(tmp_path / "run")
    limits = run.manifest.limits
    assert (limits.wall_s, limits.cpu_s, limits.memory_mb, limits.virtual_mb) == (0.5, 0.5, 2000.0, 8000.0)
    skipped = run.connect().sql("SELECT DISTINCT verdict FROM cases WHERE test_index = 1").fetchall()
    assert skipped == [("not_run",)]


def test_grading_again_in_another_order_exports_the_same_bytes(tmp_path: Path, dataset: Path) -> None:
    samples = [sample(f"s{i}", RIGHT + f"# {i}\n" if i % 3 else WRONG + f"# {i}\n") for i in range(12)]
    columns = "task_id,sample_id,reward,verdict,error_message,pass_rate,code"
    exports = []
    for name, rows, workers in (("one", samples, 1), ("two", samples[::-1], 2)):
        rollouts = write_rows(tmp_path / f"{name}.jsonl", *rows)
        options = ("--dataset", dataset, "--out", name, "--workers", workers)
        assert rollscope("grade", rollouts, *options, cwd=tmp_path).returncode == 0
        exports.append(rollscope("export", name, "--columns", columns, cwd=tmp_path).stdout)
    assert exports[0] == exports[1]
    assert len(exports[0].splitlines()) == 12


# stopping and going on


def test_a_stopped_run_is_readable_and_says_how_to_go_on(tmp_path: Path, dataset: Path) -> None:
    """By a service manager; `test_resuming` stops one by Ctrl-C, and resumes it."""
    samples = [sample(f"s{i}", (SLOW if i > 2 else RIGHT) + f"# {i}\n") for i in range(20)]
    rollouts = write_rows(tmp_path / "r.jsonl", *samples)
    arguments = ["grade", str(rollouts), "--dataset", str(dataset), "--out", "run", "--timeout", "30", "--fail-fast"]
    process = subprocess.Popen(
        [*COMMAND, *arguments], cwd=tmp_path, env=environment(), stderr=subprocess.PIPE, text=True
    )
    parts = tmp_path / "run" / "rollouts"
    wait_until(lambda: process.poll() is not None or bool(list(parts.glob("*.parquet"))))
    process.send_signal(signal.SIGTERM)
    told = process.communicate(timeout=60)[1]
    assert process.returncode == 130, told
    assert "--resume" in told
    assert "Traceback" not in told
    run = Run.open(tmp_path / "run")
    before = run.connect().sql("SELECT count(*) FROM rollouts").fetchall()[0][0]
    assert (run.manifest.state, run.manifest.counts["rollouts"]) == ("stopped", before)
    assert 1 <= before < 20


def test_a_killed_one_leaves_no_process(tmp_path: Path, dataset: Path) -> None:
    rollouts = write_rows(tmp_path / "r.jsonl", *(sample(f"s{i}", SLOW + str(i)) for i in range(9)))
    command = [*COMMAND, "grade", str(rollouts), "--dataset", str(dataset), "--out", "run", "--timeout", "60"]
    process = subprocess.Popen(command, cwd=tmp_path, env=environment(), stderr=subprocess.PIPE, text=True)
    wait_until(lambda: len(descendants(process.pid)) > 1)
    below = descendants(process.pid)
    process.kill()
    process.communicate()
    assert not wait_until_none(lambda: [pid for pid in below if running(pid)])
    assert Run.open(tmp_path / "run").manifest.state == "running"


def running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_rewards_out_of_range_are_told_at_the_end(tmp_path: Path, dataset: Path) -> None:
    (tmp_path / "five.py").write_text("def five(task, rollout, bench):\n    return 5.0\n")
    rollouts = write_rows(tmp_path / "r.jsonl", sample("a", RIGHT), sample("b", WRONG))
    done = rollscope(
        "grade", rollouts, "--dataset", dataset, "--out", tmp_path / "run", "--grader", "five.py:five", cwd=tmp_path
    )
    assert re.search(r"^flagged +2 clamped_reward$", done.stdout, re.M), done.stdout + done.stderr


@pytest.fixture
def python() -> Iterator[Path]:
    """The interpreter of a virtual environment with a module `greeting`, which other users can read: not below pytest's
    own folder, which each pytest that starts closes to them."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        folder.chmod(0o755)
        venv.create(folder / "venv", with_pip=False, symlinks=True)
        [packages] = (folder / "venv").glob("lib/python*/site-packages")
        (packages / "greeting.py").write_text("")
        yield folder / "venv" / "bin" / "python"


def test_completions_see_the_packages_of_the_python_that_is_named(tmp_path: Path, dataset: Path, python: Path) -> None:
    rollouts = write_rows(tmp_path / "r.jsonl", sample("a", f"import greeting\n{RIGHT}"), sample("b", RIGHT))
    relative = os.path.relpath(python, tmp_path)
    arguments = ("grade", "r.jsonl", "--dataset", dataset, "--out", "run", "--python", relative)
    done = rollscope(*arguments, "--limit", 1, "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["verdicts"] == {"passed": 1}
    assert Run.open(tmp_path / "run").manifest.interpreter == str(python)

    on_another = rollscope("grade", rollouts, "--dataset", dataset, "--out", "run", "--resume", cwd=tmp_path)
    assert on_another.returncode == 2
    assert str(python) in one_line(on_another.stderr)
    assert rollscope(*arguments, "--resume", cwd=tmp_path).returncode == 0
    assert Run.open(tmp_path / "run").manifest.counts["passed"] == 2

    without = rollscope("grade", rollouts, "--dataset", dataset, "--out", "other", "--json", cwd=tmp_path)
    assert json.loads(without.stdout)["verdicts"] == {"compile_error": 1, "passed": 1}


@pytest.mark.parametrize("python", ["/nowhere/python", "/bin/false", "/", "r.jsonl"])
def test_a_path_of_no_python_ends_it_in_one_line(tmp_path: Path, dataset: Path, python: str) -> None:
    write_rows(tmp_path / "r.jsonl", sample("a", RIGHT))
    done = rollscope("grade", "r.jsonl", "--dataset", dataset, "--out", "run", "--python", python, cwd=tmp_path)
    assert done.returncode == 2
    assert f"Python {tmp_path / python}: " in one_line(done.stderr)
    assert not (tmp_path / "run").exists()


def test_how_strict_a_run_was_is_kept_and_asked_for_again(tmp_path: Path, dataset: Path) -> None:
    write_rows(tmp_path / "r.jsonl", sample("a", RIGHT))
    arguments = ("grade", "r.jsonl", "--dataset", dataset, "--out", "run")
    done = rollscope(*arguments, "--sandbox", "degraded", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert Run.open(tmp_path / "run").manifest.sandbox == "degraded"
    refused = rollscope(*arguments, "--resume", cwd=tmp_path)
    assert refused.returncode == 2
    assert "degraded, not strict" in one_line(refused.stderr)


def stored(folder: Path, dataset: Path, unverified: Unverified) -> None:
    """A run of eight samples in `folder/run`, all but the first not verified for one of six reasons."""
    asked = Manifest(dataset_hash=dataset_hash(dataset), rollouts="r.jsonl", unverified=unverified)
    with RunWriter.create(folder / "run", asked) as writer:
        for n in range(8):
            found = Grade(task_id="add", sample_id=f"s{n}", verdict=Verdict.PASSED, reward=1.0)
            if n:
                found.verified, found.unverified_reason = False, f"reason \x1b[31m{n % 6 or 6}"
            rollout = Rollout(task_id="add", sample_id=f"s{n}", completion=RIGHT)
            writer.add(rollout, withheld(found, unverified), n)
        writer.close()


@pytest.mark.parametrize("unverified", ["keep", "unknown"])
def test_the_figures_tell_what_is_not_verified_and_why(tmp_path: Path, dataset: Path, unverified: Unverified) -> None:
    write_rows(tmp_path / "r.jsonl", *(sample(f"s{n}", RIGHT) for n in range(8)))
    stored(tmp_path, dataset, unverified)
    arguments = ("grade", "r.jsonl", "--dataset", dataset, "--out", "run", "--unverified", unverified, "--resume")
    done = rollscope(*arguments, "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    rewarded = 7 if unverified == "keep" else 0
    assert (summary["unverified"], summary["unverified_rewarded"]) == (7, rewarded)
    assert list(summary["unverified_reasons"].values()) == [2, 1, 1, 1, 1, 1]
    assert next(iter(summary["unverified_reasons"])) == "reason \x1b[31m1"
    assert summary["unknown"] == 7 - rewarded
    printed = rollscope(*arguments, cwd=tmp_path).stdout
    assert f"7 (7 {'with a reward' if rewarded else 'without'})" in printed
    assert "2: reason \N{REPLACEMENT CHARACTER}[31m1\n" in printed
    assert "and 1 reason more" in printed


def test_what_becomes_of_unverified_grades_is_kept_and_asked_for_again(tmp_path: Path, dataset: Path) -> None:
    write_rows(tmp_path / "r.jsonl", sample("a", RIGHT))
    arguments = ("grade", "r.jsonl", "--dataset", dataset, "--out", "run")
    done = rollscope(*arguments, "--unverified", "unknown", "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["verdicts"] == {"passed": 1}
    assert Run.open(tmp_path / "run").manifest.unverified == "unknown"
    refused = rollscope(*arguments, "--resume", cwd=tmp_path)
    assert refused.returncode == 2
    assert "unverified unknown, not keep" in one_line(refused.stderr)
    assert rollscope(*arguments, "--unverified", "unknown", "--resume", cwd=tmp_path).returncode == 0


def test_resuming_a_run_of_something_else_is_refused(tmp_path: Path, dataset: Path) -> None:
    rollouts = write_rows(tmp_path / "r.jsonl", sample("a", RIGHT))
    assert rollscope("grade", rollouts, "--dataset", dataset, "--out", "run", cwd=tmp_path).returncode == 0
    other = write_rows(tmp_path / "other.jsonl", ADD)
    for options in (("--dataset", other), ("--dataset", dataset, "--timeout", 3), ("--dataset", dataset)):
        resume = () if options == ("--dataset", dataset) else ("--resume",)
        refused = rollscope("grade", rollouts, *options, "--out", "run", *resume, cwd=tmp_path)
        assert refused.returncode == 2
        assert "--out" in one_line(refused.stderr)


# bad input and bad arguments


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "No such file"),
        (b"", "empty"),
        (b"\n\n", "empty"),
        (b"\x7fELF\x02\x01\x01" + bytes(500), "binary"),
        (b'{"a": 1}\n', "format"),
    ],
)
@pytest.mark.parametrize("which", ["rollouts", "dataset"])
def test_a_file_without_a_usable_row_ends_it(
    tmp_path: Path, dataset: Path, which: str, content: bytes | None, said: str,
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    good = write_rows(tmp_path / "r.jsonl", sample("a", RIGHT))
    bad = tmp_path / "bad.jsonl"
    if content is not None:
        bad.write_bytes(content)
    pair = (bad, dataset) if which == "rollouts" else (good, bad)
    arguments = ("grade", pair[0], "--dataset", pair[1], "--out", "run")
    assert in_process(*arguments, cwd=tmp_path, monkeypatch=monkeypatch) == 2
    line = one_line(capsys.readouterr().err)
    assert "bad.jsonl" in line
    assert said.lower() in line.lower()
    assert not (tmp_path / "run").exists()


def test_a_file_of_bad_rows_alone_ends_it(tmp_path: Path, dataset: Path) -> None:
    rollouts = write_rows(tmp_path / "r.jsonl", {"task_id": "add", "completion": 5})
    done = rollscope("grade", rollouts, "--dataset", dataset, "--out", "run", cwd=tmp_path)
    row, end = done.stderr.splitlines()
    assert done.returncode == 2
    assert row.startswith(f"{rollouts}:1: ")
    assert "no usable row" in end


def test_a_cut_off_archive_is_told(tmp_path: Path, dataset: Path) -> None:
    archive = tmp_path / "r.jsonl.gz"
    archive.write_bytes(gzip.compress(b'{"task_id": "add", "completion": "x"}\n' * 99)[:-20])
    done = rollscope("grade", archive, "--dataset", dataset, "--out", "run", cwd=tmp_path)
    assert done.returncode in (0, 2)
    assert "r.jsonl.gz:" in done.stderr.splitlines()[0]
    assert "Traceback" not in done.stderr


def test_a_directory_is_no_file(tmp_path: Path, dataset: Path) -> None:
    done = rollscope("grade", tmp_path, "--dataset", dataset, cwd=tmp_path)
    assert done.returncode == 2
    assert "directory" in one_line(done.stderr)


def test_a_line_of_50_mb_is_told_and_the_rest_graded(tmp_path: Path, dataset: Path) -> None:
    rollouts = write_rows(tmp_path / "r.jsonl", sample("a", RIGHT), sample("b", "x" * 50_000_000), sample("c", RIGHT))
    done = rollscope("grade", rollouts, "--dataset", dataset, "--out", "run", "--json", cwd=tmp_path)
    assert done.returncode == 0
    assert json.loads(done.stdout)["verdicts"]["passed"] == 2
    told = [line for line in done.stderr.splitlines() if "r.jsonl:" in line]
    assert all("r.jsonl:2:" in line and len(line) < 1000 for line in told)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["grade"], "Missing argument"),
        (["grade", "r.jsonl"], "--dataset"),
        (["grade", "r.jsonl", "--dataset", "d.jsonl", "--workers", "0"], "--workers"),
        (["grade", "r.jsonl", "--dataset", "d.jsonl", "--timeout", "-1"], "wall_s"),
        (["grade", "r.jsonl", "--dataset", "d.jsonl", "--checker", "fuzzy"], "floats"),
        (["grade", "r.jsonl", "--dataset", "d.jsonl", "--grader", "vibes"], "tests"),
        (["grade", "r.jsonl", "--dataset", "d.jsonl", "--format", "csv"], "native"),
        (["grade", "r.jsonl", "--dataset", "d.jsonl", "--map", "x"], "ours=theirs"),
        (["grade", "r.jsonl", "--dataset", "d.jsonl", "--resume"], "--out"),
        (["grade", "r.jsonl", "--dataset", "d.jsonl", "--only", "passed", "--out", "absent"], "absent"),
        (["grade", "r.jsonl", "--dataset", "d.jsonl", "--out", "d.jsonl"], "--out"),
        (["grade", "r.jsonl", "--dataset", "d.jsonl", "--unverified", "maybe"], "--unverified"),
        (["export", "absent"], "absent"),
        (["export"], "RUN"),
        (["view", "absent"], "absent"),
        (["view", "empty"], "empty"),
        (["view", "r.jsonl", "--dataset", "absent"], "absent"),
        (["view", "r.jsonl", "--host", "203.0.113.7"], "203.0.113.7"),
        (["view", "r.jsonl", "--host", "no.such.host.invalid"], "no.such.host.invalid"),
        (["formats", "absent"], "absent"),
        (["formats", "d.jsonl", "--format", "csv"], "native"),
        (["fly"], "fly"),
        (["--fly"], "--fly"),
    ],
)
def test_bad_arguments_are_told_in_one_line(tmp_path: Path, dataset: Path, arguments: list[str], said: str) -> None:
    write_rows(tmp_path / "r.jsonl", sample("a", RIGHT))
    (tmp_path / "empty").mkdir()
    done = rollscope(*arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in one_line(done.stderr)
    assert done.stderr.startswith("rollscope: ")
    assert dataset.read_text().startswith('{"task_id"')


def grade_where(
    refused: list[str], tmp_path: Path, dataset: Path, *options: str
) -> tuple[subprocess.CompletedProcess[str], list[dict[str, object]]]:
    """Grades right completions on a machine that refuses these; and what was exported, equal rows once."""
    write_rows(tmp_path / "r.jsonl", *(sample(f"s{number}", f"{RIGHT}# {number}") for number in range(8)))
    words = [*COMMAND, "grade", "r.jsonl", "--dataset", str(dataset), "--out", "run", "--workers", "2", *options]
    done = subprocess.run(
        command(refused, *words), cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False
    )
    if not (tmp_path / "run").exists():
        return done, []
    exported = rollscope("export", "run", "--columns", "reward,layers", cwd=tmp_path)
    return done, [json.loads(line) for line in dict.fromkeys(exported.stdout.splitlines())]


def test_without_a_sandbox_nothing_is_graded(tmp_path: Path, dataset: Path) -> None:
    done, rows = grade_where(["namespaces", "landlock"], tmp_path, dataset)
    assert (done.returncode, rows) == (3, [])
    told = one_line(done.stderr)
    assert "no sandbox" in told
    assert "sysctl -w" in told, "it names what mends it"


def test_without_user_namespaces_grading_is_strict_all_the_same(tmp_path: Path, dataset: Path) -> None:
    done, (row,) = grade_where(["namespaces"], tmp_path, dataset)
    assert done.returncode == 0
    assert row == {"reward": 1.0, "layers": ["rlimits", "seccomp", "landlock"]}


def test_degraded_grades_with_what_there_is_and_says_so(tmp_path: Path, dataset: Path) -> None:
    done, (row,) = grade_where(["namespaces", "landlock"], tmp_path, dataset, "--sandbox", "degraded")
    assert done.returncode == 0
    unproved = ["unproved: files", "unproved: process tree"]
    assert row == {"reward": 1.0, "layers": ["rlimits", "seccomp", "degraded", *unproved]}


# export, formats, doctor, help


def test_export_writes_the_file_that_is_named(graded: tuple[Path, Done]) -> None:
    folder, _ = graded
    done = rollscope("export", "run", "--to", "out.csv", "--where", "reward = 1", cwd=folder)
    assert (done.returncode, done.stdout) == (0, "")
    assert "out.csv: 3 rollouts" in done.stderr
    with (folder / "out.csv").open(newline="") as file:
        assert [row["sample_id"] for row in csv.DictReader(file)] == ["a", "c", "e"]
    cases = rollscope("export", "run", "--per", "case", "--columns", "sample_id,test_index,verdict", cwd=folder)
    first = json.loads(cases.stdout.splitlines()[0])
    assert first == {"sample_id": "a", "test_index": 0, "verdict": "passed"}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--columns", "verdit"], "verdict"),
        (["--where", "rewards > 0"], '"reward"'),
        (["--where", "reward >"], "syntax error"),
        (["--where", "sample_id::INTEGER > 0"], "convert"),
        (["--to", "out.html"], ".csv"),
        (["--per", "line"], "--per"),
    ],
)
def test_a_bad_export_is_told_in_one_line(
    graded: tuple[Path, Done], options: list[str], said: str,
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    assert in_process("export", "run", *options, cwd=graded[0], monkeypatch=monkeypatch) == 2
    out, told = capsys.readouterr()
    assert out == ""
    assert said in one_line(told)


def test_a_pipe_that_closes_early_is_no_error(graded: tuple[Path, Done]) -> None:
    process = subprocess.Popen(
        [*COMMAND, "export", "run"], cwd=graded[0], env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout
    assert process.stdout.read(1)
    process.stdout.close()
    _, told = process.communicate()
    assert (process.returncode, told) == (0, b"")


def test_formats_says_what_a_file_is(tmp_path: Path, dataset: Path) -> None:
    listed = rollscope("formats", cwd=tmp_path)
    assert "livecodebench" in listed.stdout
    found = rollscope("formats", dataset, cwd=tmp_path)
    assert found.returncode == 0
    assert "tasks in format native" in found.stdout
    assert "3 usable rows, 0 bad lines" in found.stdout


def test_formats_tells_bad_lines(tmp_path: Path) -> None:
    rollouts = write_rows(tmp_path / "r.jsonl", *(sample(f"s{i}", RIGHT) for i in range(3)))
    with rollouts.open("a") as file:
        file.writelines("{broken\n" for _ in range(30))
    glance = rollscope("formats", rollouts, cwd=tmp_path)
    assert glance.returncode == 0
    assert "3 usable rows, 30 bad lines" in glance.stdout
    assert "and 10 more" in glance.stdout
    check = rollscope("formats", rollouts, "--check", cwd=tmp_path)
    assert check.returncode == 2
    assert check.stdout.count("r.jsonl:") == 31
    report = json.loads(rollscope("formats", rollouts, "--check", "--json", cwd=tmp_path).stdout)
    assert (report["rows"], report["bad_lines"], report["problems"][0]["line"]) == (3, 30, 4)


def test_doctor_proves_each_layer(tmp_path: Path) -> None:
    done = rollscope("doctor", "--json", cwd=tmp_path)
    layers = json.loads(done.stdout)
    assert layers
    assert done.returncode == (0 if all(layer["holds"] for layer in layers) else 1)
    assert all(layer["proof"] and layer["how"] for layer in layers)
    assert all(layer["mend"] for layer in layers if not layer["holds"])
    assert layers[0]["name"] in rollscope("doctor", cwd=tmp_path).stdout


def test_help_answers_without_loading_what_it_does_not_need() -> None:
    code = (
        "import sys; from evaluator.cli import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit: print(sorted({m.partition('.')[0] for m in sys.modules}))"
    )
    for arguments in (["--help"], ["grade", "--help"], []):
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments], env=environment(), capture_output=True, text=True, check=True
        )
        assert "Usage: rollscope" in done.stdout
        loaded = set(done.stdout.splitlines()[-1].strip("[]").replace("'", "").split(", "))
        assert not loaded & {"pandas", "pyarrow", "duckdb", "streamlit", "plotly", "numpy", "rich"}


# view


class Viewed:
    """A running `rollscope view`."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        assert process.stdout is not None
        self.url = process.stdout.readline().strip().removeprefix("listening on ")

    def answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/_stcore/health", timeout=5) as answer:
                return bool(answer.status == 200)
        except (urllib.error.URLError, OSError):
            return False


@pytest.fixture
def view(tmp_path: Path) -> Iterator[Callable[..., Viewed]]:
    started: list[subprocess.Popen[str]] = []

    def start(*arguments: object) -> Viewed:
        process = subprocess.Popen(
            [*COMMAND, "view", *map(str, arguments)], cwd=tmp_path, env=environment(), text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        started.append(process)
        return Viewed(process)

    yield start
    for process in started:
        process.kill()
        process.communicate()


def test_view_takes_the_next_free_port_and_ends_with_its_process(
    graded: tuple[Path, Done], view: Callable[..., Viewed]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        viewed = view(graded[0] / "run", "--port", port)
        assert viewed.url.startswith("http://127.0.0.1:")
        assert int(viewed.url.rpartition(":")[2]) > port
    assert viewed.answers()
    below = descendants(viewed.process.pid)
    assert below
    viewed.process.send_signal(signal.SIGTERM)
    assert viewed.process.wait(timeout=15) == 0
    assert not viewed.answers()
    assert not any(running(pid) for pid in below)


def test_view_leaves_nothing_behind_when_it_is_killed(graded: tuple[Path, Done], view: Callable[..., Viewed]) -> None:
    viewed = view(graded[0] / "run", "--port", 0)
    below = descendants(viewed.process.pid)
    assert viewed.answers()
    viewed.process.kill()
    assert not wait_until_none(lambda: [pid for pid in below if running(pid)])
    assert not viewed.answers()
