"""`make test-nemo-gym` where there is nothing to test with: a line for each release, and no failure."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

TOOL = Path(__file__).resolve().parents[2] / "tools" / "nemo_gym_release.py"


def tried(home: Path, **environment: str) -> tuple[int, list[str]]:
    """With no interpreter on the PATH nor in the home folder: the exit status, and the lines told."""
    own = {"PATH": str(home), "HOME": str(home), **environment}
    done = subprocess.run([sys.executable, str(TOOL)], env=own, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr.splitlines()


def test_without_interpreters_each_release_is_left_out_by_name(tmp_path: Path) -> None:
    status, lines = tried(tmp_path)

    assert status == 0
    assert len(lines) == 3
    assert "0.7.0 is skipped: it needs a Python 3.13" in lines[0]
    assert lines[0].endswith("name one with PYTHON313=/path/to/python")
    assert "0.4.0 is skipped: it needs a Python 3.12" in lines[1]
    assert lines[2].endswith("nothing was tested")


def test_interpreters_that_do_not_run_are_passed_over_and_told_if_they_are_named(tmp_path: Path) -> None:
    shim = tmp_path / "python3.13"
    shim.write_text("#!/bin/sh\necho 'python3.13: command not found' >&2\nexit 127\n")
    shim.chmod(0o755)
    status, lines = tried(tmp_path)
    assert (status, len(lines)) == (0, 3)
    assert "0.7.0 is skipped" in lines[0]

    _, lines = tried(tmp_path, PYTHON313=str(tmp_path / "none"))
    assert f"{tmp_path / 'none'} does not run" in lines[0]


def test_ready_environments_that_are_not_there_are_a_mistake(tmp_path: Path) -> None:
    status, lines = tried(tmp_path, NEMO_GYM_VENVS=str(tmp_path))

    assert status == 2
    assert lines == [
        f"rollscope: {tmp_path}/0.7.0 has no Python that runs: set NEMO_GYM_VENVS to a folder with 0.7.0/ in it"
    ]
