"""Gradings in threads of this server: all visitors see the same ones, and they outlive the tab that started them."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import Counter, deque
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple

import streamlit as st

from dashboard import workspace
from dashboard.background import Work
from evaluator.file_grading import GradedFile
from evaluator.runs.files import default_run, is_run

_WINDOW_S = 15.0
_KNOWN_AFTER_S = 2.0
"""A rate over less time is a guess."""
_APART_S = 0.25
_ENDS_WITHIN_S = 1.0
_HELD_UP = 3
"""While it is slower than on average by this, a few slow rollouts hold it up: that pace says nothing of the rest."""


class Pace:
    """How fast a count grows: over the last seconds, and since it was first seen. Safe from any thread.

    A run's count grows only when a part of it is written: it is measured from one change to another.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._first: tuple[float, int] | None = None
        self._seen: deque[tuple[float, int]] = deque()

    def note(self, count: int, now: float) -> None:
        """The count at a moment, in seconds of a clock that never goes back."""
        with self._lock:
            self._first = self._first or (now, count)
            if not self._seen or (count != self._seen[-1][1] and now - self._seen[-1][0] >= _APART_S):
                self._seen.append((now, count))
            while len(self._seen) > 2 and self._seen[1][0] <= now - _WINDOW_S:
                self._seen.popleft()

    def rate(self, now: float) -> float | None:
        """Per second, over the last 15 seconds or what is known; None until it is known."""
        with self._lock:
            return self._between(self._seen[0], now) if self._seen else None

    def average(self, now: float) -> float | None:
        """The same since the first moment: what is slow comes in bursts, which say little about what is left."""
        with self._lock:
            return self._between(self._first, now) if self._first else None

    def _between(self, first: tuple[float, int], now: float) -> float | None:
        ended, count = self._seen[-1]
        if now - ended > _WINDOW_S:
            if first == self._seen[0]:
                return 0.0 if now - first[0] > _KNOWN_AFTER_S else None
            ended = now
        seconds = ended - first[0]
        return None if seconds < _KNOWN_AFTER_S else max(0, count - first[1]) / seconds


class Progress(NamedTuple):
    """How far a grading is."""

    graded: int
    total: int | None
    """None where counting the rollouts would take long."""
    rate: float | None
    """Per second, over the last seconds; None while it is not known yet."""
    average: float | None = None
    """Per second, since its beginning."""

    @property
    def share(self) -> float:
        return min(1.0, self.graded / self.total) if self.total else 0.0

    def words(self) -> str:
        """`graded 312 of 870, 41 a second, about 14 s left`."""
        of = f" of {max(self.total, self.graded):,}" if self.total is not None else ""
        said = [f"graded {self.graded:,}{of}"]
        left = None if self.total is None else max(0, self.total - self.graded)
        if left == 0:
            return f"{said[0]}, finishing"
        if self.rate is None:
            return f"{said[0]}, starting"
        if self.rate == 0:
            return f"{said[0]}, none in the last {_WINDOW_S:.0f} s"
        said.append(f"{self.rate:,.0f} a second" if self.rate >= 3 else f"{self.rate * 60:,.0f} a minute")
        usual = self.average or self.rate
        if left is not None and self.rate * _HELD_UP >= usual:
            said.append(f"about {_duration(left / min(self.rate, usual))} left")
        return ", ".join(said)


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


class Job(Work):
    """One grading."""

    def __init__(self, rollouts: Path, run: Path, work: partial[GradedFile], before: int = 0) -> None:
        """`work`: a `grade_file` into `run`. `before`: how many grades the run has already."""
        super().__init__("the grader")
        self.rollouts = rollouts
        self.run = run
        self.counts: Counter[str] = Counter()
        self._before = before
        self._total: int | None = None
        self._pace = Pace()
        self._grade = work
        self._begin()

    @property
    def progress(self) -> Progress:
        graded = self.counts.total()
        total = None if self._total is None else self._before + self._total
        now = time.monotonic()
        return Progress(self._before + graded, total, self._pace.rate(now) if graded else None, self._pace.average(now))

    def stop(self) -> None:
        """End it, usually within a second. What has been graded is kept, and can be resumed."""
        super().stop()
        self.wait(_ENDS_WITHIN_S)  # so that the page shows the end with this click

    def _work(self) -> None:
        try:
            self._grade(on_start=self._start, on_verdicts=self._count, stop=self._stop)
        finally:
            if not is_run(self.run):
                _give_up(self.run)

    def _start(self, total: int | None) -> None:
        self._total = total
        self._pace.note(0, time.monotonic())

    def _count(self, verdicts: Mapping[str, int]) -> None:
        self.counts.update(verdicts)
        self._pace.note(self.counts.total(), time.monotonic())


class Jobs:
    """The last grading of each run. A file has one grading at a time, whoever asks for it, and so has a run."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._jobs: dict[Path, Job] = {}

    def of_run(self, run: Path) -> Job | None:
        """The last grading into a run."""
        return self._jobs.get(run)

    def of_rollouts(self, rollouts: Path) -> Job | None:
        """The last grading of a file."""
        return next((job for job in reversed(list(self._jobs.values())) if job.rollouts == rollouts), None)

    def starting(self, run: Path) -> Job | None:
        """The grading that will make this run, while it has not."""
        job = self.of_run(run)
        return job if job is not None and job.running and not is_run(run) else None

    def failed(self, name: str) -> Job | None:
        """The last grading that should have made a run of this name, and made none."""
        failed = [job for job in self._jobs.values() if job.failure is not None and not is_run(job.run)]
        return next((job for job in reversed(failed) if job.run.name == name), None)

    def grade(self, rollouts: Path, work: partial[GradedFile]) -> Job:
        """Grade a file into a new run; the grading under way, if there is one. Raises `OSError`."""
        with self._lock:
            job = self.of_rollouts(rollouts)
            if job is None or not job.running:
                run = default_run(rollouts).resolve()
                run.mkdir(parents=True)  # nobody else takes the name
                workspace.graded_here().append(run)
                job = self._begin(Job(rollouts, run, partial(work, out=run)))
            return job

    def resume(self, rollouts: Path, run: Path, work: partial[GradedFile], before: int) -> Job:
        """Grade the rest of a run; the grading under way, if there is one."""
        with self._lock:
            job = self.of_run(run)
            if job is None or not job.running:
                job = self._begin(Job(rollouts, run, work, before))
            return job

    def _begin(self, job: Job) -> Job:
        self._jobs.pop(job.run, None)  # so that the last one begun is last
        self._jobs[job.run] = job
        return job


@st.cache_resource(show_spinner=False)
def jobs() -> Jobs:
    """The gradings of this server."""
    return Jobs()


def _give_up(run: Path) -> None:
    """Nothing was graded: the run is not offered, and its empty folder is removed."""
    with contextlib.suppress(ValueError):
        workspace.graded_here().remove(run)
    with contextlib.suppress(OSError):
        run.rmdir()
