"""Starts gradings from the page, as the command does: of a file, of what is new in it, of the rest of a stopped run."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

import evaluator
from dashboard import sandbox_state, workspace
from dashboard.grading.grading_form import Settings
from dashboard.grading.grading_jobs import Job, jobs
from dashboard.opening import Reading, Rollouts
from dashboard.workspace import Opened, OpenRun
from evaluator.file_grading import GradedFile
from evaluator.formats.reading.dataset import map_of
from evaluator.formats.reading.sources import resolve
from evaluator.graders import GraderError
from evaluator.options import Settings as SandboxSettings
from evaluator.runs.files import RunError, is_run
from evaluator.runs.reading import Run
from evaluator.runs.resuming import dataset_path, input_path

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
        dataset_path(run.path, manifest),
        out=run.path,
        workers=manifest.workers,
        options=msgspec.structs.replace(manifest.options, sandbox=SandboxSettings()),
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


_LEAST_S: Final = 2.0
_MOST_S: Final = 30.0
"""A grading begins by reading the file from its start: the longer the last one took, the longer until the next one."""


def work_of(rollouts: Rollouts, files: Opened, settings: Settings) -> partial[GradedFile]:
    """The grading of a file as the page's form says. Raises `FormatError` if it is gone."""
    dataset = rollouts.dataset.path if rollouts.dataset is not None else None
    return partial(
        evaluator.grade_file, resolve(rollouts.word), dataset, options=settings.options,
        workers=settings.workers, limit=settings.limit, format=rollouts.format,
        field_map=rollouts.field_map, dataset_format=files.dataset_format, dataset_map=files.dataset_map,
    )  # fmt: skip


class NewRollouts:
    """The switch of one file. While it is on, each look at the file ends with `grade`."""

    def __init__(self, rollouts: Rollouts, reading: Reading, files: Opened, settings: Settings) -> None:
        self._rollouts = rollouts
        self._path = Path(rollouts.word)
        self._reading = reading
        self._files = files
        self._settings = settings
        self._tried = 0
        self._before: Job | None = None
        self._began = self._due = 0.0

    def switch(self, on: bool) -> None:
        """Turn it on or off; a grading under way continues."""
        self._before = jobs().of_rollouts(self._path)
        self._reading.grade_fault = ""
        self._reading.on_read = self.grade if on else None
        if on:
            self._reading.look()

    def grade(self) -> None:
        """Grade what is new, if there is something and no grading is under way."""
        job, found = jobs().of_rollouts(self._path), self._reading.state()
        if job is not None and job.running:
            self._due = time.monotonic() + min(_MOST_S, max(_LEAST_S, time.monotonic() - self._began))
        elif job is not None and job is not self._before and (job.failure or job.stopping):
            self._reading.on_read = None  # the page says why; and who stops a grading does not want the next one
        elif found is not None and found.rows > self._tried and time.monotonic() >= self._due:
            self._tried, self._began = found.rows, time.monotonic()
            try:
                self._begin(job, found.rows)
            except (OSError, ValueError) as error:
                self._reading.on_read = None
                self._reading.grade_fault = f"New lines can't be graded: {' '.join(str(error).split())}"

    def _begin(self, job: Job | None, rows: int) -> None:
        path = job.run if job is not None and is_run(job.run) else self._earlier()
        if path is None:
            jobs().grade(self._path, work_of(self._rollouts, self._files, self._settings))
            return
        run = Run.open(path)
        graded = run.manifest.counts.get("rollouts", 0)
        if graded >= rows:
            return
        if refused := refusal(run):
            raise RunError(refused)
        resume(run, graded)

    def _earlier(self) -> Path | None:
        """The last of the open runs that are of this file."""
        runs = [entry.path for entry in workspace.entries() if entry.graded and is_run(entry.path)]
        return next((run for run in reversed(runs) if self._is_of(Run.open(run))), None)

    def _is_of(self, run: Run) -> bool:
        manifest = run.manifest
        return input_path(run.path, manifest, manifest.rollouts).absolute() == self._path.absolute()
