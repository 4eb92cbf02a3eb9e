"""`make test-trainers` with clients that are small scripts, in the environment that runs these tests."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.packaging.conftest import ROOT

TOOL = ROOT / "tools" / "trainers.py"
COMPARES = """
import json
import evaluator

PACKAGES = ("first==1.2", "another")

differ = [{"id": "row 7", "ours": 1.0, "theirs": 0.0, "expected": True}]
print("what a client says")
found = {"client": "first", "what": "contest", "rows": 100, "equal": 99, "differ": differ}
print(json.dumps(found | {"ours_s": 2.0, "theirs_s": 9.0}))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder for scripts, and ready environments for those named first and second."""
    (tmp_path / "scripts").mkdir()
    (tmp_path / "ready").mkdir()
    for name in ("first", "second"):
        (tmp_path / "ready" / name).symlink_to(sys.prefix)
    return tmp_path


def script(folder: Path, name: str, text: str) -> None:
    (folder / "scripts" / f"{name}.py").write_text(text)


def tried(folder: Path) -> tuple[int, list[str], list[str]]:
    """The exit status, and the lines of stdout and of stderr."""
    command = [sys.executable, str(TOOL), str(folder / "scripts"), str(folder / "made")]
    env = {**os.environ, "TRAINERS_VENVS": str(folder / "ready"), "TRAINERS": ""}
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout.splitlines(), done.stderr.splitlines()


def test_what_a_script_compared_is_a_row_and_what_differs_a_line(folder: Path) -> None:
    script(folder, "first", COMPARES)
    script(folder, "comparing", "raise AssertionError('no client')")

    status, lines, _ = tried(folder)

    assert status == 0
    assert [line.split() for line in lines[:2]] == [
        ["client", "what", "rows", "equal", "ours", "s", "theirs", "s", "times", "as", "fast"],
        ["first", "1.2", "contest", "100", "99", "2.00", "9.00", "4.5"],
    ]
    assert lines[2:] == ["first: contest: row 7: ours 1.0, theirs 0.0, expected to pass"]


def test_a_script_that_fails_is_a_failure_and_the_others_run(folder: Path) -> None:
    script(folder, "first", COMPARES)
    script(folder, "second", COMPARES + "assert [] == [1.0], 'the rewards are not ours'\n")

    status, lines, errors = tried(folder)

    assert status == 1
    assert len(lines) == 5  # both have compared
    (failure,) = [line for line in errors if "failed" in line]
    log = folder / "made" / "second.log"
    assert failure == f"rollscope: second.py failed: AssertionError: the rewards are not ours: its output is in {log}"
    assert "what a client says" in log.read_text()
