"""One task on the Tasks page: its texts, its test cases with what was answered to them, and the selected one."""

from __future__ import annotations

import re

import streamlit as st

from dashboard import facts, state, widgets
from dashboard.completion import trial_run
from dashboard.components import answer_list, lists
from dashboard.components.lists import Column
from dashboard.controls import Screen
from dashboard.facts import counted
from dashboard.queries import answers, behaviours, dataset, records, task_names
from dashboard.queries.answers import Short
from dashboard.queries.dataset import CaseCount, Suspect
from dashboard.queries.records import TaskRecord
from dashboard.tasks import corrected, judgement, new_case, weak_tests
from dashboard.text import case_view, code_view, diff_view
from dashboard.workspace import OpenRun
from evaluator.model import Mode, Task, TestCase
from evaluator.tasks import long_numbers

_CASES_LISTED = 2_000
_ANSWER = 16
"""Characters of an answer in the table."""
_TEXT_HEIGHT = "calc(88px + max(0px, (100vh - 720px) * 0.35))"
_CASES_HEIGHT = "calc(132px + max(0px, (100vh - 720px) * 0.35))"
_BELOW_HEIGHT = "calc(176px + max(0px, (100vh - 720px) * 0.3))"
_PANES = {
    "": "This test",
    "alike": "Behaviours",
    "weak": "Weak tests",
    "new": "Edit or add a test case",
    "code": "Run code",
}
_COLUMNS = (
    Column("", "mark", "16px", "! marks a suspect"),
    Column("test", "number", "38px"),
    Column(
        "passed",
        "number",
        "84px",
        "rollouts that passed it, of those that ran it: not those without code, or that ended before it",
    ),
    Column("expected", "mono", "17%"),
    Column("answers", "mono", "42%", "what the rollouts answered, and how many did; error: those that gave no answer"),
    Column("input", "mono"),
    Column("judged", "line", "64px", "what people judged; changed: here, for the corrected dataset"),
)
_IF_ANY = ("expected", "judged")
"""Columns that are left out where they would be empty."""


def head(screen: Screen, record: TaskRecord, cases: list[TestCase]) -> None:
    """The task's name and facts, the link to its rollouts, and what people think of it."""
    found = [("mode", record.mode), ("test cases", f"{len(cases):,}")]
    if has_no_dataset(screen.run):
        found = []
    if record.entry_point:
        found.append(("entry point", record.entry_point))
    left, right = st.columns([3, 1], vertical_alignment="top")
    with left:
        facts.line(found, title=task_names.name(screen.run, record.task_id))
    with right, st.container(horizontal=True, horizontal_alignment="right"):
        state.link(
            "rollouts",
            screen.view.place().but(task=record.task_id),
            "Its rollouts" if screen.run.recorded else "Its rollouts by test case",
        )
    judgement.offer(screen.run, record.task_id)


def has_no_dataset(run: OpenRun) -> bool:
    """Whether all that is known of the tasks is from the rollouts' file."""
    return run.recorded and not run.manifest.dataset


def texts(screen: Screen, record: TaskRecord) -> None:
    """Prompt, reference, preamble, test code and checker, as far as the dataset has them."""
    parts = {
        "Prompt": record.prompt,
        "Preamble": record.preamble,
        "Test code": record.test,
        "Checker": task.checker_code if (task := records.decoded(record.task, Task)) else None,
        "Reference": record.reference,
    }
    present = {name: text for name, text in parts.items() if text}
    if not present:
        facts.note(f"The {'file' if has_no_dataset(screen.run) else 'dataset'} has no prompt and no reference for it.")
        return
    for tab, (name, text) in zip(st.tabs(list(present)), present.items(), strict=True):
        with tab:
            if name == "Prompt":
                st.html(diff_view.text_block(text, height=_TEXT_HEIGHT))
            else:
                st.html(code_view.code(text, prefix=f"{name[0]}", height=_TEXT_HEIGHT))


