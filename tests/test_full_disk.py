"""A run's directory that can't be written any more: one line says so, and what was graded before is kept."""

import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from evaluator import grade_file
from evaluator.commands.grading import summarise_written
from evaluator.runs.reading import Run, RunError
from tests.waiting import HANG_S

ROOT = Path(__file__).resolve().parent.parent
COMMAND = [sys.executable, "-m", "evaluator.cli", "grade", "r.jsonl", "--dataset", "d.jsonl", "--output", "run"]
ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error"}
ROOM = 100_000
SLOW = "import time\ntime.sleep(1.5)\nprint(input())"
"""So long that the first part is written when it is done."""


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    task = {"task_id": "t", "mode": "stdin", "in_outs": {"inputs": ["a\n"], "outputs": ["a\n"]}}
    (tmp_path / "d.jsonl").write_text(json.dumps(task) + "\n")
    noise = random.Random(0)
    long = [f"print(input())  # {noise.randbytes(ROOM).hex()}" for _ in range(4)]
    rows = [
        {"task_id": "t", "sample_id": str(number), "completion": code, "kind": "full"}
        for number, code in enumerate([SLOW, *long])
    ]
    (tmp_path / "r.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


def start(folder: Path, *arguments: str, blocks: str = "unlimited") -> subprocess.Popen[str]:
    """The command, where no file can have more than so many blocks of 512 bytes."""
    limited = ["/bin/sh", "-c", f'ulimit -S -f {blocks}; exec "$@"', "sh"]
    return subprocess.Popen(
        [*limited, *COMMAND, "--workers", "1", *arguments], cwd=folder, env=ENVIRONMENT,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def one_line_of(process: subprocess.Popen[str]) -> str:
    _, told = process.communicate(timeout=HANG_S)
    assert process.returncode == 2, told
    lines = [line for line in told.splitlines() if line.startswith("rollscope: ")]
    assert len(lines) == 1
    assert "Traceback" not in told
    return lines[0]


@pytest.mark.slow
def test_a_full_disk(inputs: Path) -> None:
    line = one_line_of(start(inputs, blocks=str(ROOM // 512)))
    assert "run: can't be written any more (File too large)" in line
    assert "--resume" in line
    assert not list((inputs / "run").rglob("*.tmp")), "room for others"
    run = Run.open(inputs / "run")
    assert run.connect().sql("SELECT sample_id, reward FROM rollouts").fetchall() == [("0", 1.0)]
    assert (run.manifest.state, run.manifest.stopped_by) == ("stopped", "File too large")
    assert run.manifest.counts == {"rollouts": 1, "passed": 1}
    resumed = start(inputs, "--resume", "--json")
    told, _ = resumed.communicate(timeout=HANG_S)
    assert resumed.returncode == 0
    assert json.loads(told)["verdicts"] == {"passed": 5}
    finished = Run.open(inputs / "run").manifest
    assert (finished.state, finished.stopped_by) == ("finished", None)
    assert not (inputs / "run" / ".reserved").exists()


FILLED = """
from pathlib import Path
from evaluator import grade_file

def fill(grade):
    with open("disk/others", "ab", buffering=0) as file:
        try:
            while True:
                file.write(bytes(512))
        except OSError:
            pass

try:
    grade_file("r.jsonl", grader="stored", out="disk/run", on_grade=fill)
except ValueError as error:
    print(error)
print(Path("disk/run/run.json").read_text())
"""
ON_A_SMALL_DISK = 'mkdir disk && mount -t tmpfs -o size=4m none disk && exec "$@"'


@pytest.mark.slow
def test_a_disk_that_others_filled_to_its_last_byte(inputs: Path) -> None:
    mounted = ["unshare", "--user", "--map-root-user", "--mount", "/bin/sh", "-c", ON_A_SMALL_DISK, "sh"]
    done = subprocess.run(
        [*mounted, sys.executable, "-c", FILLED],
        cwd=inputs,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=True,
    )
    line, _, manifest = done.stdout.partition("\n")
    assert line.startswith("disk/run: can't be written any more (No space left on device)")
    kept = json.loads(manifest)
    assert (kept["state"], kept["stopped_by"]) == ("stopped", "No space left on device")


@pytest.fixture
def answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with what is graded without running code."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d.jsonl").write_text(json.dumps({"task_id": "t", "answer": "42"}) + "\n")
    (tmp_path / "r.jsonl").write_text(json.dumps({"task_id": "t", "completion": "42"}) + "\n")
    return tmp_path


def test_a_directory_that_is_taken_away(answers: Path) -> None:
    with pytest.raises(RunError, match=r"run: can't be written any more \(No such file or directory\)"):
        grade_file("r.jsonl", "d.jsonl", out="run", on_grade=lambda _: shutil.rmtree("run"))


def test_a_directory_of_which_a_part_is_gone_when_all_is_graded(answers: Path) -> None:
    done = grade_file("r.jsonl", "d.jsonl", out="run")
    (answers / "run" / "run.json").unlink()
    with pytest.raises(RunError, match="run: was removed during grading"):
        summarise_written(done)
