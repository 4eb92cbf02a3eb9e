"""The Tasks page: the list of tasks, one task, its test cases raw and parsed."""

from __future__ import annotations

import json

import pandas as pd
import streamlit as st

from dashboard import case_view, code_view, controls, diff_view, escape, facts, select_table, state, widgets
from dashboard.controls import Screen
from dashboard.queries import dataset, records
from dashboard.queries.dataset import CaseCount
from dashboard.queries.listing import TASKS_PER_PAGE
from dashboard.queries.records import TaskRecord
from dashboard.wording import counted
from evaluator.model import Mode, TestCase


def task_list(screen: Screen) -> TaskRecord:
    """The dataset's tasks. Returns the selected one; ends the page when there is none."""
    view, run = screen.view, screen.run
    with widgets.place("find"):
        st.text_input(
            "Find", placeholder="find a task", label_visibility="collapsed",
            **widgets.bound("w_find", view.filter.q, lambda view, words: view.but(q=words, page=1)),
        )  # fmt: skip
    count = dataset.task_total(run, view.filter.q)
    lines = dataset.task_lines(run, view.filter.q, controls.page_of(view, count, TASKS_PER_PAGE))
    if not lines and not view.task:
        facts.banner(
            f"No task has {view.filter.q!r} in its id." if view.filter.q else "The run has no dataset.", warn=True
        )
        st.stop()
    chosen = view.task or lines[0].task_id
    position = next((i for i, line in enumerate(lines) if line.task_id == chosen), None)

    def picked(row: int) -> None:
        state.write(state.read().but(task=lines[row].task_id, test=None))

    table = pd.DataFrame(
        [(escape.text(t.task_id), t.passed, t.samples, t.nobody, t.everybody) for t in lines],
        columns=["task", "passed", "rollouts", "nobody", "all"],
    ).astype({"nobody": "Int64", "all": "Int64"})
    height = min(540, 38 + 26 * max(1, len(lines)))
    select_table.show(table, key="task_list", columns=_LIST_COLUMNS, height=height, on_pick=picked, selected=position)
    controls.pager(view, count, TASKS_PER_PAGE, "tasks")
    facts.note("nobody, all: test cases that no rollout passes, or all pass.")
    record = records.task(run, chosen)
    if record is None:
        _unknown(screen, chosen)
        st.stop()
    return record


def task(screen: Screen, record: TaskRecord) -> list[TestCase]:
    """Head, prompt and reference of a task. Returns the test cases that the grader ran."""
    cases = records.test_cases(record)
    optional = [("entry point", record.entry_point), ("source", record.source), ("tests", record.test_hash)]
    found = [("mode", record.mode), ("test cases", f"{len(cases):,}")]
    found += [(name, value) for name, value in optional if value]
    left, right = st.columns([3, 1], vertical_alignment="top")
    with left:
        facts.line(found, title=record.task_id)
    with right, st.container(horizontal=True, horizontal_alignment="right"):
        state.link("rollouts", screen.view.place().but(task=record.task_id), "Its rollouts by test case")
    parts = {
        "Prompt": record.prompt,
        "Reference": record.reference,
        "Preamble": record.preamble,
        "Test code": record.test,
    }
    present = {name: text for name, text in parts.items() if text}
    if not present:
        facts.note("The dataset has no prompt and no reference for it.")
        return cases
    for tab, (name, text) in zip(st.tabs(list(present)), present.items(), strict=True):
        with tab:
            if name == "Prompt":
                st.html(diff_view.text_block(text, height="170px"))
            else:
                st.html(code_view.code(text, prefix=f"{name[0]}", height="170px"))
    return cases


def case_table(screen: Screen, record: TaskRecord, cases: list[TestCase]) -> int | None:
    """Every test case with how many rollouts pass it. Returns the index of the selected one."""
    if not cases:
        facts.banner("This task has no test case that can run, so its rollouts are unknown.", warn=True)
        return None
    counts = {c.test_index: c for c in dataset.case_counts(screen.run, record.task_id)}
    table = pd.DataFrame(
        [
            (
                c.index,
                _share(counts.get(c.index)),
                _mark(counts.get(c.index)),
                escape.text(case_view.in_one_line(c.input, record.mode)),
                escape.text(case_view.in_one_line(c.expected, record.mode)),
            )
            for c in cases
        ],
        columns=["test", "passed", "mark", "input", "expected"],
    )
    if not any(c.expected for c in cases):
        table = table.drop(columns="expected")
    known = [c.index for c in cases]
    current = screen.view.test if screen.view.test in known else known[0]

    def picked(row: int) -> None:
        state.write(state.read().but(task=record.task_id, test=known[row]))

    height, selected = min(214, 40 + 26 * len(cases)), known.index(current)
    select_table.show(table, key="case_list", columns=_CASE_COLUMNS, height=height, on_pick=picked, selected=selected)
    return current


