"""The Why tab: the last steps of a failing test case, replayed with line tracing."""

from __future__ import annotations

import hashlib

import msgspec
import streamlit as st

from dashboard import facts, sandbox_state, state
from dashboard.controls import Screen
from dashboard.facts import counted
from dashboard.queries import records
from dashboard.queries.records import CaseRecord, RolloutRecord
from dashboard.why import smallest, stuck, why_view
from evaluator.graders.plans import test_cases
from evaluator.model import Limits, Task, Verdict
from evaluator.sandbox import FaultError, SandboxUnavailable, Status
from evaluator.strengthening.smallest import Smallest
from evaluator.tracing import Replay, Window, replay

TO_SHOW = Window()
TO_COMPARE = Window(first=3_000, last=0, most_s=4.0)
"""The first steps: two runs are compared from the start."""
_SLOW_S = 4.0
"""For a test case that timed out, whose last lines are soon there."""
_KEPT = 24
_SESSION = "replays"
_LONG_VALUE = 300


class ReplayError(Exception):
    """A test case that can't be replayed. The message says why, in one line."""


def of(
    screen: Screen,
    rollout: RolloutRecord,
    test: CaseRecord,
    window: Window = TO_SHOW,
    code: str | None = None,
    small: Smallest | None = None,
) -> Replay:
    """The replay of a rollout's test case, from this session if it was made before. Raises `ReplayError`.

    `code`: another code of the same task to run in its place. `small`: the input to take in place of the test case's.
    """
    code = rollout.code if code is None else code
    key = (screen.run.key, rollout.task_id, test.test_index, window, code, *([small.input] if small else []))
    known: dict[object, Replay] = st.session_state.setdefault(_SESSION, {})
    if key not in known:
        made = _made(screen, rollout, test, window, code, small)
        while len(known) >= _KEPT:
            known.pop(next(iter(known)))
        known[key] = made
    return known[key]


def in_time_out(screen: Screen, rollout: RolloutRecord, test: CaseRecord) -> str:
    """Whether a test case that ran out of time loops or is slow, if it was replayed in this session."""
    code = rollout.code or ""
    made = st.session_state.get(_SESSION, {}).get((screen.run.key, rollout.task_id, test.test_index, TO_SHOW, code))
    return stuck.said(made, code) if made else ""


def _made(
    screen: Screen, rollout: RolloutRecord, test: CaseRecord, window: Window, code: str | None, small: Smallest | None
) -> Replay:
    record = records.task(screen.run, rollout.task_id)
    if code is None or record is None:
        missing = "completion has no code" if code is None else "run does not have the task"
        raise ReplayError(f"Nothing to replay: the {missing}.")
    if test.verdict == Verdict.TIME_LIMIT:
        window = window._replace(most_s=min(window.most_s, _SLOW_S))
    try:
        task = small.task if small and small.task else msgspec.json.decode(record.task, type=Task)
        made = replay(
            task,
            code,
            test_cases(task)[-1].index if small else test.test_index,
            limits=_limits(screen, rollout),
            checker=screen.run.manifest.options.checker,
            window=window,
        )
    except (SandboxUnavailable, FaultError, msgspec.DecodeError) as error:
        raise ReplayError(f"The replay failed: {error}") from None
    if made.refusal:
        raise ReplayError(made.refusal)
    return made


def _limits(screen: Screen, rollout: RolloutRecord) -> Limits:
    try:
        return msgspec.json.decode(rollout.limits or "", type=Limits)
    except msgspec.DecodeError:
        return screen.run.manifest.options.limits


# --- What a replay shows ------------------------------------------------------------------------


def ending(made: Replay) -> str:
    """How the replay ended, in a few words."""
    end, outcome = made.trace.end, made.outcome
    if end is None:
        why = outcome.message or outcome.status.value if outcome else ""
        return f"killed: {why}"
    if end.how == "raised":
        where = f" (line {end.line})" if end.line and not made.trace.steps else ""
        return f"raised {end.error}: {end.value}".rstrip(": ") + where
    if end.how == "stopped":
        return f"stopped after {made.budget_s:g} s"
    if end.how == "exited":
        return "exited by itself"
    return f"returned {end.value}" if end.value else "ran to its end"