def case_table(screen: Screen, record: TaskRecord, cases: list[TestCase]) -> int | None:
    """Every test case with what the rollouts answered to it. Returns the index of the selected one.

    Without one in the URL, that is the most suspect one, else the one that the fewest pass.
    """
    if has_no_dataset(screen.run):
        facts.note("Its test cases are in the dataset: start the dashboard with --dataset DATASET.jsonl.")
        return None
    if not cases:
        facts.banner("This task has no test case that can run, so its rollouts are unknown.", warn=True)
        return None
    counts = {count.test_index: count for count in dataset.case_counts(screen.run, record.task_id)}
    found = answers.by_test(screen.run, record.task_id)
    suspected = [each.test_index for each in dataset.suspects_of(screen.run, record.task_id)]
    known = [case.index for case in cases[:_CASES_LISTED]]
    fewest = min(known, key=lambda index: _rate(counts.get(index)))
    likely = next((index for index in suspected if index in known), fewest)
    current = screen.view.test if screen.view.test in known else likely

    def picked(row: int) -> None:
        state.write(state.read().but(task=record.task_id, test=known[row]))

    changed = corrected.replaced(screen.run, record.task_id, cases)

    def row(case: TestCase) -> tuple[str, ...]:
        note = screen.run.notes.task(record.task_id, case.index)
        return (
            "!" if case.index in suspected else "",
            str(case.index),
            _share(counts.get(case.index)),
            case_view.in_one_line(case.expected.rstrip("\n"), record.mode),
            _answers(found.get(case.index, []), record.mode),
            case_view.in_one_line(case.input, record.mode),
            "changed" if case.index in changed else (note.judgement or "note") if note else "",
        )

    rows = [row(case) for case in cases[:_CASES_LISTED]]
    shown = [at for at, each in enumerate(_COLUMNS) if each.name not in _IF_ANY or any(cells[at] for cells in rows)]
    lists.row_list(
        [_COLUMNS[at] for at in shown],
        [[cells[at] for at in shown] for cells in rows],
        key="case_list",
        label="test cases",
        height=f"min({44 + 24 * len(cases)}px, {_CASES_HEIGHT})",
        shown=record.task_id,
        on_pick=picked,
        selected=known.index(current),
    )
    if len(cases) > _CASES_LISTED:
        facts.note(f"The first {_CASES_LISTED:,} of {counted(len(cases), 'test case')}.")
    return current


def below(screen: Screen, record: TaskRecord, cases: list[TestCase], index: int | None) -> None:
    """What the visitor does with the selected test case: read it, add another, or run code."""
    if has_no_dataset(screen.run):
        return
    chosen = next((case for case in cases if case.index == index), None)
    pane = widgets.choice("Pane", _PANES, screen.view, key="w_pane", field="tab")
    if pane == "alike":
        _behaviours(screen, record)
    elif pane == "weak":
        weak_tests.offer(screen, record)
    elif pane == "new":
        new_case.offer(screen, record, chosen)
    elif pane == "code":
        trial_run.offer(screen, record, index)
    elif chosen is not None:
        _this_case(screen, record, chosen)
    else:
        facts.note("There is no test case to show. Add one, and see what the samples answer to it.")


def _this_case(screen: Screen, record: TaskRecord, chosen: TestCase) -> None:
    """What is suspect about it, what people think of it, the answers, and the test case itself."""
    reasons = [
        each for each in dataset.suspects_of(screen.run, record.task_id) if each.test_index in (None, chosen.index)
    ]
    at = screen.view.but(task=record.task_id, test=chosen.index)
    here = screen.view.place().but(task=at.task, test=at.test, up=at.below("tasks"))
    left, right = st.columns([1, 1], gap="small")
    with left:
        facts.section(f"Answers to test {chosen.index}{_why(reasons)}")
        found = answers.of_test(screen.run, record.task_id, chosen.index)
        if found.rows:
            answer_list.show(found.rows, here, height=_BELOW_HEIGHT)
        else:
            facts.note("Nothing ran yet: grade the rollouts." if screen.run.recorded else "No rollout ran it.")
        if part := found.part("answer"):
            facts.note(f"Listed: the {part}, the most frequent first.")
    with right:
        judgement.offer(screen.run, record.task_id, chosen.index)
        _case(screen, record, chosen)


def _behaviours(screen: Screen, record: TaskRecord) -> None:
    """Samples that answer all test cases alike and fail in the same way, as one row each."""
    found = behaviours.of_samples(screen.run, record.task_id)
    if screen.run.recorded or not found.rows:
        facts.note("Nothing ran yet: grade the rollouts." if screen.run.recorded else "It has no rollouts.")
        return
    here = screen.view.but(task=record.task_id)
    target = screen.view.place().but(task=record.task_id, up=here.below("tasks"))
    facts.section(behaviours.sentence(found))
    answer_list.show(found.rows, target, height=_BELOW_HEIGHT)
    if part := found.part("behaviour"):
        facts.note(f"Listed: the {part}, the most frequent first.")