def case(record: TaskRecord, cases: list[TestCase], index: int | None) -> None:
    """The selected test case, raw and parsed."""
    chosen = next((c for c in cases if c.index == index), None)
    if chosen is None:
        return
    if case_view.is_code(record.mode):
        _code_case(record.mode, chosen)
        return
    if record.mode == Mode.ANSWER:
        facts.section(f"Test {chosen.index}: {chosen.input[:500]}")
        if chosen.expected:
            _raw(chosen.expected, chosen)
        return
    left, right = st.columns(2)
    with left:
        facts.section(f"Input of test {chosen.index}, raw ({facts.size(len(chosen.input.encode('utf-8', 'replace')))})")
        _raw(chosen.input, chosen)
    with right:
        facts.section("Expected, raw")
        _raw(chosen.expected, chosen)
    facts.section("Parsed")
    st.html(code_view.code(parsed(record, chosen), prefix="P", height="110px"))


def _raw(text: str, chosen: TestCase) -> None:
    facts.verbatim(text[: case_view.SHOWN], height=_height(chosen), wrap=True)
    case_view.note_cut(text)


def _code_case(mode: str, chosen: TestCase) -> None:
    """A statement or method of the test code, and the expectation if it is not part of the code."""
    size = facts.size(len(chosen.input.encode("utf-8", "replace")))
    facts.section(f"Test {chosen.index}: {case_view.name_of_input(mode)}, {size}")
    case_view.show_input(chosen.input, mode, height=190)
    if chosen.expected and chosen.expected not in chosen.input:
        facts.note(f"Expected: {chosen.expected[:500]}.")


def _height(chosen: TestCase) -> int:
    """A height for the text: one line needs little, a hundred lines scroll."""
    lines = max(len(text) // 44 + text.count("\n") + 1 for text in (chosen.input, chosen.expected))
    return min(150, 28 + 20 * lines)


def parsed(record: TaskRecord, chosen: TestCase) -> str:
    """A test case as the grader reads it: the call and the value, or the lines."""
    if record.mode == "call":
        arguments = ", ".join(_value(line) for line in chosen.input.split("\n") if line.strip())
        return f"{record.entry_point}({arguments}) == {_value(chosen.expected)}"
    given, wanted = (counted(len(text.splitlines()), "line") for text in (chosen.input, chosen.expected))
    return f"# {given} on stdin, {wanted} expected on stdout"


def _value(text: str) -> str:
    try:
        shown = repr(json.loads(text))
    except (ValueError, RecursionError):
        return f"<not JSON: {text[:60]!r}>"
    return shown if len(shown) <= 2_000 else f"{shown[:2_000]}…"


def _unknown(screen: Screen, task_id: str) -> None:
    facts.banner(f"Task {task_id} is not in this run's dataset.", warn=True)
    nearest = records.nearest(screen.run, task_id)
    if nearest and nearest != task_id:
        state.link("tasks", screen.view.but(task=nearest, test=None), f"Nearest: {nearest}")


def _share(count: CaseCount | None) -> str:
    return f"{count.passed:,} of {count.ran:,}" if count else "–"


def _mark(count: CaseCount | None) -> str:
    if count is None or count.ran < 2:
        return ""
    return "nobody" if count.passed == 0 else "everybody" if count.passed == count.ran else ""


_LIST_COLUMNS = {
    "task": st.column_config.TextColumn("task", width=112),
    "passed": st.column_config.NumberColumn("pass", help="rollouts that passed", width=46),
    "rollouts": st.column_config.NumberColumn("of", help="rollouts", width=42),
    "nobody": st.column_config.NumberColumn("nobody", help="test cases that no rollout passes", width=62),
    "all": st.column_config.NumberColumn("all", help="test cases that every rollout passes", width=42),
}
_CASE_COLUMNS = {
    "test": st.column_config.NumberColumn("test", width=48),
    "passed": st.column_config.TextColumn("passed", width=80),
    "mark": st.column_config.TextColumn(
        "mark", width=85, help="test cases that no rollout passes, or every rollout passes"
    ),
    "input": st.column_config.TextColumn("input", width=260),
    "expected": st.column_config.TextColumn("expected", width=120),
}
