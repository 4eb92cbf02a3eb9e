"""Environments with a client's package, each made once and kept beside `.venv`: for the tools that test real clients.

Runs on any Python from 3.11 with the standard library only.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from environment import MADE_FOR, ROOT, Interpreter, StopError, probe, say


def newest(what: str, minor: int) -> Interpreter | None:
    """The newest Python 3.`minor` that runs; prints that `what` is skipped if there is none.

    The environment variable `PYTHON3<minor>` names the one to use.
    """
    variable = f"PYTHON3{minor}"
    named = os.environ.get(variable)
    fitting = [
        probed
        for path in ([named] if named else _candidates(minor))
        if (probed := probe(path)) and probed.version[:2] == [3, minor]
    ]
    if not fitting:
        missing = "none was found on PATH or in the folders of pyenv and uv"
        tried = f"{named} does not run, or is another version" if named else missing
        say(f"{what} is skipped: it needs a Python 3.{minor}, and {tried}: "
            f"name one with {variable}=/path/to/python")  # fmt: skip
        return None
    return max(fitting, key=lambda one: one.version)


def _candidates(minor: int) -> Iterator[str]:
    """Possible paths of a Python 3.`minor`. Those on PATH may be shims that do not run."""
    home = Path.home()
    for on_path in os.environ.get("PATH", "").split(os.pathsep):
        if on_path:
            yield str(Path(on_path) / f"python3.{minor}")
    pyenv = Path(os.environ.get("PYENV_ROOT") or home / ".pyenv") / "versions"
    uv = Path(os.environ.get("UV_PYTHON_INSTALL_DIR") or home / ".local" / "share" / "uv" / "python")
    for folder, pattern in ((pyenv, f"3.{minor}.*"), (uv, f"cpython-3.{minor}.*")):
        yield from (str(path / "bin" / f"python3.{minor}") for path in sorted(folder.glob(pattern)))


def keep(folder: Path, interpreter: Interpreter, wanted: Sequence[str], make: Callable[[], None]) -> None:
    """Calls `make` to make the environment, unless `folder` has one for the same checkout and `wanted` that runs."""
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    made_for = "\n".join([interpreter.executable, str(ROOT), *wanted, project])
    marker = folder / MADE_FOR
    if marker.is_file() and marker.read_text(encoding="utf-8") == made_for and probe(python_of(folder)):
        return
    started = time.monotonic()
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    make()
    marker.write_text(made_for, encoding="utf-8")
    gigabytes = sum(path.lstat().st_size for path in folder.rglob("*")) / 1e9
    say(f"made in {time.monotonic() - started:.0f} s, {gigabytes:.1f} GB")


def python_of(folder: Path) -> str:
    return str(folder / "bin" / "python")


def install(folder: Path, *arguments: str) -> None:
    """Runs pip in the environment. Raises `StopError`."""
    call([python_of(folder), "-I", "-m", "pip", "--disable-pip-version-check", "-qq", "install", *arguments])


def call(command: Sequence[str]) -> None:
    """Raises `StopError`, which has the command and the last line of its error."""
    done = subprocess.run(command, cwd=ROOT, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        lines = [line.strip() for line in done.stderr.splitlines() if line.strip()] or ["it says nothing"]
        errors = [line for line in lines if line.lower().startswith("error")]  # hints may follow it
        raise StopError(f"'{shlex.join(command)}' failed: {(errors or lines)[-1]}")
