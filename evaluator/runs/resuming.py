"""The command that goes on with a run: the options it was graded with last, and paths that hold in every folder."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path

from evaluator.model import Limits
from evaluator.runs.schema import Manifest

_PROGRAM = "rollscope"


def folder_from(run: Path) -> str:
    """The working directory as `Manifest.folder` keeps it: relative, so that both may move together."""
    return os.path.relpath(Path.cwd(), run.resolve())


def resume_command(run: Path, manifest: Manifest) -> str:
    """One line for a shell that grades what is left of a run, the way that the rest was graded."""
    usual, limits = Limits(), manifest.limits
    options = {
        "--dataset": input_path(run, manifest, manifest.dataset) if manifest.dataset else "DATASET",
        "--workers": manifest.workers,
        "--timeout": None if limits.wall_s == usual.wall_s else _number(limits.wall_s),
        "--memory": None if limits.memory_mb == usual.memory_mb else _number(limits.memory_mb),
        "--checker": manifest.checker,
        "--grader": manifest.grader,
        "--only": manifest.only,
        "--format": manifest.format,
        "--map": manifest.field_map,
        "--limit": manifest.limit,
        "--isolation": None if manifest.isolation == "completion" else manifest.isolation,
        "--sandbox": None if manifest.sandbox == "strict" else manifest.sandbox,
        "--unverified": None if manifest.unverified == "keep" else manifest.unverified,
        "--disagreement": None if manifest.disagreement == "unknown" else manifest.disagreement,
        "--python": manifest.interpreter,
    }
    words = [_program(), "grade"]
    words.append(str(input_path(run, manifest, manifest.rollouts)) if manifest.rollouts else "ROLLOUTS")
    for option, value in options.items():
        words += [] if value is None else [option, str(value)]
    words += ["--fail-fast"] if manifest.fail_fast else []
    return shlex.join([*words, "--resume", "--out", str(run.resolve())])


def input_path(run: Path, manifest: Manifest, given: str) -> Path:
    """Where an input file lies that the manifest names. Runs of older versions do not say: it is tried from here."""
    if manifest.folder is not None:
        return (run.resolve() / manifest.folder).resolve() / given
    return Path.cwd() / given if Path(given).exists() else Path(given)


def _number(value: float) -> str:
    """All digits: another limit than before would not be gone on with."""
    return repr(value).removesuffix(".0")


def _program() -> str:
    """The command's name where the shell finds this installation by it, else its path."""
    here = Path(sys.executable).with_name(_PROGRAM)
    found = shutil.which(_PROGRAM)
    by_name = not here.exists() or (found is not None and Path(found).resolve() == here.resolve())
    return _PROGRAM if by_name else str(here)
