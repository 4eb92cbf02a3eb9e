"""The Completion page: which rollout it shows, its head, its neighbours, its test cases."""

from __future__ import annotations

import streamlit as st

from dashboard import controls, facts, state
from dashboard.completion import completion_view, equalities, not_graded
from dashboard.components import case_strip
from dashboard.controls import Screen
from dashboard.notes import note_editor
from dashboard.queries import in_file, listing, orders, records
from dashboard.queries.records import CaseRecord, RolloutRecord, decoded
from dashboard.state import View
from dashboard.workspace import OpenRun
from evaluator.extraction import OBVIOUS
from evaluator.model import NO_REASON, Disagreement, Verdict

_CASES_SHOWN = 3


def find(screen: Screen) -> RolloutRecord:
    """The rollout that the view names, or the first in the filter. Ends the page when there is none."""
    view, run = screen.view, screen.run
    if not view.task:
        controls.require_rows(screen)
        if found := orders.first(run, view.filter, view.sort):
            view = view.but(task=found[0], sample=found[1])
    state.name("completion", view)
    sample = view.sample or _first_sample(screen.run, view.task)
    record = records.rollout(run, view.task, sample) if sample else None
    if record is None:
        _unknown(screen)
        st.stop()
    return in_file.with_code_of(run, record, records.task(run, view.task)) if run.recorded else record


def current(screen: Screen, rollout: RolloutRecord) -> CaseRecord | None:
    """The result of the current test case: the view's, else the first that failed; None when there are none."""
    verdicts = records.verdicts_of(screen.run, rollout.task_id, rollout.sample_id)
    if not verdicts:
        return None
    index = _current_test(screen.view, rollout, verdicts)
    return records.case(screen.run, rollout.task_id, rollout.sample_id, index)


def head(screen: Screen, rollout: RolloutRecord, test: CaseRecord | None) -> None:
    """The rollout, its verdict and figures, and buttons to its neighbours in the filter."""
    task = records.task(screen.run, rollout.task_id)
    left, right = st.columns([3, 2], vertical_alignment="center")
    with left:
        st.html(completion_view.title(rollout, state.href("tasks", _its_task(screen, rollout))))
    with right:
        _walk(screen, rollout)
    equal_as = equalities.of(test, task.mode if task else "")
    st.html(completion_view.figures(rollout, _head_facts(screen, rollout), equal_as))
    if not rollout.verified and not screen.run.recorded:
        _unverified(screen, rollout)
    if rollout.disagreement:
        _disagreement(rollout.disagreement)


def strip(screen: Screen, rollout: RolloutRecord, test: CaseRecord | None) -> None:
    """The test cases as letters, the current one framed."""
    if test is None:
        return
    verdicts = records.verdicts_of(screen.run, rollout.task_id, rollout.sample_id)
    here = screen.view.but(task=rollout.task_id, sample=rollout.sample_id)
    with st.container(horizontal=True, vertical_alignment="center"):
        with st.container(width="stretch"):
            case_strip.show(verdicts, test.test_index, lambda index: state.write(here.but(test=index)))
        following = _next_failing(verdicts, test.test_index)
        st.button(
            "Next failing test",
            key="next_failing",
            shortcut="N",
            disabled=following is None,
            on_click=state.write,
            args=(here.but(test=following),),
        )


def open_task(screen: Screen, rollout: RolloutRecord) -> None:
    """Open the page of its task."""
    state.go("tasks", _its_task(screen, rollout))


# --- The head -----------------------------------------------------------------------------------


def _its_task(screen: Screen, rollout: RolloutRecord) -> View:
    return screen.view.place().but(task=rollout.task_id)


def _extracted_from(rollout: RolloutRecord) -> str | None:
    """Which part of the text ran, where that is not obvious."""
    found = rollout.extracted_from or ""
    return None if found.startswith(OBVIOUS) else found or None


