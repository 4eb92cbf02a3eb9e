"""A task with one test case changed or added, and the dataset with that task, as a download."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence

import msgspec
import streamlit as st

from dashboard.queries import dataset as tasks
from dashboard.workspace import OpenRun
from evaluator.formats.writers import task_row
from evaluator.graders import shown_cases
from evaluator.model import Mode, Task, TestCase
from evaluator.syntax import tree_of


class PlaceError(ValueError):
    """The test code has no single place for the change. The message says so in one line."""


def corrected(task: Task, like: TestCase | None, case: TestCase, *, add: bool) -> Task:
    """The task with `case` instead of its test case `like`, or after it with `add`. Raises `PlaceError`."""
    if task.mode in (Mode.CALL, Mode.STDIN):
        cases = [case if like and each.index == like.index and not add else each for each in task.cases]
        cases += [case] if add or like is None else []
        numbered = tuple(msgspec.structs.replace(each, index=place) for place, each in enumerate(cases))
        return msgspec.structs.replace(task, cases=numbered)
    return msgspec.structs.replace(
        task, test=_changed(task.test or "", like.input if like else "", case.input, add=add)
    )


def _changed(test: str, old: str, new: str, *, add: bool) -> str:
    """The test code with the lines that differ put in their place, indented as the lines that were there."""
    ours, theirs = old.strip("\n").split("\n"), new.strip("\n").split("\n")
    code = test.split("\n")
    if add:
        place = _place(code, ours)
        first = _indent(code[place]) - _indent(ours[0])
        code[place + len(ours) : place + len(ours)] = [" " * first + line for line in theirs]
        return _checked(code)
    for _, start, end, begin, stop in reversed(difflib.SequenceMatcher(None, ours, theirs, False).get_opcodes()):
        if ours[start:end] == theirs[begin:stop]:
            continue
        # An insertion has no lines of its own: it stands beside a line that is kept.
        held = ours[start:end] or ours[max(0, start - 1) : max(1, start)]
        place = _place(code, held)
        deeper = [_indent(code[place + n]) - _indent(line) for n, line in enumerate(held)]
        lines = [" " * deeper[min(n, len(held) - 1)] + line for n, line in enumerate(theirs[begin:stop])]
        at = place if start < end or not start else place + 1
        code[at : at + end - start] = lines
    return _checked(code)


def _place(code: list[str], held: list[str]) -> int:
    """Where these lines stand, whatever their indentation."""
    bare = [line.strip() for line in held]
    found = [at for at in range(len(code)) if [line.strip() for line in code[at : at + len(held)]] == bare]
    if len(found) != 1:
        where = "more than once" if found else "not"
        raise PlaceError(f"The lines to change are {where} in the test code: change it in the dataset itself.")
    return found[0]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _checked(code: list[str]) -> str:
    text = "\n".join(code)
    if tree_of(text) is None:
        raise PlaceError("With the change, the test code does not parse: change it in the dataset itself.")
    return text


def changes(run: OpenRun) -> dict[str, Task]:
    """The tasks that this visitor has changed, by id; may be written to."""
    found: dict[str, Task] = st.session_state.setdefault(f"edited_{run.path}", {})
    return found


def replaced(run: OpenRun, task_id: str, cases: Sequence[TestCase]) -> set[int]:
    """Which of the task's test cases this visitor has changed."""
    task = changes(run).get(task_id)
    if task is None:
        return set()
    now = {(case.input, case.expected) for case in shown_cases(task, run.manifest.options.grader)}
    return {case.index for case in cases if (case.input, case.expected) not in now}


def dataset(run: OpenRun, changed: Mapping[str, Task]) -> bytes:
    """All tasks of the run as native rows, those in `changed` as they are there."""
    rows = (task_row(changed.get(task.task_id, task)) for task in tasks.every(run))
    return b"".join(msgspec.json.encode(row) + b"\n" for row in rows)
