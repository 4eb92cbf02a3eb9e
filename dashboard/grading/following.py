"""Rollouts that are still being written: the switches for it, and the page that shows what is new."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import streamlit as st

from dashboard import facts, opening, redraw, sandbox_state, workspace
from dashboard.grading import grading, grading_form
from dashboard.grading.grading_form import SettingsError
from dashboard.grading.grading_jobs import jobs
from dashboard.grading.new_rollouts import NewRollouts
from dashboard.opening import Reading
from dashboard.wording import counted
from dashboard.workspace import Entry, WorkspaceError
from evaluator.runs.indexing import State

_POLL_S = 0.5
_FOLLOWED = "followed"
"""In the session: whether each file is followed, where the visitor has said so."""
_SWITCHES = "switches"
"""In the session: how often each switch got a new key, and the value that it had with the last one at first."""


def switches(entry: Entry, *, may_grade: bool) -> None:
    """The switch "Follow", and "Grade new lines" for all visitors where there is a dataset."""
    assert entry.rollouts is not None
    reading = opening.reading(entry.rollouts)
    _switch("Follow", "follow", _follows(entry), _choose(entry), about="Show new lines as they are written.")
    dataset = workspace.opened().dataset
    if not may_grade or dataset is None:
        return
    try:
        refusal, settings = sandbox_state.refusal(), grading_form.chosen()
    except SettingsError as error:
        refusal, settings = str(error), grading_form.Settings()
    new = NewRollouts(entry.rollouts, reading, workspace.opened(), settings)
    _switch(
        "Grade new lines", "grade_new", reading.on_read is not None, new.switch, disabled=refusal is not None,
        about="Grade new lines of the file into one run, for all visitors, even while no page is open.",
    )  # fmt: skip


def _choose(entry: Entry) -> Callable[[bool], None]:
    def change(to: bool) -> None:
        st.session_state.setdefault(_FOLLOWED, {})[entry.path] = to

    return change


def _follows(entry: Entry) -> bool:
    said: dict[Path, bool] = st.session_state.get(_FOLLOWED, {})
    return said.get(entry.path, workspace.opened().follow)


def _switch(
    label: str, key: str, value: bool, change: Callable[[bool], None], *, about: str, disabled: bool = False
) -> None:
    """Shows a value that may also change without the visitor; it has a new key then.

    To set the value in the session would undo a click that is made while the page is drawn again.
    """
    drawn = st.session_state.setdefault(_SWITCHES, {})
    number, first = drawn.setdefault(key, (0, value))
    if st.session_state.get(f"{key}.{number}", first) != value:
        number, first = drawn[key] = number + 1, value
    named = f"{key}.{number}"
    st.toggle(label, first, key=named, on_change=lambda: change(st.session_state[named]), help=about, disabled=disabled)


def watch(entry: Entry, key: str) -> None:
    """What happens to the file, as it happens; the page is drawn again when there are new rollouts.

    `key`: of the run that the page shows. A page that does not follow shows the end of what was being read.
    """
    assert entry.rollouts is not None
    reading = opening.reading(entry.rollouts)
    found = reading.state()
    is_open_end = reading.running or found is None or not found.complete
    _watch(entry, key, _about(entry, reading, key), is_open_end=is_open_end)


@st.fragment(run_every=_POLL_S)
def _watch(entry: Entry, key: str, drawn: str, *, is_open_end: bool) -> None:
    assert entry.rollouts is not None
    reading = opening.reading(entry.rollouts)
    follows = _follows(entry)
    if follows:
        reading.follow()
    now = _key_of(entry, reading) if follows or is_open_end or reading.on_read is not None else key
    redraw.when_free(drawn, _about(entry, reading, now))
    job = jobs().of_rollouts(Path(entry.rollouts.word))
    if job is not None and job.running:
        grading.progress_line(job.progress, job)
    found = reading.state()
    if found is not None and (reading.running or reading.stopped) and not found.complete:
        progress(reading, found)
    elif found is not None and (written := sum(file.partial for file in found.files)):
        facts.note(f"The last line is still being written: {written:,} bytes so far.")


def _about(entry: Entry, reading: Reading, key: str) -> str:
    """What decides what a page shows; `key` of the run."""
    assert entry.rollouts is not None
    job = jobs().of_rollouts(Path(entry.rollouts.word))
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