def _head_facts(screen: Screen, rollout: RolloutRecord) -> list[tuple[str, str]]:
    given = rollout.given_reward
    reward = ("reward", "none" if rollout.reward is None else f"{rollout.reward:g}")
    if screen.run.recorded:
        kept = [reward, not_graded.fact(rollout), ("sample", rollout.sample_id), ("model", rollout.model or "")]
        return [each for each in kept if each is not None and each[1]]
    optional = [
        reward,
        ("given reward", None if given is None or given == rollout.reward else f"{given:g}"),
        ("tests passed", f"{rollout.tests_passed} of {rollout.tests_total}" if rollout.tests_total else None),
        ("wall", facts.seconds(rollout.wall_s)),
        ("memory", facts.mebibytes(rollout.memory_mb)),
        ("sample", rollout.sample_id),
        ("model", rollout.model),
        ("grader", rollout.grader if rollout.grader != "tests" else None),
        ("checker", rollout.checker),
        ("code from", _extracted_from(rollout)),
        ("same code as", rollout.duplicate_of),
        ("sandbox", "degraded" if "degraded" in (rollout.layers or ()) else None),
    ]
    return [(name, value) for name, value in optional if value]


def _unverified(screen: Screen, rollout: RolloutRecord) -> None:
    """Why it is not verified, and the effect on its reward."""
    effect = ""
    if rollout.reward is not None:
        effect = " It keeps its verdict and reward; with --unverified unknown it would be unknown, without a reward."
    elif rollout.verdict == Verdict.UNKNOWN and screen.run.manifest.options.unverified == "unknown":
        effect = " So it is unknown and has no reward; with --unverified keep its test cases would decide."
    why = (rollout.unverified_reason or NO_REASON).removesuffix(".")
    facts.banner(f"not verified: {why}.{effect}", warn=True)


def _disagreement(text: str) -> None:
    """Both outcomes of the test suite, side by side."""
    found = decoded(text, Disagreement)
    if found is None:
        return
    left, right = st.columns(2, gap="small")
    apart = [f"test {case.index}: {case.apart}: {case.apart_message or 'no message'}" for case in found.cases]
    plain = [f"test {case.index}: {case.plain}: {case.plain_message or 'no failure'}" for case in found.cases]
    with left:
        _outcome("The test in its own process", found.apart, apart)
    with right:
        _outcome("The test in the completion's process", found.plain, plain)
    if len(found.cases) > _CASES_SHOWN:
        facts.note(f"{len(found.cases) - _CASES_SHOWN:,} more test cases differ")


def _outcome(title: str, verdict: Verdict, cases: list[str]) -> None:
    facts.section(title)
    facts.line([], chip=verdict.value)
    for case in cases[:_CASES_SHOWN]:
        facts.verbatim(case, height=80, wrap=True)


def _walk(screen: Screen, rollout: RolloutRecord) -> None:
    view = screen.view
    place = orders.place(screen.run, view.filter, view.sort, rollout.row)
    inside = f"{place.position:,} of {place.total:,}" if place.inside else f"not among the {place.total:,}"
    with st.container(horizontal=True, horizontal_alignment="right", vertical_alignment="center", gap="small"):
        note_editor.offer(screen, rollout)
        st.button("Up", key="up", shortcut="U", on_click=state.go, args=view.above())
        _step("Previous", "K", view, place.previous)
        st.html(completion_view.place(inside), width="content")
        _step("Next", "J", view, place.following)


def _step(label: str, shortcut: str, view: View, target: tuple[str, str] | None) -> None:
    task, sample = target or ("", "")
    there, disabled = view.but(task=task, sample=sample, test=None), target is None
    st.button(label, key=label.lower(), shortcut=shortcut, disabled=disabled, on_click=state.write, args=(there,))


def _first_sample(run: OpenRun, task: str) -> str:
    known = listing.samples(run, task, 1).rows
    return known[0].sample_id if known else ""


def _unknown(screen: Screen) -> None:
    view, run = screen.view, screen.run
    sample = view.sample if listing.samples(run, view.task, 1).total else ""
    missing = f"sample {view.sample} of task {view.task}" if sample else f"task {view.task}"
    facts.banner(f"{missing[0].upper()}{missing[1:]} is not in this run.", warn=True)
    nearest = records.nearest(run, view.task, sample)
    if nearest:
        target = view.but(sample=nearest, test=None) if sample else view.but(task=nearest, sample="", test=None)
        state.link("completion", target, f"Nearest: {nearest}")


def _current_test(view: View, rollout: RolloutRecord, verdicts: list[tuple[int, str]]) -> int:
    known = [index for index, _ in verdicts]
    return next((test for test in (view.test, rollout.first_failing_test) if test in known), known[0])


def _next_failing(verdicts: list[tuple[int, str]], current: int) -> int | None:
    failing = [index for index, word in verdicts if word not in ("passed", "not_run") and index != current]
    return next((index for index in failing if index > current), failing[0] if failing else None)
