"""Rollouts that are not graded here: how far they are read, what they came with, and the button to grade them."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from dashboard import facts, opening, sandbox_state, state, theme, workspace
from dashboard.grading import following, grading_form
from dashboard.grading.grading_form import Settings, SettingsError
from dashboard.grading.grading_jobs import Job, jobs
from dashboard.grading.new_rollouts import work_of
from dashboard.opening import Reading, Rollouts
from dashboard.queries.aggregates import recorded_counts
from dashboard.state import View
from dashboard.wording import counted
from dashboard.workspace import Entry, OpenRun
from evaluator.formats import FormatError
from evaluator.runs.files import run_stem

_POLL_S = 1.0
_FAULT = "grade_fault"


def is_readable(entry: Entry) -> bool:
    """Whether there is something to show: always for a run, for rollouts once the first are read."""
    if entry.rollouts is None:
        return True
    reading = opening.reading(entry.rollouts)
    reading.look()
    return reading.is_readable


def unreadable(entry: Entry) -> None:
    """The page of rollouts of which none is read: why, or how far the reading is."""
    assert entry.rollouts is not None
    reading = opening.reading(entry.rollouts)
    facts.line([("file", entry.rollouts.word)], title=entry.name)
    _notice(reading)
    if reading.fault:
        facts.banner(reading.fault, warn=True)
        facts.note("This page continues once the file can be read. rollscope view takes --map and --format.")
    _wait(entry)


@st.fragment(run_every=_POLL_S)
def _wait(entry: Entry) -> None:
    assert entry.rollouts is not None
    if is_readable(entry):
        st.rerun()
    reading = opening.reading(entry.rollouts)
    if reading.running and not reading.fault:
        following.progress(reading, None)


def banners(entry: Entry, run: OpenRun, *, whole: bool) -> None:
    """Above every page: that these are the grades the rollouts came with, and what happens to the file.

    `whole`: with all that grading it needs; else a link to the page that has that.
    """
    assert entry.rollouts is not None
    reading = opening.reading(entry.rollouts)
    _notice(reading)
    for fault in filter(None, (reading.fault, reading.dataset_fault, reading.grade_fault)):
        facts.banner(fault, warn=True)
    job = jobs().of_rollouts(Path(entry.rollouts.word))
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=theme.UNGRADED):
        facts.note(_said(run))
        if job is not None and job.running:
            facts.note(f"It is being graded into {workspace.name_of(job.run)}.")
            state.link("overview", View(run=workspace.name_of(job.run)), "Open the run")
        elif whole:
            _buttons(entry.rollouts, run.manifest.counts["rollouts"])
        else:
            state.link("overview", View(run=run.name), "Grade them")
        following.switches(entry, may_grade=whole)
    if whole:
        _advice(entry, job)
    following.watch(entry, run.key)


def _notice(reading: Reading) -> None:
    if notice := reading.notice:
        facts.banner(f"{notice}.", warn=True)


def _said(run: OpenRun) -> str:
    counts = recorded_counts(run)
    if not counts.graded:
        return f"{counted(counts.rollouts, 'rollout')}, not graded yet."
    by = f" from {', '.join(counts.by)}" if counts.by else ""
    share = "all" if counts.graded == counts.rollouts else f"{counts.graded:,}"
    return f"{counted(counts.rollouts, 'rollout')}, not graded here. Outlined: the grades that {share} came with{by}."


def _buttons(rollouts: Rollouts, count: int) -> None:
    dataset = workspace.opened().dataset
    if dataset is None:
        return
    refusal, wrong, settings = sandbox_state.refusal(), "", Settings()
    try:
        settings = grading_form.chosen()
    except SettingsError as error:
        wrong = str(error)
    off = bool(refusal or wrong)
    label = f"Grade {counted(min(count, settings.limit or count), 'rollout')}"
    st.button(label, type="primary", key="grade", disabled=off, on_click=_start, args=(rollouts, settings))
    grading_form.popover(disabled=bool(refusal))
    if refusal or wrong:
        facts.banner(refusal or wrong, warn=True)


def _advice(entry: Entry, job: Job | None) -> None:
    """Below the buttons: what went wrong last time, which dataset grades, or that one is needed."""
    assert entry.rollouts is not None
    fault = st.session_state.pop(_FAULT, "") or (job.failure if job is not None else "")
    if fault:
        facts.banner(f"The last grading failed: {fault}", warn=True)
    dataset = workspace.opened().dataset
    if dataset is None:
        facts.note("To grade them here, a dataset with the test cases is needed. Start the dashboard with one:")
        st.code(f"rollscope view {entry.rollouts.word} --dataset DATASET.jsonl", language=None)
        return
    try:
        settings = grading_form.chosen().facts()
    except SettingsError:
        settings = []
    facts.line([("dataset", dataset), *settings, ("grades go to", f"{_run_stem(entry.rollouts)}-<time>")])


def _run_stem(rollouts: Rollouts) -> Path:
    return run_stem(Path(rollouts.name or rollouts.word))


def _start(rollouts: Rollouts, settings: Settings) -> None:
    """Begin, and open the run, which grows from here on."""
    files = workspace.opened()
    # An address without a run means the first entry, which the new run will be: the picker would go back to this one.
    state.write(View(run=workspace.name_of(Path(rollouts.word))))
    try:
        job = jobs().grade(Path(rollouts.word), work_of(rollouts, files, settings))
    except OSError as error:
        st.session_state[_FAULT] = f"{error.filename}: can't be written: {error.strerror}"
        return
    except FormatError as error:
        st.session_state[_FAULT] = str(error)
        return
    if job.running:  # else it failed at once, and this page says why
        state.go("overview", View(run=workspace.name_of(job.run)))
