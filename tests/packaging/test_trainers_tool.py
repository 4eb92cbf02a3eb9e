"""`make test-trainers` with clients that are small scripts, in the environment that runs these tests."""

from __future__ import annotations

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
    """A folder for scripts, and ready environments for those named first, second and third."""
    (tmp_path / "scripts").mkdir()
    (tmp_path / "ready").mkdir()
    for name in ("first", "second", "third"):
        (tmp_path / "ready" / name).symlink_to(sys.prefix)
    return tmp_path


def script(folder: Path, name: str, text: str) -> None:
    (folder / "scripts" / f"{name}.py").write_text(text)


def tried(folder: Path, **environment: str) -> tuple[int, list[str], list[str]]:
    """The exit status, and the lines of stdout and of stderr."""
    command = [sys.executable, str(TOOL), str(folder / "scripts"), str(folder / "made")]
    env = {**os.environ, "TRAINERS_VENVS": str(folder / "ready"), "TRAINERS": "", **environment}
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


def test_a_script_imports_the_client_that_has_its_name_and_what_is_beside_it(folder: Path) -> None:
    """The environment has a package `msgspec`, and the script is `msgspec.py`."""
    (folder / "ready" / "msgspec").symlink_to(sys.prefix)
    (folder / "scripts" / "comparing.py").write_text("")
    script(folder, "msgspec", "import comparing, msgspec\nPACKAGES = ()\nassert msgspec.__file__ != __file__")

    assert tried(folder)[0] == 0


def test_only_the_clients_that_are_named_run(folder: Path) -> None:
    script(folder, "first", COMPARES)
    script(folder, "second", "PACKAGES = ()\nraise AssertionError")

    assert tried(folder, TRAINERS="first")[0] == 0
    status, _, errors = tried(folder, TRAINERS="first thrid")
    assert status == 2
    assert errors == ["rollscope: there is no client 'thrid': TRAINERS takes names of first, second"]


@pytest.mark.slow
def test_a_client_that_can_not_be_installed_is_no_failure(folder: Path) -> None:
    script(folder, "first", COMPARES)
    script(folder, "absent", "PACKAGES = ('./no/such/folder',)")

    status, lines, errors = tried(folder)

    assert status == 0
    assert len(lines) == 3
    (reason,) = [line for line in errors if "can't be installed" in line]
    assert reason.startswith("rollscope: ./no/such/folder can't be installed: '")
    assert "failed: ERROR: " in reason


@pytest.mark.slow
def test_a_client_without_its_checkout_is_not_tried_and_nothing_is_installed(folder: Path) -> None:
    script(folder, "absent", "PACKAGES = ('./no/such/folder',)\nCHECKOUTS = ('ABSENT_SOURCE',)")

    assert tried(folder) == (0, [], ["rollscope: absent is not tried: set ABSENT_SOURCE=/path/to/checkout"])
    assert "can't be installed" in "".join(tried(folder, ABSENT_SOURCE="/source")[2])


def test_a_client_of_another_python_that_is_missing_is_skipped(folder: Path) -> None:
    script(folder, "absent", "PACKAGES = ('absent==1',)\nPYTHON = (3, 12)")

    status, lines, errors = tried(folder, PYTHON312=str(folder / "none"))

    assert (status, lines) == (0, [])
    assert errors[0].startswith("rollscope: absent 1 is skipped: it needs a Python 3.12")


def test_a_script_whose_constants_can_not_be_read_is_a_mistake(folder: Path) -> None:
    for text, reason in (("PACKAGES = (name,)", "PACKAGES must be a tuple of literals"), ("x = 1", "has no PACKAGES")):
        script(folder, "first", text)
        status, _, (error,) = tried(folder)
        assert (status, reason in error) == (2, True), error
