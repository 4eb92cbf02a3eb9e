"""The Why tab: the last steps of a failing test case, replayed with line tracing."""

from __future__ import annotations

import hashlib

import streamlit as st

from dashboard import facts, sandbox_state
from dashboard.controls import Screen
from dashboard.queries.records import CaseRecord, RolloutRecord
from dashboard.why import replay, why_view
from dashboard.why.replay import ReplayError
from evaluator.model import Verdict
from evaluator.tracing import Replay

_END = 70
_NOTHING = {
    Verdict.NOT_RUN: "This test case was not run, so there is nothing to replay. Choose a failing one.",
    Verdict.NO_CODE: "The completion has no code, so there is nothing to replay.",
}


def show(screen: Screen, rollout: RolloutRecord, test: CaseRecord | None, edit: str | None, *, editing: bool) -> None:
    """Replay the test case and show its steps.

    `edit`: the visitor's own code, which is replayed where `editing` says that it is what the other half shows.
    """
    of_edit = editing and edit is not None
    code = edit if of_edit else rollout.code
    if test is None or code is None:
        facts.note("Nothing to replay: it has no code, or no test case.")
        return
    if not of_edit and (nothing := _NOTHING.get(Verdict(test.verdict))) is not None:
        facts.note(nothing)
        return
    if refusal := sandbox_state.refusal():
        facts.banner(refusal, warn=True)
        return
    try:
        with st.spinner(f"Replaying test {test.test_index} in the sandbox"):
            made = replay.of(screen, rollout, test, code=code)
    except ReplayError as error:
        facts.note(str(error))
        return
    if edit is not None:
        facts.note("Replay of the edit." if of_edit else "Replay of the run's code; open Edit for the edit's.")
    _ending(made, test, of_edit=of_edit)
    if made.trace.steps:
        key = f"{screen.run.key}|{rollout.task_id}|{rollout.sample_id}|{test.test_index}"
        why_view.steps(made.trace.steps, code, key=f"{key}|{_digest(code)}" if of_edit else key)


def _digest(code: str) -> str:
    return hashlib.sha256(code.encode("utf-8", "surrogatepass")).hexdigest()


def _ending(made: Replay, test: CaseRecord, *, of_edit: bool) -> None:
    """What the replay came to, and where a replay of the run's code is not what the run stored."""
    unlike = "" if of_edit else replay.unlike_the_run(made, test)
    end = replay.ending(made)
    facts.line([("replayed", replay.extent(made)), ("end", end if len(end) <= _END else f"{end[:_END]}…")])
    stopped = made.trace.end is not None and made.trace.end.how == "stopped"
    if unlike:
        facts.banner(unlike, warn=True)
    elif stopped and (of_edit or test.verdict != Verdict.TIME_LIMIT):
        facts.note("Tracing slows a program down, and this one was stopped before its end.")
    if not made.trace.steps:
        facts.note("No line of the completion ran." if made.trace.end else "The replay left no trace that can be read.")
    elif made.trace.broken:
        facts.note("Some of the trace can't be read and is left out: the program wrote into it, or broke it.")
    elif made.trace.end is None:
        facts.note("The process ended abruptly; these are the steps up to then.")
