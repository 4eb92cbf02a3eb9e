"""The library under its two names, and what is said where a file of the user's own hides it."""

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

import evaluator

APP = Path(__file__).resolve().parent.parent / "app.py"
COMMAND = str(Path(sys.executable).with_name("rollscope"))
SHOWN = f"from streamlit.testing.v1 import AppTest; print(AppTest.from_file({str(APP)!r}).run().error[0].value)"


def test_both_names_are_one_package() -> None:
    assert importlib.import_module("rollscope") is evaluator
    for name in ("formats", "formats.reading.spec", "interop.trl"):
        assert importlib.import_module(f"rollscope.{name}") is importlib.import_module(f"evaluator.{name}")
    spec = importlib.import_module("evaluator.formats").__spec__
    assert spec is not None
    assert spec.name == "evaluator.formats"
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("rollscope.no_such")


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(folder)}
    return subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "words", [[COMMAND], [sys.executable, "-m", "rollscope"], [sys.executable, "-m", "evaluator"]], ids=" ".join
)
def test_the_command_runs_by_each_name(tmp_path: Path, words: list[str]) -> None:
    assert run(tmp_path, *words, "--version").stdout == f"rollscope {evaluator.__version__}\n"


@pytest.mark.parametrize("name", ["evaluator.py", "evaluator/__init__.py"])
def test_what_hides_it_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("raise SystemExit('it was run')")
    told = f"{tmp_path / Path(name).parts[0]} hides Rollscope's package evaluator: "
    for words in [COMMAND], [sys.executable, "-m", "rollscope"]:
        done = run(tmp_path, *words, "--version")
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith(f"rollscope: {told}")
        assert done.stderr.count("\n") == 1
    assert f"ImportError: {told}" in run(tmp_path, sys.executable, "-c", "import rollscope").stderr
    assert run(tmp_path, sys.executable, "-c", SHOWN).stdout.startswith(told)
