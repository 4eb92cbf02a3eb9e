"""Rollouts that are not graded here: how far they are read, what they came with, and the button to grade them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import streamlit as st

from dashboard import browser, facts, opening, sandbox_state, state, theme, widgets, workspace
from dashboard.facts import counted
from dashboard.grading import grading_form, run_banners
from dashboard.grading.grading_form import Settings, SettingsError
from dashboard.grading.grading_jobs import Job, jobs
from dashboard.grading.grading_start import NewRollouts, work_of
from dashboard.opening import Reading, Rollouts
from dashboard.queries.aggregates import recorded_counts
from dashboard.state import View
from dashboard.workspace import Entry, OpenRun, WorkspaceError
from evaluator.formats import FormatError
from evaluator.runs.files import run_stem
from evaluator.runs.indexing import State

_FOLLOW_S = 0.5
_FOLLOWED = "followed"
"""In the session: whether each file is followed, where the visitor has said so."""


def _file(entry: Entry) -> Rollouts:
    assert entry.rollouts is not None
    return entry.rollouts


def _reading(entry: Entry) -> Reading:
    return opening.reading(_file(entry))


def _job(entry: Entry) -> Job | None:
    """The last grading of the file."""
    return jobs().of_rollouts(Path(_file(entry).word))


def switches(entry: Entry, *, may_grade: bool) -> None:
    """The switch "Follow", and "Grade new lines" for all visitors where there is a dataset."""
    reading = _reading(entry)
    about = "Show new lines as they are written."
    widgets.show_value("toggle", "follow", _follows(entry), _choose(entry), "Follow", help=about)
    dataset = _file(entry).dataset
    if not may_grade or dataset is None:
        return
    try:
        refusal, settings = sandbox_state.refusal(), grading_form.chosen()
    except SettingsError as error:
        refusal, settings = str(error), grading_form.Settings()
    new = NewRollouts(_file(entry), reading, workspace.opened(), settings)
    widgets.show_value(
        "toggle", "grade_new", reading.on_read is not None, new.switch, "Grade new lines",
        help="Grade new lines of the file into one run, for all visitors, even while no page is open.",
        disabled=refusal is not None,
    )  # fmt: skip


def _choose(entry: Entry) -> Callable[[bool], None]:
    def change(to: bool) -> None:
        st.session_state.setdefault(_FOLLOWED, {})[entry.path] = to

    return change


def _follows(entry: Entry) -> bool:
    said: dict[Path, bool] = st.session_state.get(_FOLLOWED, {})
    return said.get(entry.path, workspace.opened().follow)


def watch(entry: Entry, key: str) -> None:
    """What happens to the file, as it happens; the page is drawn again when there are new rollouts.

    `key`: of the run that the page shows. A page that does not follow shows the end of what was being read.
    """
    reading = _reading(entry)
    found = reading.state()
    is_open_end = reading.running or found is None or not found.complete
    _watch(entry, key, _about(entry, reading, key), is_open_end=is_open_end)


@st.fragment(run_every=_FOLLOW_S)
def _watch(entry: Entry, key: str, drawn: str, *, is_open_end: bool) -> None:
    reading = _reading(entry)
    follows = _follows(entry)
    if follows:
        reading.follow()
    now = _key_of(entry, reading) if follows or is_open_end or reading.on_read is not None else key
    browser.when_free(drawn, _about(entry, reading, now))
    job = _job(entry)
    if job is not None and job.running:
        run_banners.progress_line(job.progress, job)
    found = reading.state()
    if found is not None and (reading.running or reading.stopped) and not found.complete:
        progress(reading, found)
    elif found is not None and (written := sum(file.partial for file in found.files)):
        facts.note(f"The last line is still being written: {written:,} bytes so far.")


def _about(entry: Entry, reading: Reading, key: str) -> str:
    """What decides what a page shows; `key` of the run."""
    job = _job(entry)
    running = job is not None and job.running
    faults = (reading.fault, reading.dataset_fault, reading.grade_fault)
    return "|".join(map(str, (key, *faults, running, reading.on_read is not None)))


def _key_of(entry: Entry, reading: Reading) -> str:
    try:
        return workspace.open_run(entry).key if reading.is_readable else ""
    except WorkspaceError:
        return ""  # it was read again from its start just now


def progress(reading: Reading, found: State | None) -> None:
    """How far a file is read, with the button that stops it."""
    share = reading.bytes_read / reading.bytes_total if reading.bytes_total else 0.0
    so_far = counted(found.rows, "rollout") if found is not None else "no rollout"
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="reading"):
        if reading.stopped:
            facts.banner(f"The reading was stopped at {share:.0%}: {so_far}.", warn=True)
            st.button("Go on", key="read_on", on_click=reading.resume)
        else:
            facts.banner(f"Reading the file: {share:.0%}, {so_far} so far.")
            st.button("Stop", key="stop_reading", on_click=reading.stop)


_WAIT_S = 1.0
_FAULT = "grade_fault"


def is_readable(entry: Entry) -> bool:
    """Whether there is something to show: always for a run, for rollouts once the first are read."""
    if entry.rollouts is None:
        return True
    reading = _reading(entry)
    reading.look()
    return reading.is_readable


def unreadable(entry: Entry) -> None:
    """The page of rollouts of which none is read: why, or how far the reading is."""
    reading = _reading(entry)
    facts.line([("file", _file(entry).word)], title=entry.name)
    _notice(reading)
    if reading.fault:
        facts.banner(reading.fault, warn=True)
        facts.note("This page continues once the file can be read. rollscope view takes --map and --format.")
    _wait(entry)


@st.fragment(run_every=_WAIT_S)
def _wait(entry: Entry) -> None:
    assert entry.rollouts is not None
    if is_readable(entry):
        st.rerun()
    reading = _reading(entry)
    if reading.running and not reading.fault:
        progress(reading, None)


def banners(entry: Entry, run: OpenRun, *, whole: bool) -> None:
    """Above every page: that these are the grades the rollouts came with, and what happens to the file.

    `whole`: with all that grading it needs; else a link to the page that has that.
    """
    reading = _reading(entry)
    _notice(reading)
    for fault in filter(None, (reading.fault, reading.dataset_fault, reading.grade_fault)):
        facts.banner(fault, warn=True)
    job = _job(entry)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=theme.UNGRADED):
        facts.note(_said(run))
        if job is not None and job.running:
            facts.note(f"It is being graded into {workspace.name_of(job.run)}.")
            state.link("overview", View(run=workspace.name_of(job.run)), "Open the run")
        elif whole:
            _buttons(_file(entry), run.manifest.counts["rollouts"])
        else:
            state.link("overview", View(run=run.name), "Grade them")
        switches(entry, may_grade=whole)
    if whole:
        _advice(entry, job)
    watch(entry, run.key)


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
    if rollouts.dataset is None:
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
    fault = st.session_state.pop(_FAULT, "") or (job.failure if job is not None else "")
    if fault:
        facts.banner(f"The last grading failed: {fault}", warn=True)
    dataset = _file(entry).dataset
    if dataset is None:
        facts.note("To grade them here, a dataset with the test cases is needed. Start the dashboard with one:")
        st.code(f"rollscope view {_file(entry).word} --dataset DATASET.jsonl", language=None)
        return
    try:
        settings = grading_form.chosen().facts()
    except SettingsError:
        settings = []
    facts.line([("dataset", dataset.path), *settings, ("grades go to", f"{_run_stem(_file(entry))}-<time>")])


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
