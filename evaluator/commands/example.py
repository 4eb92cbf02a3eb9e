"""The bundled example: where it lies, and its run, graded once and kept."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from functools import partial
from pathlib import Path
from typing import Final

import evaluator
from evaluator.commands.failure import CommandError, Exit
from evaluator.runs.files import RunError, is_run, read_manifest
from evaluator.user_files import cache_folder

_PACKAGE: Final = Path(__file__).resolve().parent.parent
_DATASET: Final = "example.dataset.jsonl"
_ROLLOUTS: Final = "example.rollouts.jsonl"
_STORED: Final = "example.run"


def app_root() -> Path:
    """The directory of `app.py`: the checkout when the package runs from one, else the wheel's copy."""
    for root in (_PACKAGE.parent, _PACKAGE / "_app"):
        if (root / "app.py").is_file() and (root / "pages").is_dir():
            return root
    raise CommandError("the dashboard is missing from this installation: install rollscope again")


def example_run() -> Path:
    """The example's run: graded now if it was not before, the stored one where there is no sandbox."""
    data = app_root() / "data"
    if not (data / _DATASET).is_file():
        raise CommandError("the bundled example is missing: give a run or a file of rollouts")
    kept = _kept_at(data)
    if _finished(kept):
        return kept
    try:
        _grade(data, kept)
    except (RunError, OSError) as error:
        return _stored(data, str(error))
    return kept


def _grade(data: Path, out: Path) -> None:
    from evaluator.commands import grading
    from evaluator.file_grading import grade_file
    from evaluator.sandbox import SandboxUnavailable

    print("grading the bundled example, once", file=sys.stderr)
    try:
        done = grading.grade_quietly(partial(grade_file, data / _ROLLOUTS, data / _DATASET, out=out, resume=True))
    except SandboxUnavailable as error:
        raise RunError(str(error)) from None
    if done.stopped:
        raise CommandError("stopped", Exit.STOPPED)


def _stored(data: Path, reason: str) -> Path:
    print(f"the example's stored grades are shown: {reason}", file=sys.stderr)
    if not is_run(data / _STORED):
        raise CommandError(f"the bundled example can't be graded: {reason}")
    return data / _STORED


def _kept_at(data: Path) -> Path:
    """Named for what was graded and by which version, so that a change of either grades anew."""
    digest = hashlib.sha256(evaluator.__version__.encode())
    for name in (_DATASET, _ROLLOUTS):
        digest.update((data / name).read_bytes())
    name = f"example-{digest.hexdigest()[:8]}"
    if data.parent == _PACKAGE.parent and os.access(data.parent, os.W_OK):
        return data.parent / "runs" / name
    return cache_folder(name)


def _finished(run: Path) -> bool:
    if not is_run(run):
        return False
    try:
        return read_manifest(run).state == "finished"
    except RunError:  # made by another version, or damaged: it is only a copy, so it is made anew
        shutil.rmtree(run)
        return False
