"""`make` makes its own `.venv`, is done at once when nothing changed, or ends in one clear line."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.packaging.conftest import ROOT, run

NEEDED_TO_BUILD = ("hatchling", "msgspec", "packaging", "pathspec", "pluggy", "trove-classifiers", "tomlkit")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository as far as `.venv` depends on it, with the fewest requirements that work."""
    folder = tmp_path_factory.mktemp("a clone") / "rollscope"
    shutil.copytree(ROOT / "tools", folder / "tools")
    (folder / "evaluator").mkdir()
    for name in ("Makefile", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    few = rf"^(?:{'|'.join(NEEDED_TO_BUILD)})==.*$"
    kept = re.findall(few, (ROOT / "requirements.txt").read_text(), re.MULTILINE)
    assert len(kept) == len(NEEDED_TO_BUILD)
    for name in ("requirements.txt", "requirements-dev.txt"):
        (folder / name).write_text("\n".join(kept) + "\n")
    return folder


@pytest.fixture(scope="module")
def clone(files: Path) -> Path:
    """With its `.venv`."""
    made = make(files)
    assert made.returncode == 0, made.stderr
    return files


def make(folder: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    outer = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "PYTHON", "MFLAGS"))}
    return subprocess.run(
        ["make", "-s", "environment"], cwd=folder, env=outer | settings, capture_output=True, text=True, timeout=600,
        check=False,
    )  # fmt: skip


@pytest.mark.slow
def test_it_has_the_command_and_an_interpreter_that_is_new_enough(clone: Path) -> None:
    assert (clone / ".venv" / "bin" / "rollscope").exists()
    ask = "import evaluator, sys; print(evaluator.__path__[0]); print(sys.version_info >= (3, 11))"
    assert run(clone / ".venv/bin/python", "-c", ask, cwd=Path("/")).splitlines() == [str(clone / "evaluator"), "True"]


@pytest.mark.slow
def test_the_second_time_it_does_and_says_nothing(clone: Path) -> None:
    before = (clone / ".venv" / ".installed-run").stat().st_mtime_ns
    again = make(clone)
    assert (again.returncode, again.stdout, again.stderr) == (0, "", "")
    assert (clone / ".venv" / ".installed-run").stat().st_mtime_ns == before


@pytest.mark.slow
def test_a_moved_clone_is_made_anew(clone: Path, tmp_path: Path) -> None:
    moved = tmp_path / "moved"
    shutil.copytree(clone, moved, symlinks=True)
    made = make(moved)
    assert made.returncode == 0, made.stderr
    assert "making .venv" in made.stderr
    assert str(moved) in (moved / ".venv" / "bin" / "rollscope").read_text()


@pytest.mark.parametrize("python", ["/bin/false", "/nowhere/python3"])
def test_an_interpreter_that_does_not_run_ends_in_one_line(files: Path, python: str) -> None:
    failed = make(files, PYTHON=python)
    assert failed.returncode != 0
    said = failed.stderr.splitlines()[0]
    assert said.startswith(f"rollscope: PYTHON={python} does not run or is not CPython 3.11 or newer: name another")


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """`tools/environment.py`, which is no part of any package."""
    spec = importlib.util.spec_from_file_location("environment", ROOT / "tools" / "environment.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "environment", module)
    spec.loader.exec_module(module)
    return module


def test_a_file_below_a_closed_folder_is_not_readable_by_others(environment: ModuleType, tmp_path: Path) -> None:
    assert environment.others_can_read(Path("/bin/sh"))
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    (closed / "python3").touch(mode=0o755)
    assert not environment.others_can_read(closed / "python3")


@pytest.mark.parametrize(
    ("built_for", "before", "after"),
    [
        ("/opt/somewhere", b"\0/opt/somewhere/lib\0...", b"\0$ORIGIN/../lib\0\0\0\0\0..."),
        ("/opt/somewhere", b"\0/opt/somewhere/lib/python\0", b"\0/opt/somewhere/lib/python\0"),
        ("/opt", b"\0/opt/lib\0...", b"\0/opt/lib\0..."),
    ],
    ids=["moved", "another folder", "too short"],
)
def test_a_copy_looks_for_its_libraries_beside_it(
    environment: ModuleType, tmp_path: Path, built_for: str, before: bytes, after: bytes
) -> None:
    executable = tmp_path / "python3"
    executable.write_bytes(before)
    environment.look_for_libraries_beside(executable, Path(built_for))
    assert executable.read_bytes() == after


def test_without_a_browser_one_line_says_what_to_type(
    environment: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))  # neither a browser nor apt-get is on it
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path))
    monkeypatch.delenv("CHROMIUM", raising=False)
    assert environment.main(["browser"]) == 2
    (said,) = capsys.readouterr().err.splitlines()
    assert said.startswith("rollscope: no Chromium for the tests of the pages: type 'sudo apt-get install chromium'")
    assert said.endswith("or leave these tests out with 'make test PAGES=no'")
