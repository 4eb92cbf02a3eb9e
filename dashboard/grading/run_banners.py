"""The lines above every page about how a run was made, and how far it is: in a degraded sandbox, starting, growing, or
stopped before its end.
"""

from __future__ import annotations

import time
from pathlib import Path

import streamlit as st

from dashboard import facts, navigation, state, workspace
from dashboard.facts import counted
from dashboard.grading import grading_start
from dashboard.grading.grading_jobs import Job, Pace, Progress, jobs
from dashboard.state import View
from dashboard.workspace import Entry, OpenRun
from evaluator.formats import FormatError
from evaluator.formats.reading.sources import resolve
from evaluator.runs.resuming import count_lines, input_path, resume_command

_BEGUN_S = 1.0

lines = st.cache_data(show_spinner=False, max_entries=20)(count_lines)


def starting(entry: Entry) -> None:
    """The page of a run that is being made: its dataset is read."""
    facts.line([("rollouts", _rollouts(entry.path))], title=f"{entry.name}: starting")
    _begun(entry.path)


def _rollouts(run: Path) -> str:
    job = jobs().of_run(run)
    return str(job.rollouts) if job is not None else "unknown"


@st.fragment(run_every=_BEGUN_S / 2)
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


_UNPROVED = "unproved: "
_COUNTED_BYTES = 1 << 29
"""Rollouts of a larger file are not counted for a banner."""
_POLL_S = 1.0


def degraded(run: OpenRun) -> None:
    """For a run that was graded with `--sandbox degraded`."""
    if run.manifest.options.sandbox.strictness != "degraded":
        return
    lacking = [layer.removeprefix(_UNPROVED) for layer in run.manifest.layers if layer.startswith(_UNPROVED)]
    if lacking:
        text = f"Graded in a degraded sandbox, not proved: {', '.join(lacking)}. To see the fix, run:"
        facts.banner(text, command="rollscope doctor", warn=True)
    else:
        facts.banner("Graded with --sandbox degraded, but files, network and process tree were proved.")


def unreadable_notes(run: OpenRun) -> None:
    """For a run whose notes can't be read."""
    if run.notes_fault:
        facts.banner(f"Shown without its notes, tags and saved filters. {run.notes_fault}", warn=True)


def growing(run: OpenRun) -> None:
    """For a run that is being graded: how far it is. The page is drawn again when there are new grades."""
    if is_growing(run):
        _watch(run.name, run.key)


def stopped(run: OpenRun, graded: int) -> None:
    """For a run that was stopped, or whose writer is gone: how far it got, and the ways to resume it."""
    if run.manifest.state == "finished" or is_growing(run):
        return
    total = _total(run)
    at = (
        counted(graded, "rollout") if total is None or total <= graded else f"{graded:,} of {counted(total, 'rollout')}"
    )
    job = jobs().of_run(run.path)
    fault = (job.failure if job is not None else None) or run.manifest.stopped_by
    why = f" ({fault})" if fault else ""
    refusal = grading_start.refusal(run)
    command = resume_command(run.path, run.manifest)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="stopped"):
        refused = f" It can't be resumed from here: {refusal}" if refusal else ""
        text = f"Stopped at {at}: figures are partial{why}.{refused} Resume with:"
        facts.banner(text, command=command, warn=True)
        st.button("Resume", key="resume", disabled=bool(refusal), on_click=grading_start.resume, args=(run, graded))


def is_growing(run: OpenRun) -> bool:
    """Whether a process is writing the run now."""
    job = jobs().of_run(run.path)
    return (job is not None and job.running) or (run.manifest.state == "running" and workspace.has_writer(run.path))


@st.fragment(run_every=_POLL_S)
def _watch(name: str, key: str) -> None:
    chosen = next((e for e in workspace.entries() if e.name == name), None)
    if chosen is None:
        return
    run = workspace.open_run(chosen)
    job = jobs().of_run(run.path)
    if run.key != key or not is_growing(run):
        st.rerun()
    own = job if job is not None and job.running else None
    progress_line(own.progress if own else _seen(run), own)


def _seen(run: OpenRun) -> Progress:
    """The progress of another process, as its run shows it."""
    graded, now = run.manifest.counts.get("rollouts", 0), time.monotonic()
    pace = _paces().setdefault(run.path, Pace())
    pace.note(graded, now)
    return Progress(graded, _total(run), pace.rate(now), pace.average(now))


@st.cache_resource(show_spinner=False)
def _paces() -> dict[Path, Pace]:
    return {}


def _total(run: OpenRun) -> int | None:
    """How many rollouts there are to grade; None where counting them would take long."""
    manifest = run.manifest
    try:
        words = [input_path(run.path, manifest, word) for word in (manifest.rollouts, *manifest.more_rollouts)]
        files = [source.path for source in resolve(words)]
        if sum(path.stat().st_size for path in files) > _COUNTED_BYTES:
            return None
        counts = [lines(path) for path in files]
    except (OSError, FormatError):
        return None
    found = None if None in counts else sum(count or 0 for count in counts)
    return found if found is None or manifest.limit is None else min(found, manifest.limit)
