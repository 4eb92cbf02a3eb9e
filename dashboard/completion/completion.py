"""The Completion page: which rollout it shows, its head, its neighbours, its test cases."""

from __future__ import annotations

import re

import streamlit as st

from dashboard import controls, documents, facts, meanings, notes, state, widgets
from dashboard.completion import completion_view, not_graded
from dashboard.components import lists
from dashboard.controls import Screen
from dashboard.queries import behaviours, listing, orders, records, task_names
from dashboard.queries.behaviours import Place
from dashboard.queries.records import CaseRecord, RolloutRecord, decoded
from dashboard.state import View
from dashboard.text import case_view
from dashboard.text.diff import taken_apart
from dashboard.workspace import OpenRun
from evaluator.checkers import get_checker
from evaluator.extraction import OBVIOUS
from evaluator.model import NO_REASON, Disagreement, Mode, Verdict

_RULES = {"after strip": "lines", "as tokens": "tokens", "as floats": "floats"}
_LONGEST = 200_000
"""Characters of both sides together; longer outputs are not compared again."""
_BRACKETS = re.compile(r"([\[\](){},:])")
_CUT = " characters left out"


def equalities(test: CaseRecord | None, mode: str) -> list[tuple[str, bool]]:
    """(rule, whether expected and actual are equal by it); none where both are not known as a whole."""
    if test is None or test.verdict != Verdict.WRONG_ANSWER or test.expected is None or test.actual is None:
        return []
    described = mode == Mode.ANSWER or (case_view.is_code(mode) and case_view.in_words(test.expected))
    if described or test.excerpt or not (_whole(test.expected) and _whole(test.actual)):
        return []
    if len(test.expected) + len(test.actual) > _LONGEST:
        return []
    by_value = mode != Mode.STDIN
    return [(name, _equal(rule, test.expected, test.actual, by_value=by_value)) for name, rule in _RULES.items()]


def _whole(text: str) -> bool:
    return taken_apart(text).gap is None and not text.endswith(_CUT)


def _equal(rule: str, expected: str, actual: str, *, by_value: bool) -> bool:
    """`by_value`: the texts are values as Python writes them, whose numbers stand between brackets and commas."""
    if by_value and rule == "floats":
        expected, actual = (_BRACKETS.sub(r" \1 ", text) for text in (expected, actual))
    return get_checker(rule).rules["text"](expected, actual) is None


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
    return records.with_code_of(run, record, records.task(run, view.task)) if run.recorded else record


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
    left, right = st.columns([1, 1], vertical_alignment="center")
    with left:
        name = task_names.name(screen.run, rollout.task_id)
        href = state.href("tasks", _its_task(screen, rollout))
        st.html(completion_view.title(rollout, name, href, recorded=screen.run.recorded))
    with right:
        _walk(screen, rollout)
    equal_as = equalities(test, task.mode if task else "")
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
            lists.case_strip(verdicts, test.test_index, lambda index: state.write(here.but(test=index)))
        following = _next_failing(verdicts, test.test_index)
        target, none = here.but(test=following), following is None
        widgets.button("Next failing test", "next_failing", state.write, target, shortcut="N", disabled=none)


def not_run(screen: Screen, rollout: RolloutRecord) -> str:
    """Which test cases were not run, and why; "" where all were, or no code was found."""
    verdicts = records.verdicts_of(screen.run, rollout.task_id, rollout.sample_id)
    skipped = [index for index, word in verdicts if word == Verdict.NOT_RUN]
    if not skipped or len(skipped) == len(verdicts):
        return ""
    last, word = [each for each in verdicts if each[0] < skipped[0]][-1]
    late = sum(word == Verdict.TIME_LIMIT for _, word in verdicts)
    case = records.case(screen.run, rollout.task_id, rollout.sample_id, last)
    if word == Verdict.TIME_LIMIT and case and case.wall_s is None:
        why = case.error_message or "there was no time left for them"
    elif word == Verdict.TIME_LIMIT:
        again = "test {} timed out, which decides the reward" if late == 1 else "{} was the second to time out"
        why = f"{again.format(last)}, and each more could take as long"
    elif word == Verdict.REJECTED:
        why = f"the program was rejected in test {last}"
    elif screen.run.manifest.options.fail_fast:
        why = f"--fail-fast ends at the first failure, test {last}"
    else:
        why = f"its process could not go on after test {last}"
    which = f"Test {skipped[0]} was" if len(skipped) == 1 else f"Tests {skipped[0]} to {skipped[-1]} were"
    return f"{which} not run (.): {why}."


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
        ("behaves like", _alike(behaviours.of_sample(screen.run, rollout.task_id, rollout.sample_id))),
        ("sandbox", "degraded" if "degraded" in (rollout.layers or ()) else None),
    ]
    return [(name, value) for name, value in optional if value]


def _alike(place: Place | None) -> str | None:
    """How many samples of the task answer all test cases alike and fail in the same way."""
    if place is None:
        return None
    return f"{place.alike - 1:,} of {place.samples - 1:,} others (behaviour {place.number} of {place.behaviours})"


def _unverified(screen: Screen, rollout: RolloutRecord) -> None:
    """Why it is not verified, and the effect on its reward."""
    effect = ""
    if rollout.reward is not None:
        effect = " It keeps its verdict and reward; with --unverified unknown it would be unknown, without a reward."
    elif rollout.verdict == Verdict.UNKNOWN and screen.run.manifest.options.unverified == "unknown":
        effect = " So it is unknown and has no reward; with --unverified keep its test cases would decide."
    why = (rollout.unverified_reason or NO_REASON).removesuffix(".")
    about = meanings.of("not verified")
    facts.banner(f"not verified: {why}.{effect} {about.sentence}", warn=True, more=documents.href(about.doc))


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
        facts.verbatim(case, height=80)


def _walk(screen: Screen, rollout: RolloutRecord) -> None:
    view = screen.view
    place = orders.place(screen.run, view.filter, view.sort, rollout.row)
    inside = f"{place.position:,} of {place.total:,}" if place.inside else f"not among the {place.total:,}"
    with st.container(horizontal=True, horizontal_alignment="right", vertical_alignment="center", gap="small"):
        notes.offer(screen, rollout)
        widgets.button("Up", "up", _up, screen, rollout, shortcut="U", help="Back to the list, at this rollout")
        widgets.neighbour("Previous", "K", _beside(view, place.previous))
        st.html(completion_view.place(inside), width="content")
        widgets.neighbour("Next", "J", _beside(view, place.following))


def _up(screen: Screen, rollout: RolloutRecord) -> None:
    """Open the list that the completion was opened from, at the rollout that was viewed last."""
    page, above = screen.view.above()
    if page == "tasks" and above.task != rollout.task_id:
        above = above.but(task=rollout.task_id, test=None)
    if page == "rollouts":
        above = above.but(at=f"{rollout.task_id}|{rollout.sample_id}")
        if above.task:
            above = above.but(task=rollout.task_id, test=screen.view.test)
        elif above.view:
            place = orders.place(screen.run, screen.view.filter, screen.view.sort, rollout.row)
            above = above.but(page=max(0, place.position - 1) // listing.ROLLOUTS_PER_PAGE + 1)
        else:
            above = above.but(page=listing.grid_page(screen.run, screen.view.filter, above.sort, rollout.task_id))
    state.go(page, above)


def _beside(view: View, ids: tuple[str, str] | None) -> View | None:
    return None if ids is None else view.but(task=ids[0], sample=ids[1], test=None)


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
