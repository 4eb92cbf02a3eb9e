"""An audit on a thread of its own. A finished one is kept for its run and checkers."""

from __future__ import annotations

import threading

import streamlit as st

from dashboard.workspace import OpenRun
from evaluator.auditing import Audit, audit_run, audited_count
from evaluator.checkers import CheckerError
from evaluator.model import Grade
from evaluator.runs.files import RunError
from evaluator.runs.reading import Run
from evaluator.sandbox import InterpreterError, SandboxUnavailable

_KEPT = 16

Key = tuple[str, tuple[int, int], tuple[str, ...]]


class Job:
    """One audit. Its fields may be read from anywhere at any time."""

    def __init__(self, run: Run, checkers: tuple[str, ...]) -> None:
        self.total = audited_count(run)
        self.done = 0
        self.report: Audit | None = None
        self.failure: str | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work, args=(run, checkers), name="audit", daemon=True)
        self._thread.start()

    @property
    def running(self) -> bool:
        return self._thread.is_alive()

    @property
    def stopping(self) -> bool:
        return self._stop.is_set()

    def stop(self) -> None:
        """End it soon; what has been compared is kept."""
        self._stop.set()

    def wait(self) -> None:
        """Until it has ended."""
        self._thread.join()

    def _work(self, run: Run, checkers: tuple[str, ...]) -> None:
        try:
            self.report = audit_run(run, checkers, on_grade=self._count, stop=self._stop)
        except (CheckerError, RunError, InterpreterError, SandboxUnavailable, OSError) as error:
            self.failure = " ".join(str(error).split())

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