def _why(reasons: list[Suspect]) -> str:
    """The reasons for a heading: those about the test case itself before those about the task."""
    ordered = sorted(reasons, key=lambda reason: reason.test_index is None)
    return f" · {'; '.join(reason.why for reason in ordered)}" if ordered else ""


def _case(screen: Screen, record: TaskRecord, chosen: TestCase) -> None:
    """The test case, raw and parsed."""
    if case_view.is_code(record.mode):
        size = facts.size(len(chosen.input.encode("utf-8", "replace")))
        facts.section(f"{case_view.name_of_input(record.mode)}, {size}")
        case_view.show_input(chosen.input, record.mode, height=150)
        if chosen.expected and chosen.expected not in chosen.input:
            facts.note(f"Expected: {chosen.expected[:500]}.")
        return
    if record.mode == Mode.ANSWER:
        facts.section(chosen.input[:500])
        if chosen.expected:
            _raw(chosen.expected)
        return
    if record.mode == Mode.CALL:
        facts.section("Parsed")
        st.html(code_view.code(parsed(record, chosen), prefix="P", height="90px"))
        if key := _int_key(screen, record, chosen):
            facts.note(f'JSON has text keys only: "{key}" is also right as the int {key}.')
    size = facts.size(len(chosen.input.encode("utf-8", "replace")))
    left, right = st.columns([1, 1], gap="small")
    with left:
        facts.section(f"{case_view.name_of_input(record.mode)}, {size}")
        _raw(chosen.input)
    with right:
        facts.section("expected")
        _raw(chosen.expected)


def _raw(text: str) -> None:
    lines = len(text) // 24 + text.count("\n") + 1
    facts.verbatim(text[: case_view.SHOWN], height=min(130, 28 + 20 * lines))
    case_view.note_cut(text)


def parsed(record: TaskRecord, chosen: TestCase) -> str:
    """A test case of a call as the grader reads it: the call and the value."""
    arguments = ", ".join(_value(line) for line in chosen.input.split("\n") if line.strip())
    return f"{record.entry_point}({arguments}) == {_value(chosen.expected)}"


_INT = re.compile(r"0|-?[1-9]\d{0,17}")
_INT_KEYS = ("value", "unordered")
"""Checkers to which an int key equals its text."""


def _int_key(screen: Screen, record: TaskRecord, chosen: TestCase) -> str | None:
    """A key of an expected dict that is an int's text, where the checker takes it as that int."""
    task = records.decoded(record.task, Task)
    checker = screen.run.manifest.options.checker or (task and task.checker) or "value"
    if (task and task.checker_code) or checker.partition(":")[0] not in _INT_KEYS:
        return None
    try:
        values: list[object] = [long_numbers.loads(chosen.expected)]
    except ValueError:
        return None
    for value in values:
        if isinstance(value, dict):
            if found := next(filter(_INT.fullmatch, value), None):
                return str(found)
            values += value.values()
        elif isinstance(value, list):
            values += value
    return None


def _value(text: str) -> str:
    try:
        shown = repr(long_numbers.loads(text))
    except ValueError:
        return f"<not JSON: {text[:60]!r}>"
    return shown if len(shown) <= 2_000 else f"{shown[:2_000]}…"


def _answers(found: list[Short], mode: str) -> str:
    """`7 × 51 · 9 × 2 · error × 3`."""
    return " · ".join(
        f"{_short(answer_list.said(each.verdict, each.text), mode)} × {each.rollouts:,}" for each in found
    )


def _short(text: str, mode: str) -> str:
    line = case_view.in_one_line(text.rstrip("\n"), mode) if not case_view.is_code(mode) else " ".join(text.split())
    return line if len(line) <= _ANSWER else f"{line[: _ANSWER - 1]}…"


def _rate(count: CaseCount | None) -> float:
    return count.passed / count.ran if count and count.ran else 1.0


def _share(count: CaseCount | None) -> str:
    return f"{count.passed:,}/{count.ran:,}" if count else "–"
