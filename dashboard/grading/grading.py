"""How far a grading is: the page of a run that is being made, and the line above the pages of one that grows."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from dashboard import facts, navigation, state, workspace
from dashboard.grading.grading_jobs import Job, Progress, jobs
from dashboard.state import View
from dashboard.workspace import Entry
from evaluator.runs.resuming import count_lines

_POLL_S = 1.0

lines = st.cache_data(show_spinner=False, max_entries=20)(count_lines)


def starting(entry: Entry) -> None:
    """The page of a run that is being made: its dataset is read."""
    facts.line([("rollouts", _rollouts(entry.path))], title=f"{entry.name}: starting")
    _begun(entry.path)


def _rollouts(run: Path) -> str:
    job = jobs().of_run(run)
    return str(job.rollouts) if job is not None else "unknown"


@st.fragment(run_every=_POLL_S / 2)
def _begun(run: Path) -> None:
    job = jobs().starting(run)
    if job is None:
        st.rerun()
    progress_line(job.progress, job, said="Reading the dataset and starting the sandbox.")


def back(name: str) -> None:
    """From a run that could not be made, to the rollouts, whose page says why."""
    job = jobs().failed(name)
    if job is not None:
        state.name(navigation.page(), View(run=workspace.name_of(job.rollouts)))
        st.stop()


def progress_line(progress: Progress, job: Job | None, *, said: str = "") -> None:
    """How far a grading is, with the button that stops it where it runs on this server."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="progress"):
        words = "Stopping: what is graded is kept." if job is not None and job.stopping else said
        facts.banner(words or progress.words().capitalize())
        if job is not None:
            st.button("Stop", key="stop", disabled=job.stopping, on_click=job.stop)
