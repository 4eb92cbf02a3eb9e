"""The page of a rollouts file without grades: what it is, how it is to be graded, and the button that starts it."""

from __future__ import annotations

import itertools
from functools import partial
from pathlib import Path

import streamlit as st

import evaluator
from dashboard import facts, navigation, sandbox_state, state, workspace
from dashboard.grading import grading_form
from dashboard.grading.grading_form import STORED, Settings, SettingsError
from dashboard.grading.grading_jobs import Job, Progress, jobs
from dashboard.state import View
from dashboard.wording import counted
from dashboard.workspace import Entry
from evaluator.file_grading import count_lines, run_stem
from evaluator.formats import FormatError, load_rollouts, require_rows

_POLL_S = 1.0
_LOOKED_AT = 100
"""Rollouts, to see whether they came with rewards."""
_FAULT = "grade_fault"

lines = st.cache_data(show_spinner=False, max_entries=20)(count_lines)


def offer(entry: Entry) -> None:
    """Everything about a file that is not graded yet. Another visitor's grading of it appears by itself."""
    facts.line([("file", str(entry.path))], title=f"{entry.name}: not graded yet")
    job = jobs().of_rollouts(entry.path)
    running = job is not None and job.running
    _notice(entry.path, running=running)
    if running and job is not None:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            facts.note(f"It is being graded into {workspace.name_of(job.run)}.")
            state.link("overview", View(run=workspace.name_of(job.run)), "Open the run")
        return
    fault = st.session_state.pop(_FAULT, "") or (job.failure if job is not None else "")
    if fault:
        facts.banner(f"The last grading failed: {fault}", warn=True)
    dataset = workspace.opened().dataset
    rewarded, fault = _looked_at(entry.path, entry.path.stat().st_mtime_ns)
    if fault:
        facts.banner(fault, warn=True)
        facts.note("Fix the file and load this page again. rollscope grade takes --map and --format.")
        return
    _buttons(entry, dataset, rewarded=rewarded)
    if dataset is None:
        to = "grade it anew" if rewarded else "grade it"
        facts.banner(
            f"A dataset with the test cases is needed to {to}. Start the dashboard with one:", warn=not rewarded
        )
        st.code(f"rollscope view {entry.path} --dataset DATASET.jsonl", language=None)


def _buttons(entry: Entry, dataset: str | None, *, rewarded: bool) -> None:
    refusal = sandbox_state.refusal() if dataset else None
    settings, wrong = Settings(), ""
    if dataset:
        try:
            settings = grading_form.chosen()
        except SettingsError as error:
            wrong = str(error)
    if refusal or wrong:
        facts.banner(refusal or wrong, warn=True)
    with st.container(horizontal=True, gap="small"):
        if rewarded:
            tasks = Path(dataset) if dataset else None
            _start_button("Show the rewards it came with", "grade_stored", entry, tasks, Settings(grader=STORED))
        if dataset:
            label, off = _label(entry.path, settings.limit), bool(refusal or wrong)
            _start_button(label, "grade", entry, Path(dataset), settings, first=not rewarded, disabled=off)
            grading_form.popover(disabled=bool(refusal))
    to = ("grades go to", f"{run_stem(entry.path)}-<time>")
    if dataset:
        facts.line([("dataset", dataset), *([] if wrong else settings.facts()), to])
    elif rewarded:
        facts.line([to])


def _label(path: Path, limit: int | None) -> str:
    known = [count for count in (lines(path), limit) if count is not None]
    return f"Grade {counted(min(known), 'rollout')}" if known else "Grade the rollouts"


def _start_button(
    label: str, key: str, entry: Entry, dataset: Path | None, settings: Settings, *, first: bool = True,
    disabled: bool = False,
) -> None:  # fmt: skip
    args = (entry, dataset, settings)
    st.button(label, type="primary" if first else "secondary", key=key, disabled=disabled, on_click=_start, args=args)


def _start(entry: Entry, dataset: Path | None, settings: Settings) -> None:
    """Begin, and open the run, which grows from here on."""
    # An address without a run means the first entry, which the new run will be: the picker would go back to this one.
    state.write(View(run=entry.name))
    work = partial(
        evaluator.grade_file, entry.path, dataset, grader=settings.grader, checker=settings.checker,
        limits=settings.limits, workers=settings.workers, limit=settings.limit,
    )  # fmt: skip
    try:
        job = jobs().grade(entry.path, work)
    except OSError as error:
        st.session_state[_FAULT] = f"{error.filename}: can't be written: {error.strerror}"
        return
    if not job.running:
        return  # it failed at once: this page says why
    page = "rollouts" if settings.grader == STORED else "overview"
    state.go(page, View(run=workspace.name_of(job.run)))


@st.cache_data(show_spinner=False, max_entries=20)
def _looked_at(path: Path, changed: int) -> tuple[bool, str]:
    """Whether one of the first rollouts came with a reward, and why the file can't be read as a whole, if it can't.

    `changed`: when the file did, to look again.
    """
    del changed
    try:
        rollouts = require_rows(load_rollouts(path, on_problem=lambda _: None), path)
        return any(rollout.given_reward is not None for rollout in itertools.islice(rollouts, _LOOKED_AT)), ""
    except FormatError as error:
        return False, str(error)


@st.fragment(run_every=_POLL_S)
def _notice(path: Path, *, running: bool) -> None:
    """Draw the page again when a grading of the file begins or ends; until it ends, how far it is."""
    job = jobs().of_rollouts(path)
    if (job is not None and job.running) != running:
        st.rerun()
    if running and job is not None:
        progress_line(job.progress, job)


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
        found = next((e.name for e in workspace.entries() if e.path == job.rollouts), "")
        state.name(navigation.page(), View(run=found))
        st.stop()


def progress_line(progress: Progress, job: Job | None, *, said: str = "") -> None:
    """How far a grading is, with the button that stops it where it runs on this server."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="progress"):
        words = "Stopping: what is graded is kept." if job is not None and job.stopping else said
        facts.banner(words or progress.words().capitalize())
        if job is not None:
            st.button("Stop", key="stop", disabled=job.stopping, on_click=job.stop)
