"""Grades a rollouts file from the page: a thread does it, a fragment watches it, the result opens as a run."""

from __future__ import annotations

import itertools
import threading
import time
from collections import Counter
from pathlib import Path

import streamlit as st

import evaluator
from dashboard import bars, facts, sandbox_state, state, workspace
from dashboard.queries.aggregates import VerdictCount
from dashboard.state import View
from dashboard.wording import counted
from dashboard.workspace import Entry
from evaluator.file_grading import count_lines, default_run, run_stem
from evaluator.formats import FormatError, load_rollouts, require_rows
from evaluator.model import Grade, Verdict

_POLL_S = 0.5
_STORED = "stored"
"""The grader of rewards that rollouts came with."""
_LOOKED_AT = 100
"""Rollouts, to see whether they came with rewards."""

lines = st.cache_data(show_spinner=False, max_entries=20)(count_lines)


class Job:
    """One grading of a file, on a thread of its own. Its fields may be read from anywhere at any time."""

    def __init__(self, rollouts: Path, dataset: Path | None, out: Path, grader: str | None = None) -> None:
        """Without a dataset only a grader will do that needs no tasks."""
        self.rollouts = rollouts
        self.grader = grader
        self.out = out
        self.total: int | None = None
        self.counts: Counter[Verdict] = Counter()
        self.failure: str | None = None
        self.started = time.monotonic()
        self._stop = threading.Event()
        name = f"grade {rollouts.name}"
        self._thread = threading.Thread(target=self._work, args=(dataset,), name=name, daemon=True)
        self._thread.start()

    @property
    def running(self) -> bool:
        return self._thread.is_alive()

    @property
    def stopping(self) -> bool:
        return self._stop.is_set()

    @property
    def graded(self) -> int:
        return sum(self.counts.values())

    def stop(self) -> None:
        """End it soon; what has been graded is kept, as a run."""
        self._stop.set()

    def _work(self, dataset: Path | None) -> None:
        try:
            evaluator.grade_file(
                self.rollouts,
                dataset,
                out=self.out,
                grader=self.grader,
                on_start=self._start,
                on_grade=self._count,
                stop=self._stop,
            )
        except (evaluator.SandboxUnavailable, ValueError, OSError) as error:
            self.failure = " ".join(str(error).split())

    def _start(self, total: int | None) -> None:
        self.total = total

    def _count(self, grade: Grade) -> None:
        self.counts[grade.verdict] += 1


def offer(entry: Entry) -> None:
    """The page of a rollouts file that has no grades: what it is, and the buttons that give it some."""
    if entry.path in _jobs():
        _watch(entry.path)
        return
    facts.line([("file", str(entry.path))], title=f"{entry.name}: not graded yet")
    dataset = workspace.opened().dataset
    rewarded, fault = _looked_at(entry.path, entry.path.stat().st_mtime_ns)
    if fault:
        facts.banner(fault, warn=True)
        facts.note("Fix the file and load this page again. rollscope grade takes --map and --format.")
        return
    refusal = sandbox_state.refusal() if dataset else None
    if refusal:
        facts.banner(refusal, warn=True)
    with st.container(horizontal=True, gap="small"):
        if rewarded:
            _offer_rewards(entry, dataset)
        if dataset:
            _offer_grading(entry, dataset, first=not rewarded, refused=bool(refusal))
    if dataset is None:
        to = "grade it anew" if rewarded else "grade it"
        facts.banner(
            f"A dataset with the test cases is needed to {to}. Start the dashboard with one:", warn=not rewarded
        )
        st.code(f"rollscope view {entry.path} --dataset DATASET.jsonl", language=None)
    if dataset or rewarded:
        found = [("dataset", dataset)] if dataset else []
        facts.line([*found, ("grades go to", f"{run_stem(entry.path)}-<time>")])


def _offer_rewards(entry: Entry, dataset: str | None) -> None:
    tasks = Path(dataset) if dataset else None
    st.button(
        "Show the rewards it came with",
        type="primary",
        key="grade_stored",
        on_click=_start,
        args=(entry, tasks, _STORED),
    )


def _offer_grading(entry: Entry, dataset: str, *, first: bool, refused: bool) -> None:
    count = lines(entry.path)
    st.button(
        "Grade the rollouts" if count is None else f"Grade {counted(count, 'rollout')}",
        type="primary" if first else "secondary",
        key="grade",
        disabled=refused,
        on_click=_start,
        args=(entry, Path(dataset)),
    )


def _start(entry: Entry, dataset: Path | None, grader: str | None = None) -> None:
    # An address without a run means the first entry, which the new run will be: the picker would go back to this one.
    state.write(View(run=entry.name))
    known = _jobs().get(entry.path)
    if known is None or not known.running:
        _jobs()[entry.path] = Job(entry.path, dataset, default_run(entry.path).resolve(), grader)


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
def _watch(path: Path) -> None:
    """The job's progress, drawn again twice a second until it ends."""
    job = _jobs().get(path)
    if job is None:
        st.rerun()
    if not job.running:
        _ended(job)
        return
    total = job.total or 0
    rate = job.graded / max(time.monotonic() - job.started, 1e-3)
    left = f"about {(total - job.graded) / rate:,.0f} s left" if total and job.graded else "starting"
    facts.line(
        [
            ("graded", f"{job.graded:,}" + (f" of {total:,}" if total else "")),
            ("passed", f"{job.counts[Verdict.PASSED]:,}"),
            ("rate", f"{rate:,.1f} a second"),
            ("", left),
        ],
        title=f"{'Reading' if job.grader == _STORED else 'Grading'} {path.name}",
    )
    st.progress(min(1.0, job.graded / total) if total else 0.0)
    st.button("Stopping" if job.stopping else "Stop", key="stop", disabled=job.stopping, on_click=job.stop)
    _verdicts(job)


def _ended(job: Job) -> None:
    """Open the run; where nothing could be graded, say why."""
    _jobs().pop(job.rollouts, None)
    if job.failure is not None:
        facts.banner(f"Nothing was graded: {job.failure}", warn=True)
        st.button("Back", key="grade_back")
        return
    graded = workspace.graded_here()
    if job.out not in graded:
        graded.append(job.out)
    page = "rollouts" if job.grader == _STORED else "overview"
    state.go(page, View(run=workspace.name_of(job.out)))
    st.rerun()


def _verdicts(job: Job) -> None:
    counts = dict(job.counts)
    found = [VerdictCount(v.value, counts[v]) for v in Verdict if v in counts]
    bars.plain(found)


@st.cache_resource(show_spinner=False)
def _jobs() -> dict[Path, Job]:
    """The gradings under way, by rollouts file: a reload or a second visitor finds the same one."""
    return {}
