"""Grades the rollouts that a file gets, into one run: begun, or resumed, each time there are some that it has not."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import Final

import evaluator
from dashboard import workspace
from dashboard.grading import resuming
from dashboard.grading.grading_form import Settings
from dashboard.grading.grading_jobs import Job, jobs
from dashboard.opening import Reading, Rollouts
from dashboard.workspace import Opened
from evaluator.file_grading import GradedFile
from evaluator.formats.reading.sources import resolve
from evaluator.runs.files import RunError, is_run
from evaluator.runs.reading import Run
from evaluator.runs.resuming import input_path

_LEAST_S: Final = 2.0
_MOST_S: Final = 30.0
"""A grading begins by reading the file from its start: the longer the last one took, the longer until the next one."""


def work_of(rollouts: Rollouts, files: Opened, settings: Settings) -> partial[GradedFile]:
    """The grading of a file as the page's form says. Raises `FormatError` if it is gone."""
    return partial(
        evaluator.grade_file, resolve(rollouts.word), files.dataset, options=settings.options,
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
        if refusal := resuming.refusal(run):
            raise RunError(refusal)
        resuming.resume(run, graded)

    def _earlier(self) -> Path | None:
        """The last of the open runs that are of this file."""
        runs = [entry.path for entry in workspace.entries() if entry.graded and is_run(entry.path)]
        return next((run for run in reversed(runs) if self._is_of(Run.open(run))), None)

    def _is_of(self, run: Run) -> bool:
        manifest = run.manifest
        return input_path(run.path, manifest, manifest.rollouts).absolute() == self._path.absolute()
