"""Builds the documentation as a site, strictly: any warning, such as a link that leads nowhere, is an error.

    .venv/bin/python tools/docs_site.py [FOLDER]

What builds it is in an environment of its own, `.venv-docs`, made once from `requirements-docs.txt`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import venvs
from environment import ROOT, Interpreter, StopError, probe, say

_ENVIRONMENT = ROOT / ".venv-docs"
_REQUIREMENTS = ROOT / "requirements-docs.txt"


def main(arguments: Sequence[str]) -> int:
    """Returns the exit status."""
    site = Path(arguments[0] if arguments else ROOT / "site").absolute()
    try:
        interpreter = probe(sys.executable)
        if interpreter is None:
            raise StopError(f"{sys.executable} does not run")
        pins = _REQUIREMENTS.read_text(encoding="utf-8").splitlines()
        venvs.keep(_ENVIRONMENT, interpreter, pins, lambda: _make(interpreter))
    except StopError as stop:
        say(str(stop))
        return 2
    command = [venvs.python_of(_ENVIRONMENT), "-I", "-m", "mkdocs", "--quiet", "build", "--strict"]
    quiet = os.environ | {"NO_MKDOCS_2_WARNING": "1"}  # of the theme, about a version that the pins leave out
    status = subprocess.run([*command, "--site-dir", str(site)], cwd=ROOT, env=quiet, check=False).returncode
    if status == 0:
        say(f"the documentation is in {site}: open its index.html")
    return status


def _make(interpreter: Interpreter) -> None:
    """The pip of `.venv` installs, since an interpreter may come without one."""
    say(f"installing {_REQUIREMENTS.name} into {_ENVIRONMENT.name} (once)")
    venvs.call([interpreter.executable, "-I", "-m", "venv", "--without-pip", str(_ENVIRONMENT)])
    pip = [sys.executable, "-I", "-m", "pip", "--python", venvs.python_of(_ENVIRONMENT), "--disable-pip-version-check"]
    venvs.call([*pip, "-qq", "install", "--requirement", str(_REQUIREMENTS)])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