def unlike_the_run(made: Replay, test: CaseRecord) -> str:
    """How the replay ended otherwise than the run did, as one line; empty if it ended in the same way."""
    end, verdict = made.trace.end, test.verdict
    if verdict in (Verdict.TIME_LIMIT, Verdict.MEMORY_LIMIT, Verdict.OUTPUT_LIMIT):
        slow = end is None or end.how == "stopped"
        return "" if slow or _at_limit(made) else f"The run ended with {verdict}, the replay {ending(made)}."
    if end is None or end.how == "stopped":
        return ""  # tracing is slow: not the program's doing
    if verdict in (Verdict.RUNTIME_ERROR, Verdict.COMPILE_ERROR):
        same = end.how == "raised" and (test.error_type in (None, end.error))
        return "" if same else f"The run raised {test.error_type or 'an exception'}, the replay {ending(made)}."
    if not made.checkable or verdict not in (Verdict.PASSED, Verdict.WRONG_ANSWER):
        return ""
    if end.how == "raised":
        return f"The run ended with {verdict}, the replay {ending(made)}."
    if made.right is not None:
        same = made.right == (verdict == Verdict.PASSED) and _same_output(made, test)
        return "" if same else "The replay printed another output than the run: the program may be random."
    return _other_value(end.value, test.actual or "")


def _at_limit(made: Replay) -> bool:
    return made.outcome is not None and made.outcome.status in (Status.TIME, Status.MEMORY, Status.OUTPUT)


def _same_output(made: Replay, test: CaseRecord) -> bool:
    printed = made.outcome.stdout.text() if made.outcome else ""
    return test.actual is None or len(test.actual) > _LONG_VALUE or printed == test.actual


def _other_value(value: str, actual: str) -> str:
    if max(len(value), len(actual)) > _LONG_VALUE or any(c in value + actual for c in "<…"):
        return ""  # cut, or no data
    if value == actual or ("{" in value and sorted(value) == sorted(actual)):  # a set in another order
        return ""
    return f"The replay returned {value}, the run {actual}: the program may be random."


def extent(made: Replay) -> str:
    """How many steps there were, and which are kept."""
    kept, end = made.trace.steps, made.trace.end
    total = max(end.steps if end else 0, kept[-1].number if kept else 0)
    if total <= len(kept):
        return counted(total, "step")
    first = next((n for n, step in enumerate(kept) if step.number != n + 1), len(kept))
    return f"the first {first:,} and the last {len(kept) - first:,} of {counted(total, 'step')}"


_END = 70
_OWN = "own"
"""In `at=`: the test case's own input."""
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
    small = None if of_edit else _chosen_input(screen, rollout, test)
    try:
        with st.spinner(f"Replaying test {test.test_index} in the sandbox"):
            made = of(screen, rollout, test, code=code, small=small)
    except ReplayError as error:
        facts.note(str(error))
        return
    if edit is not None:
        facts.note("Replay of the edit." if of_edit else "Replay of the run's code; open Edit for the edit's.")
    if (of_edit or test.verdict == Verdict.TIME_LIMIT) and (found := stuck.said(made, code)):
        facts.banner(found)
    _ending(made, test, other=of_edit or small is not None)
    if made.trace.steps:
        key = f"{screen.run.key}|{rollout.task_id}|{rollout.sample_id}|{test.test_index}|{small.input if small else ''}"
        why_view.steps(made.trace.steps, code, key=f"{key}|{_digest(code)}" if of_edit else key)


def _digest(code: str) -> str:
    return hashlib.sha256(code.encode("utf-8", "surrogatepass")).hexdigest()


def _chosen_input(screen: Screen, rollout: RolloutRecord, test: CaseRecord) -> Smallest | None:
    """The smallest failing input, where it is known and the address does not ask for the test case's own."""
    small = smallest.known(screen, rollout, test)
    if small is None:
        return None
    is_own = screen.view.at == _OWN
    with st.container(horizontal=True, vertical_alignment="center"):
        facts.note(f"Test {test.test_index}" if is_own else f"Smallest failing input: {small.input[:_END]}")
        target = screen.view.but(task=rollout.task_id, sample=rollout.sample_id, at="" if is_own else _OWN)
        state.link("completion", target, "On the smallest failing input" if is_own else f"On test {test.test_index}")
    return None if is_own else small


def _ending(made: Replay, test: CaseRecord, *, other: bool) -> None:
    """What the replay came to, and where it is not what the run stored; `other`: of other code, or another input."""
    unlike = "" if other else unlike_the_run(made, test)
    end = ending(made)
    facts.line([("replayed", extent(made)), ("end", end if len(end) <= _END else f"{end[:_END]}…")])
    stopped = made.trace.end is not None and made.trace.end.how == "stopped"
    if unlike:
        facts.banner(unlike, warn=True)
    elif stopped and (other or test.verdict != Verdict.TIME_LIMIT):
        facts.note("Tracing slows a program down, and this one was stopped before its end.")
    if not made.trace.steps:
        facts.note("No line of the completion ran." if made.trace.end else "The replay left no trace that can be read.")
    elif made.trace.broken:
        facts.note("Some of the trace can't be read and is left out: the program wrote into it, or broke it.")
    elif made.trace.end is None:
        facts.note("The process ended abruptly; these are the steps up to then.")
