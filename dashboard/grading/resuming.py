"""Resumes a stopped run from the page, with the settings in its manifest."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

import evaluator
from dashboard import sandbox_state
from dashboard.grading.grading_jobs import jobs
from dashboard.workspace import OpenRun
from evaluator.formats.reading.dataset import map_of
from evaluator.graders import GraderError
from evaluator.options import Settings
from evaluator.runs.reading import Run
from evaluator.runs.resuming import input_path

if TYPE_CHECKING:
    from evaluator.file_grading import GradedFile


def refusal(run: OpenRun | Run) -> str | None:
    """Why the run can't be resumed from the page, as one line; None if it can.

    A run may come from elsewhere: it must not decide which code of this machine is loaded outside the sandbox, nor that
    the sandbox is a weaker one.
    """
    manifest = run.manifest
    rollouts = [("rollouts", name) for name in (manifest.rollouts, *manifest.more_rollouts)]
    for what, name in (*rollouts, ("dataset", manifest.dataset)):
        path = input_path(run.path, manifest, name)
        if not name or not path.exists():
            return f"The file of its {what} is missing: {path if name else 'the run does not name it'}."
    if manifest.options.sandbox.python is not None or manifest.options.sandbox.strictness != "strict":
        return "It was graded with a Python or a sandbox of its own."
    try:
        refused = sandbox_state.grader_refusal(manifest.options.grader) if manifest.options.grader else None
    except GraderError as error:
        refused = str(error)
    return refused or sandbox_state.refusal()


def resume(run: OpenRun | Run, graded: int) -> None:
    """Start grading the rest."""
    before = 0 if run.manifest.only else graded
    jobs().resume(_input(run, run.manifest.rollouts), run.path, _work(run), before)


def _work(run: OpenRun | Run) -> partial[GradedFile]:
    """Raises `FormatError` for a field map that this version can't read."""
    manifest = run.manifest
    return partial(
        evaluator.grade_file,
        [_input(run, name) for name in (manifest.rollouts, *manifest.more_rollouts)],
        _input(run, manifest.dataset),
        out=run.path,
        workers=manifest.workers,
        options=msgspec.structs.replace(manifest.options, sandbox=Settings()),
        format=manifest.format,
        field_map=map_of(manifest.field_map),
        dataset_format=manifest.dataset_format,
        dataset_map=map_of(manifest.dataset_map),
        limit=manifest.limit,
        resume=True,
        only=manifest.only,
        cache=manifest.cache != "none",  # a folder that came with the run could hold any grades
    )


def _input(run: OpenRun | Run, name: str) -> Path:
    return input_path(run.path, run.manifest, name)
