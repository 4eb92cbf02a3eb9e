"""Runs the tests against real releases of NeMo Gym, in separate environments under `.nemo-gym/`.

    make test-nemo-gym                           # makes the environments once: 1.5 GB and some minutes each
    NEMO_GYM_VENVS=/some/where make test-nemo-gym   # on top of ready ones, /some/where/0.7.0 and so on

Runs on any Python from 3.11 with the standard library only. Reports and skips a release without an interpreter.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import venvs
from environment import ROOT, Interpreter, StopError, probe, say

HOME = ROOT / ".nemo-gym"
TESTS = ROOT / "tests" / "nemo_gym_release"
RELEASES_MADE = "ROLLSCOPE_NEMO_GYM_RELEASES"
"""The environment variable for the tests with the environments by release, as JSON."""
READY = "NEMO_GYM_VENVS"


@dataclass(frozen=True)
class Release:
    """A release of nemo-gym, and the Python to try it on."""

    number: str
    minor: int
    """The minor version of Python 3."""
    needs: list[int]
    """The oldest Python that its metadata allows."""

    @property
    def environment(self) -> Path:
        return HOME / self.number


RELEASES = (Release("0.7.0", 13, [3, 13, 14]), Release("0.4.0", 12, [3, 12, 0]))


def main(arguments: Sequence[str]) -> int:
    try:
        made = {release.number: places(release) for release in RELEASES if is_made(release)}
    except StopError as stop:
        say(str(stop))
        return 2
    if not made:
        say("no release of NeMo Gym can be tried here: nothing was tested")
        return 0
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", str(TESTS), *arguments]
    command += shlex.split(os.environ.get("PYTEST_ARGS", ""))
    return subprocess.run(
        command, cwd=ROOT, env={**os.environ, RELEASES_MADE: json.dumps(made)}, check=False
    ).returncode


def places(release: Release) -> dict[str, str]:
    """The paths of a release, for the tests."""
    behind = ready(release) or release.environment
    return {
        "environment": str(release.environment),
        "commands": str(behind / "bin"),
        "library": str(behind / library(release)),
    }


# --- environments


def is_made(release: Release) -> bool:
    """Makes the release's environment if needed; False, and a line, without an interpreter. Raises `StopError`."""
    interpreter = found(release)
    if interpreter is None:
        return False
    venvs.keep(release.environment, interpreter, [], lambda: make(release, interpreter))
    say(f"nemo-gym {release.number} on Python {interpreter.number}: {release.environment}")
    return True


def make(release: Release, interpreter: Interpreter) -> None:
    """A fresh environment with the release, pytest, and this checkout. Raises `StopError`."""
    wanted = [f"nemo-gym=={release.number}", "pytest", "pytest-asyncio", "--editable", f"{ROOT}[all]"]
    behind = ready(release)
    if behind is None:
        say(f"installing nemo-gym {release.number}, once: 1.5 GB, some minutes")
        venvs.call([interpreter.executable, "-I", "-m", "venv", str(release.environment)])
    else:
        venvs.call([interpreter.executable, "-I", "-m", "venv", "--without-pip", str(release.environment)])
        path = release.environment / library(release) / "ready.pth"  # behind its own packages; nothing is written there
        path.write_text(f"{behind / library(release)}\n", encoding="utf-8")
    if interpreter.version < release.needs:
        needs = ".".join(map(str, release.needs))
        say(f"nemo-gym {release.number} requires Python {needs}; trying {interpreter.number} all the same")
        wanted.append("--ignore-requires-python")
    venvs.install(release.environment, *wanted)


def library(release: Release) -> str:
    return f"lib/python3.{release.minor}/site-packages"


def found(release: Release) -> Interpreter | None:
    """The newest interpreter that fits and runs; prints a line if there is none. Raises `StopError`."""
    environment = ready(release)
    if environment is None:
        return venvs.newest(f"nemo-gym {release.number}", release.minor)
    probed = probe(venvs.python_of(environment))
    if probed is None:
        raise StopError(f"{environment} has no Python that runs: set {READY} to a folder with {release.number}/ in it")
    return probed


def ready(release: Release) -> Path | None:
    """The environment to build on, if `NEMO_GYM_VENVS` names one."""
    folder = os.environ.get(READY)
    return Path(folder).resolve() / release.number if folder else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
