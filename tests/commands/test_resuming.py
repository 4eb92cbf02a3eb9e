"""The command that goes on with a stopped run: typed in another folder, it grades the rest in the same way."""

import json
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from evaluator.model import Limits
from evaluator.options import Settings
from evaluator.runs.reading import Manifest, Run
from evaluator.runs.resuming import folder_from, resume_command
from evaluator.runs.writing import RunWriter
from tests.commands.command_line import ADD, COMMAND, RIGHT, SLOW, environment, rollscope, write_rows
from tests.manifests import manifest_of
from tests.waiting import HANG_S, wait_until

OPTIONS = [
    "--workers", "1", "--timeout", "0.60000001", "--memory", "1234567.5", "--checker", "value", "--grader", "tests",
    "--fail-fast", "--format", "mapped", "--map", "task_id=uid,sample_id=sid,completion=answer.text", "--limit", "12",
    "--isolation", "test", "--sandbox", "degraded", "--python", sys.executable, "--unverified", "unknown",
    "--preamble", "lcb",
]  # fmt: skip
ASKED = ("options", "workers", "format", "field_map", "limit", "only")


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    """A folder with a dataset and twenty rollouts, of which the first three are quick."""
    folder = tmp_path / "my inputs"
    folder.mkdir()
    write_rows(folder / "d.jsonl", ADD)
    codes = [(SLOW if i > 2 else f"{RIGHT}# ") + str(i) for i in range(20)]
    rows = [{"uid": "add", "sid": f"s{i}", "answer": {"text": code}} for i, code in enumerate(codes)]
    write_rows(folder / "r.jsonl", *rows)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_typed_in_another_folder_it_finishes_the_run_with_the_same_options(
    tmp_path: Path, inputs: Path, number: signal.Signals
) -> None:
    arguments = ["grade", "r.jsonl", "--dataset", "./d.jsonl", "--output", "../run", *OPTIONS]
    process = subprocess.Popen([*COMMAND, *arguments], cwd=inputs, env=environment(), stderr=subprocess.PIPE, text=True)
    run = tmp_path / "run"
    wait_until(lambda: process.poll() is not None or bool(list(run.glob(".journal-*"))), "nothing is graded")
    process.send_signal(number)
    printed = process.communicate(timeout=HANG_S)[1]
    stopped = Run.open(run).manifest
    assert (process.returncode, stopped.state) == (130, "stopped"), printed
    assert 1 <= stopped.counts["rollouts"] < 12
    assert "Traceback" not in printed

    command = resume_command(run, stopped)
    assert f"resume with: {command}\n" in printed
    program, *words = shlex.split(command)
    assert Path(program).name == "rollscope"
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    done = rollscope(*words, "--json", cwd=elsewhere)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["verdicts"] == {"passed": 3, "time_limit": 9}
    distinct = Run.open(run).connect().sql("SELECT count(*), count(DISTINCT sample_id) FROM rollouts").fetchall()
    assert distinct == [(12, 12)]
    finished = Run.open(run).manifest
    assert finished.state == "finished"
    assert [getattr(finished, name) for name in ASKED] == [getattr(stopped, name) for name in ASKED]
    options = finished.options
    assert (options.isolation, finished.limit, finished.workers) == ("test", 12, 1)
    assert options.sandbox == Settings(strictness="degraded", python=sys.executable)
    assert options.unverified == "unknown"


def command_of(run: Path, **fields: object) -> list[str]:
    """The words of the command for a run in `run` that was requested with `fields`."""
    return shlex.split(resume_command(run, msgspec.structs.replace(Manifest(rollouts="r", dataset="d"), **fields)))[1:]


def test_what_was_not_requested_is_not_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    expected = ["grade", f"{tmp_path}/r", "--dataset", f"{tmp_path}/d", "--resume", "--output", f"{tmp_path}/runs/a"]
    assert command_of(Path("runs/a"), folder=folder_from(Path("runs/a"))) == expected


@pytest.mark.parametrize(
    "asked", [{"only": "verdict = 'time_limit'"}, {"dataset_format": "mbpp"}, {"dataset_map": "task_id=uid,code=a b"}]
)
def test_what_was_requested_is_in_it(tmp_path: Path, asked: dict[str, str]) -> None:
    words = command_of(tmp_path, **asked)
    [(name, value)] = asked.items()
    assert words[words.index(f"--{name.replace('_', '-')}") + 1] == value


def test_a_run_that_is_moved_with_its_inputs_names_them_where_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, after = tmp_path / "before", tmp_path / "after"
    (before / "runs" / "a").mkdir(parents=True)
    monkeypatch.chdir(before)
    folder = folder_from(Path("runs/a"))
    before.rename(after)
    assert command_of(after / "runs" / "a", folder=folder)[1] == str(after / "r")


def test_a_run_of_an_older_version_has_one_as_well(tmp_path: Path) -> None:
    limits = Limits().replaced({"wall_s": 3.0, "cpu_s": 3.0})
    given = manifest_of(rollouts="r.jsonl", dataset="/data/d.jsonl", limits=limits, grader="tests", fail_fast=True)
    RunWriter.create(tmp_path / "run", given).close("stopped")
    file = tmp_path / "run" / "run.json"
    fields = json.loads(file.read_text())
    for name in ("folder", "workers", "format", "field_map", "limit", "only", "dataset_map"):
        del fields[name]
    file.write_text(json.dumps(fields | fields.pop("options") | {"sandbox": "strict"}))
    command = resume_command(tmp_path / "run", Run.open(tmp_path / "run").manifest)
    assert command.endswith(
        f"grade r.jsonl --dataset /data/d.jsonl --timeout 3 --grader tests --fail-fast --resume --output {tmp_path}/run"
    )


def test_the_last_request_counts(tmp_path: Path) -> None:
    RunWriter.create(tmp_path / "run", Manifest(rollouts="r", dataset="d", limit=10, format="mapped")).close("finished")
    again = Manifest(rollouts="/all/r", dataset="d", limit=20, workers=3)
    RunWriter.create(tmp_path / "run", again, resume=True).close("stopped")
    words = shlex.split(resume_command(tmp_path / "run", Run.open(tmp_path / "run").manifest))
    assert words[2] == "/all/r"
    assert words[words.index("--limit") + 1] == "20"
    assert words[words.index("--workers") + 1] == "3"
    assert "--format" not in words
