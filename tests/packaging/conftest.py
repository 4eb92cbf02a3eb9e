"""The wheel, and environments that it is installed in. Run alone: .venv/bin/python -m pytest tests/packaging"""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(ROOT, "wheel", tmp_path_factory.mktemp("wheel"))


def built(source: Path, target: str, folder: Path) -> Path:
    run(sys.executable, "-I", "-m", "hatchling", "build", "--target", target, "--directory", folder, cwd=source)
    (made,) = folder.iterdir()
    return made


@pytest.fixture(scope="session")
def bare(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment in which nothing but the wheel and what it asks for was installed: no extra."""
    folder = empty_environment(tmp_path_factory.mktemp("bare") / "venv")
    run(*pip(folder), "install", "--no-compile", "--constraint", ROOT / "requirements.txt", wheel)
    return folder


def empty_environment(folder: Path) -> Path:
    run(sys.executable, "-I", "-m", "venv", "--without-pip", folder)
    return folder


def pip(environment: Path) -> list[str | Path]:
    python = environment / "bin" / "python"
    return [sys.executable, "-I", "-m", "pip", "--python", python, "-qq", "--no-input", "--disable-pip-version-check"]


def run(*command: str | Path, cwd: Path | None = None) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
