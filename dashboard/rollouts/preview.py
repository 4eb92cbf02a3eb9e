"""The right half of the grids: the selected cell's rollout, what is wrong with it, and the line where."""

from __future__ import annotations

import streamlit as st

from dashboard import facts, meanings, state, theme
from dashboard.components import scroll
from dashboard.facts import counted
from dashboard.queries import answers, records, task_names
from dashboard.queries.answers import Answer
from dashboard.queries.records import CaseRecord, RolloutRecord, decoded
from dashboard.state import View
from dashboard.text import case_view, code_view, diff_view, tables_view
from dashboard.workspace import OpenRun
from evaluator.model import Traceback, Verdict

_ANCHOR = "P"
_MESSAGE = 200
_ABOVE, _ABOVE_CODE = 241, 420
"""The height of what is above the code of the preview and below it, in pixels: alone, and with a difference."""
_ANSWER = 60
_WORD = 60


def show(run: OpenRun, task_id: str, sample_id: str, test: int | None, target: View) -> None:
    """The rollout at one test case: the given one, else its first failing one. `target` opens it."""
    record = records.rollout(run, task_id, sample_id)
    if record is None:
        return
    index = record.first_failing_test if test is None else test
    case = None if index is None else records.case(run, task_id, sample_id, index)
    task = records.task(run, task_id)
    mode = task.mode if task else ""
    if run.recorded:
        record = records.with_code_of(run, record, task)
    if case is not None and case.verdict == Verdict.NOT_RUN and test is None:
        case = None  # no test case decided: the completion has no code, or does not load
    verdict = case.verdict if case else record.verdict
    said, verified = _facts(record, recorded=run.recorded), record.verified or run.recorded
    st.html(tables_view.preview(verdict, _title(run, record, case), said, verified=verified))
    _buttons(target.but(test=test), why=not run.recorded)
    if case is not None and case.verdict == Verdict.WRONG_ANSWER:
        case_view.expected_and_actual(case_view.sides_of(case, mode, record.checker))
    _failure(run, record, case)
    if case is not None and case.verdict not in (Verdict.WRONG_ANSWER, Verdict.PASSED):
        case_view.expected_and_actual(case_view.sides_of(case, mode, record.checker))


def task_answers(run: OpenRun, task_id: str, sample_id: str, test: int) -> None:
    """How often each answer was given to a test case: a wrong one that many give means a suspect test."""
    found = answers.of_test(run, task_id, test, sample_id)
    if not found.rows:
        return
    facts.section(f"Answers to test {test}{f' ({part})' if (part := found.part()) else ''}")
    rows = [(each.verdict, _answer(each), each.rollouts, each.is_own) for each in found.rows]
    st.html(tables_view.answers(rows))


def _answer(answer: Answer) -> str:
    """The answer in one line; an exception, or the verdict, where there is none."""
    if answer.error:
        return answer.error
    text = (answer.text or "").removesuffix("\n")
    if not text:
        return "nothing" if answer.verdict in (Verdict.PASSED, Verdict.WRONG_ANSWER) else answer.verdict
    text = diff_view.visible(text) if "\n" in text else text
    return text if len(text) <= _ANSWER else f"{text[: _ANSWER - 1]}…"


def _title(run: OpenRun, record: RolloutRecord, case: CaseRecord | None) -> str:
    places = f" (0 to {record.tests_total - 1})" if record.tests_total > 1 else ""
    test = f"test {case.test_index}{places}" if case and record.tests_total else ""
    verdict = theme.verdict(case.verdict if case else record.verdict)
    word = meanings.word(verdict, recorded=run.recorded)
    return " · ".join(part for part in (word, task_names.name(run, record.task_id), test) if part)


def _facts(record: RolloutRecord, *, recorded: bool) -> list[str]:
    return [
        record.sample_id,
        record.model or "",
        "no reward" if record.reward is None else f"reward {record.reward:g}",
        f"{record.tests_passed} of {counted(record.tests_total, 'test')} passed" if record.tests_total else "",
        facts.seconds(record.wall_s) if record.wall_s is not None else "",
        "" if record.verified or recorded else "not verified",
        _said(record) if recorded else "",
    ]


def _said(record: RolloutRecord) -> str:
    """The recorded verdict in its source's words."""
    words = record.recorded_word if record.recorded_word != record.recorded_verdict else ""
    by = f"by {record.recorded_by}" if record.recorded_by else ""
    return " ".join(part for part in (f"“{words[:_WORD]}”" if words else "", by) if part)


def _buttons(target: View, *, why: bool) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.button("Open (Enter)", key="preview_open", on_click=leave, args=("completion", target))
        if why:
            state.link("completion", target.but(tab="why"), "Why")


def leave(page: str, target: View) -> None:
    """Open a page from inside the fragment that the preview is in; the fragment then ends with `follow`."""
    state.go(page, target)
    st.session_state[_LEFT] = True


def follow() -> None:
    """At the start of the fragment: run the whole script if a page was opened, as only that changes the address."""
    if st.session_state.pop(_LEFT, False):
        st.rerun()


_LEFT = "preview_left"


def _failure(run: OpenRun, record: RolloutRecord, case: CaseRecord | None) -> None:
    """The exception at its line of the code, which is scrolled to; the code from its start where no line is known."""
    is_first = case is not None and case.test_index == record.first_failing_test
    result = record if case is None or (is_first and not (case.error_type or case.error_message)) else case
    message = f"{result.error_type}: {result.error_message or ''}" if result.error_type else result.error_message or ""
    message = record.loading or message
    trace = decoded(case.traceback, Traceback) if case else None
    line = result.error_line or (trace.line if trace else None)
    if message and not line and result.verdict != Verdict.WRONG_ANSWER:  # whose difference stands above
        facts.banner(message[:_MESSAGE])
    height = f"max(165px, calc(100vh - {_ABOVE_CODE if case and case.verdict != Verdict.PASSED else _ABOVE}px))"
    if record.code is None:
        st.html(diff_view.text_block(record.completion, height=height))
    else:
        note = message.split("\n", 1)[0][:_MESSAGE]
        frames = {frame.line for frame in trace.frames} if trace else set()
        st.html(code_view.code(record.code, failing=line, frames=frames, note=note, prefix=_ANCHOR, height=height))
    scroll.to(f"{_ANCHOR}{line}" if line else None, key=f"{run.key}|{record.row}|{line}")
