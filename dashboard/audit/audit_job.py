"""An audit on a thread of its own. A finished one is kept for its run and checkers."""

from __future__ import annotations

import streamlit as st

from dashboard.background import Work
from dashboard.workspace import OpenRun
from evaluator.auditing import Audit, audit_run, audited_count
from evaluator.model import Grade
from evaluator.runs.reading import Run

_KEPT = 16

Key = tuple[str, tuple[int, ...], tuple[str, ...]]


class Job(Work):
    """One audit."""

    def __init__(self, run: Run, checkers: tuple[str, ...]) -> None:
        super().__init__("the audit")
        self.total = audited_count(run)
        self.done = 0
        self.report: Audit | None = None
        self._of = run, checkers
        self._begin()

    def _work(self) -> None:
        self.report = audit_run(*self._of, on_grade=self._count, stop=self._stop)

    def _count(self, grade: Grade) -> None:
        del grade
        self.done += 1


def start(run: OpenRun, checkers: tuple[str, ...]) -> None:
    """Begin an audit, unless the same one is running."""
    known = find(run, checkers)
    if known is None or not known.running:
        jobs = _jobs()
        jobs.pop(_key(run, checkers), None)
        for old in [key for key, job in jobs.items() if not job.running][: max(0, len(jobs) + 1 - _KEPT)]:
            del jobs[old]
        jobs[_key(run, checkers)] = Job(run.run, checkers)


def find(run: OpenRun, checkers: tuple[str, ...]) -> Job | None:
    """The audit of this run with these checkers, running or ended."""
    return _jobs().get(_key(run, checkers))


def _key(run: OpenRun, checkers: tuple[str, ...]) -> Key:
    return str(run.path), run.stamp, checkers


@st.cache_resource(show_spinner=False)
def _jobs() -> dict[Key, Job]:
    """By run and checkers: a reload or a second visitor finds the same one."""
    return {}
