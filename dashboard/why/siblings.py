"""The Siblings tab: the nearest passing sample, and what the other samples of the task answered."""

from __future__ import annotations

from typing import NamedTuple

import streamlit as st

from dashboard import facts, sandbox_state, state
from dashboard.components import answer_list
from dashboard.components.answer_list import Mine
from dashboard.controls import Screen
from dashboard.queries import answers, records
from dashboard.queries.answers import LONGEST_CODE, MOST_CANDIDATES
from dashboard.queries.records import CaseRecord, RolloutRecord
from dashboard.why import replay, siblings_view
from dashboard.why.parting import levelled, nearest, part, same_lines
from dashboard.why.replay import ReplayError
from dashboard.wording import counted, short_sample
from evaluator.model import Verdict
from evaluator.syntax import lines_of

_QUICK_S = 0.5
_END = 100
_ANSWERS_HEIGHT = "max(200px, calc(100vh - 520px))"


class Passing(NamedTuple):
    """Code that passes: a sample's, or the task's reference."""

    name: str
    code: str
    sample_id: str | None = None
    about: str = ""


def show(screen: Screen, rollout: RolloutRecord, test: CaseRecord | None) -> None:
    """The nearest passing sample as a diff, and the group's answers to this test case."""
    if rollout.verdict == Verdict.PASSED:
        facts.note("This sample passed. Choose a failing one to compare it with its nearest passing sibling.")
    elif rollout.code is None:
        facts.note("No code to compare: the completion has none.")
    else:
        _compared(screen, rollout, rollout.code, test)
    if test is not None:
        _answers(screen, rollout, test)


def _compared(screen: Screen, rollout: RolloutRecord, code: str, test: CaseRecord | None) -> None:
    found = _nearest(screen, rollout, code)
    if found is None:
        if screen.run.recorded:
            facts.note("No sibling came with a passing grade, and the task has no reference solution.")
            return
        samples = "only sample" if rollout.samples == 1 else f"{rollout.samples:,} samples"
        facts.note(f"No passing sibling: none of the task's {samples} passed, and it has no reference solution.")
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        facts.line([("nearest passing sample" if found.sample_id else "no sibling passed", found.about)])
        if found.sample_id is not None:
            there = screen.view.but(task=rollout.task_id, sample=found.sample_id)
            state.link("completion", there, short_sample(rollout.task_id, found.sample_id))
    if test is not None and test.verdict not in (Verdict.PASSED, Verdict.NOT_RUN):
        _parting(screen, rollout, test, code, found)
    siblings_view.code_diff(levelled(code), levelled(found.code), short_sample(rollout.task_id, found.name))


def _nearest(screen: Screen, rollout: RolloutRecord, code: str) -> Passing | None:
    """The sample whose code is most like this one; else the task's reference."""
    candidates = answers.passing(screen.run, rollout.task_id, rollout.sample_id)
    if candidates and len(code) <= LONGEST_CODE:
        place, score = nearest(code, [each.code for each in candidates])
        chosen = candidates[place]
        among = f" of the first {MOST_CANDIDATES} that passed" if len(candidates) == MOST_CANDIDATES else ""
        about = f"{score:.0f}% the same characters{among}" + (f" · {chosen.model}" if chosen.model else "")
        return Passing(chosen.sample_id, chosen.code, chosen.sample_id, about)
    task = records.task(screen.run, rollout.task_id)
    if task is not None and task.reference:
        return Passing("the reference", task.reference, about="this is the task's reference solution")
    return None


# --- Where the runs part ------------------------------------------------------------------------


def _parting(screen: Screen, rollout: RolloutRecord, test: CaseRecord, code: str, found: Passing) -> None:
    if refusal := sandbox_state.refusal():
        facts.note(f"Can't find where the two runs part. {refusal}")
        return
    if (test.wall_s or 0) > _QUICK_S and not st.button("Find where the runs part", key="find_parting"):
        return
    try:
        with st.spinner("Replaying both in the sandbox"):
            ours = replay.of(screen, rollout, test, replay.TO_COMPARE)
            theirs = replay.of(screen, rollout, test, replay.TO_COMPARE, found.code)
    except ReplayError as error:
        facts.note(f"Can't find where the two runs part. {error}")
        return
    parting = part(ours.trace, theirs.trace, same_lines(code, found.code))
    if parting is None:
        ends = [replay.ending(each)[:_END] for each in (ours, theirs)]
        facts.note(f"No step differs on the lines that both codes have. This one {ends[0]}; the passing one {ends[1]}.")
        return
    siblings_view.parting(parting, lines_of(code), lines_of(found.code))


# --- The group's answers ------------------------------------------------------------------------


def _answers(screen: Screen, rollout: RolloutRecord, test: CaseRecord) -> None:
    found = answers.of_test(screen.run, rollout.task_id, test.test_index, rollout.sample_id)
    shown = counted(sum(row.rollouts for row in found.rows), "sample")
    some = found.part("answer")
    facts.section(f"What {shown} answered to test {test.test_index}" + (f" ({some})" if some else ""))
    here = screen.view.but(task=rollout.task_id, test=test.test_index)
    mine = Mine(rollout.sample_id, test.expected or "")
    answer_list.show(found.rows, here, height=_ANSWERS_HEIGHT, mine=mine)
