"""The Siblings tab: the nearest passing sample, and what the other samples of the task answered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import streamlit as st
from rapidfuzz import fuzz, process
from rapidfuzz.distance import Indel, Levenshtein

from dashboard import facts, sandbox_state, state
from dashboard.components import answer_list
from dashboard.components.answer_list import Mine
from dashboard.controls import Screen
from dashboard.facts import counted, short_sample
from dashboard.queries import answers, records
from dashboard.queries.answers import LONGEST_CODE, MOST_CANDIDATES
from dashboard.queries.records import CaseRecord, RolloutRecord
from dashboard.text import diff_view
from dashboard.why import why, why_view
from dashboard.why.why import ReplayError
from evaluator.model import Verdict
from evaluator.syntax import lines_of
from evaluator.tracing import Step, Trace

_MOST_LINES = 2_000
_ALIKE = 60
_CLOSEST = 20


class Parting(NamedTuple):
    """The steps at which two runs differ, or the two after their last common one; None for a run that has ended."""

    ours: Step | None
    theirs: Step | None
    before: Step | None = None
    """Our last common step, where they went on to different lines."""


def levelled(code: str) -> str:
    """The code with four spaces for each level of its lines: the width of an indent makes no difference."""
    levels, out = [0], []
    for line in lines_of(code):
        text = line.lstrip()
        if text:
            width = len(line.expandtabs()) - len(text.expandtabs())
            while width < levels[-1]:
                levels.pop()
            if width > levels[-1]:
                levels.append(width)
        out.append("    " * (len(levels) - 1) + text if text else "")
    return "\n".join(out)


def nearest(code: str, others: Sequence[str]) -> tuple[int, float]:
    """The place of the code that is most like this one, and how many of its characters are the same, in percent.

    Only those whose lines are most alike are compared character by character, which takes longer.
    """
    ours, theirs = levelled(code), [levelled(other) for other in others]
    by_lines = process.extract(
        ours.split("\n"), [text.split("\n") for text in theirs], scorer=Indel.normalized_similarity, limit=_CLOSEST
    )
    scores = {place: fuzz.ratio(ours, theirs[place]) for _, _, place in by_lines}
    best = max(scores, key=scores.__getitem__)
    return best, scores[best]


def same_lines(ours: str, theirs: str) -> dict[int, int]:
    """Our lines that the other code has too, or has much alike in the same place."""
    left, right = ([line.strip() for line in lines_of(code)[:_MOST_LINES]] for code in (ours, theirs))
    found: dict[int, int] = {}
    for piece in Levenshtein.opcodes(left, right):
        if piece.tag in ("equal", "replace"):
            for line in range(piece.src_start, piece.src_end):
                other = line - piece.src_start + piece.dest_start
                if fuzz.ratio(left[line], right[other]) >= _ALIKE:
                    found[line + 1] = other + 1
    return found


def part(ours: Trace, theirs: Trace, lines: dict[int, int]) -> Parting | None:
    """Where two runs part, as the steps on their common lines show; None if they do not."""
    known = set(lines.values())
    left = [index for index, step in enumerate(ours.steps) if step.line in lines]
    right = [index for index, step in enumerate(theirs.steps) if step.line in known]
    common = 0
    for one, other in zip((ours.steps[i] for i in left), (theirs.steps[i] for i in right), strict=False):
        if lines[one.line] != other.line:
            break
        if _differ(one, other):
            return Parting(one, other)
        common += 1
    is_end = common == min(len(left), len(right))
    if is_end and (common == 0 or len(left) == len(right) or not (_is_whole(ours) and _is_whole(theirs))):
        return None
    before = ours.steps[left[common - 1]] if common else None
    return Parting(_next(ours, left[:common]), _next(theirs, right[:common]), before)


def _next(trace: Trace, common: Sequence[int]) -> Step | None:
    """The step that follows the common ones at once, also on a line that the other code does not have."""
    place = common[-1] + 1 if common else 0
    return trace.steps[place] if place < len(trace.steps) else None


def _differ(one: Step, other: Step) -> bool:
    """Whether two steps did different things. Names do not matter; nor do values that are kept in other variables."""
    left, right = (sorted(change.value for change in step.changed) for step in (one, other))
    return one.said != other.said or (len(left) == len(right) and left != right)


def _is_whole(trace: Trace) -> bool:
    return trace.end is not None and trace.end.steps == len(trace.steps)


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
    ours, theirs = levelled(code), levelled(found.code)
    if ours == theirs:
        facts.note("The code is the same.")
        st.html(diff_view.text_block(ours))
        return
    title = f"− this one, + {short_sample(rollout.task_id, found.name)}"
    st.html(diff_view.one_column(ours, theirs, title))


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
        return Passing("the reference", task.reference, about="compared with the task's reference solution")
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
            ours = why.of(screen, rollout, test, why.TO_COMPARE)
            theirs = why.of(screen, rollout, test, why.TO_COMPARE, found.code)
    except ReplayError as error:
        facts.note(f"Can't find where the two runs part. {error}")
        return
    parting = part(ours.trace, theirs.trace, same_lines(code, found.code))
    if parting is None:
        ends = [why.ending(each)[:_END] for each in (ours, theirs)]
        facts.note(f"No step differs on the lines that both codes have. This one {ends[0]}; the passing one {ends[1]}.")
        return
    why_view.parting(parting, lines_of(code), lines_of(found.code))


# --- The group's answers ------------------------------------------------------------------------


def _answers(screen: Screen, rollout: RolloutRecord, test: CaseRecord) -> None:
    found = answers.of_test(screen.run, rollout.task_id, test.test_index, rollout.sample_id)
    shown = counted(sum(row.rollouts for row in found.rows), "sample")
    some = found.part("answer")
    facts.section(f"What {shown} answered to test {test.test_index}" + (f" ({some})" if some else ""))
    here = screen.view.but(task=rollout.task_id, test=test.test_index)
    mine = Mine(rollout.sample_id, test.expected or "")
    answer_list.show(found.rows, here, height=_ANSWERS_HEIGHT, mine=mine)
