"""Edit a completion on its page and run it again, in the grading sandbox.

Edits and their results stay in the visitor's session; the run is never changed.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import msgspec
import streamlit as st

from dashboard import escape, facts, sandbox_state, state, widgets
from dashboard.completion import completion_view, trial_run
from dashboard.controls import Screen
from dashboard.queries.records import CaseRecord, RolloutRecord, TaskRecord
from dashboard.state import View
from dashboard.text import diff_view
from evaluator.model import Grade, Mode, Task, Verdict

TIMES = 5
"""How often a code is run to see whether its result stays the same."""
_SESSION = "edits"

Identity = tuple[str, str, str]
"""The run's path, the task and the sample."""


class Rerun(NamedTuple):
    """The last run of an edit: on one test case or, where `test` is None, on all."""

    text: str
    test: int | None
    grades: tuple[Grade, ...]


class _Session(NamedTuple):
    """What a visitor has edited."""

    edits: dict[Identity, str]
    reruns: dict[Identity, Rerun]
    revisions: dict[Identity, int]
    """How often an edit was discarded: a new key fills the editor anew."""
    asked: dict[Identity, str]
    """What to run next: `one`, `all` or `five`."""


def edit(screen: Screen, rollout: RolloutRecord) -> str | None:
    """The edited code of this session; None where it was not edited."""
    return _session().edits.get(_identity(screen, rollout))


def editor(screen: Screen, rollout: RolloutRecord, record: TaskRecord | None, index: int | None) -> None:
    """The code in an editor with the buttons that run it; these are off, with the reason, where code may not run."""
    task = msgspec.json.decode(record.task, type=Task) if record else None
    reason = trial_run.nothing_to_run(task, screen.run.manifest) if task else "The dataset does not have its task."
    if index is None:
        reason = reason or "The task has no test case that can run."
    if task is not None and reason is None and trial_run.runs_code(task, screen.run.manifest):
        reason = sandbox_state.refusal()
    if reason:
        facts.banner(reason, warn=True)
    for difference in trial_run.unlike_the_run(screen.run.manifest):
        facts.note(difference)
    buttons, said = st.container(), st.empty()  # above the editor, which may reach below the window
    text = _text_area(screen, rollout, record)
    with buttons:  # when the edit is known
        _buttons(screen, rollout, off=reason is not None)
    asked = _session().asked.pop(_identity(screen, rollout), None)
    if asked and task is not None and not reason:
        with said, st.spinner("Running in the sandbox"):
            _run(screen, rollout, task, text, None if asked == "all" else index, TIMES if asked == "five" else 1)


def result(screen: Screen, rollout: RolloutRecord, record: TaskRecord | None, test: CaseRecord | None) -> bool:
    """The last result of the edit beside the run's own, and what was changed. False where there is none."""
    found = _session().reruns.get(_identity(screen, rollout))
    if found is None or record is None:
        if not screen.run.recorded:
            facts.note("No run of the edit yet: this is the run's own result.")
        return False
    if found.text != (edit(screen, rollout) or original(rollout, record)):
        facts.note("The code has changed since this result: run it again.")
    grade = found.grades[-1]
    _beside(screen, rollout, test, found)
    if len(found.grades) > 1:
        facts.note(stability(found.grades, found.test), strong=True)
    if len(grade.cases) > 1 and found.test is None:
        st.html(completion_view.letters(grade.cases))
    case = trial_run.deciding(grade, found.test)
    if case is not None and case.verdict is not Verdict.PASSED:
        trial_run.show_case(case, found.text, record.mode, grade.checker)
    _changes(original(rollout, record), found.text)
    return True


def original(rollout: RolloutRecord, record: TaskRecord | None) -> str:
    """What the editor starts with: the code, or the whole text where there is none, as for an answer."""
    is_answer = record is not None and record.mode == Mode.ANSWER
    return rollout.completion if rollout.code is None or is_answer else rollout.code


def stability(grades: tuple[Grade, ...], test: int | None) -> str:
    """Whether several runs of the same code agree: `5 of 5 passed`, or `3 passed, 2 time_limit: flaky`."""
    cases = [trial_run.deciding(grade, test) for grade in grades]
    verdicts = [
        case.verdict if case and test is not None else grade.verdict for case, grade in zip(cases, grades, strict=True)
    ]
    counts = Counter(verdict.value for verdict in verdicts).most_common()
    if len(counts) > 1:
        return ", ".join(f"{count} {word}" for word, count in counts) + ": flaky"
    outputs = {case.actual for case in cases if case}
    differ = ", with different outputs: flaky" if len(outputs) > 1 else ""
    return f"{len(grades)} of {len(grades)} {counts[0][0]}{differ}"


def _buttons(screen: Screen, rollout: RolloutRecord, *, off: bool) -> None:
    identity, view = _identity(screen, rollout), screen.view
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        asked = _ask, identity, view
        widgets.button("Run this test", "rerun_one", *asked, "one", shortcut="X", type="primary", disabled=off)
        widgets.button("All tests", "rerun_all", *asked, "all", disabled=off)
        about = "This test, to see whether its result stays the same"
        widgets.button(f"{TIMES} times", "rerun_five", *asked, "five", disabled=off, help=about)
        unedited = edit(screen, rollout) is None
        widgets.button("Discard the edit", "rerun_discard", _discard, identity, type="tertiary", disabled=unedited)


def _ask(identity: Identity, view: View, what: str) -> None:
    """Note what to run, and show the tab where its result will be."""
    _session().asked[identity] = what
    state.write(view.but(tab=""))


def _text_area(screen: Screen, rollout: RolloutRecord, record: TaskRecord | None) -> str:
    identity, start = _identity(screen, rollout), original(rollout, record)
    key = f"edit_{screen.run.name}_{rollout.row}_{_session().revisions.get(identity, 0)}"

    def keep() -> None:
        _keep(identity, st.session_state[key], start)

    with st.container(key="rerun_editor"):
        # Filled by its default: a text put into the session's state may never reach the browser.
        filled = _session().edits.get(identity, start)
        text = st.text_area("Code", filled, key=key, label_visibility="collapsed", on_change=keep) or ""
    _keep(identity, text, start)  # also where the text came with a click, and no change was told
    if escape.text(text) != text:
        facts.note("Some characters in the editor are invisible or reorder others: the code view shows them.")
    return text


def _run(screen: Screen, rollout: RolloutRecord, task: Task, text: str, index: int | None, times: int) -> None:
    manifest = screen.run.manifest
    grader = trial_run.trial_grader(manifest.options.grader)
    grades = tuple(trial_run.trial_grade(task, grader, text, index, manifest) for _ in range(times))
    _session().reruns[_identity(screen, rollout)] = Rerun(text, index, grades)


def _beside(screen: Screen, rollout: RolloutRecord, test: CaseRecord | None, found: Rerun) -> None:
    """The run's result and the edit's in a table: of the test case that was run, or of all."""
    grade = found.grades[-1]
    case = trial_run.deciding(grade, found.test) if found.test is not None else None
    rows: list[tuple[str, str, str]]
    if case is None:
        before = rollout.verdict
        rows = [
            ("reward", _number(rollout.reward), _number(grade.reward)),
            ("tests passed", "" if screen.run.recorded else f"{rollout.tests_passed} of {rollout.tests_total}",
             f"{grade.tests_passed} of {grade.tests_total}"),
            ("message", _first_line(rollout.error_message), _first_line(grade.error_message)),
        ]  # fmt: skip
    else:
        own = test if test is not None and test.test_index == case.index else None
        before = own.verdict if own else rollout.verdict
        message = case.difference.message if case.difference else case.error_message
        rows = [
            ("message", _first_line((own.difference or own.error_message) if own else None), _first_line(message)),
            ("wall", facts.seconds(own.wall_s if own else None), facts.seconds(case.wall_s)),
        ]
    if not grade.verified:
        own_reason = "" if screen.run.recorded else rollout.unverified_reason or ""
        rows.append(("not verified", own_reason, grade.unverified_reason or ""))
    title = "all tests" if found.test is None else f"test {found.test}"
    rows = [row for row in rows if row[1] or row[2]]
    after = (case or grade).verdict.value
    heads = ("recorded", f"run here, {title}") if screen.run.recorded else (f"in the run, {title}", "edited")
    st.html(completion_view.beside(heads, rows, (before, after)))


def _changes(before: str, after: str) -> None:
    if before == after:
        facts.note("The code is unchanged.")
        return
    facts.section("Changes to the code")
    ended = [text.removesuffix("\n") + "\n" for text in (before, after)]
    st.html(diff_view.one_column(*ended))


def _keep(identity: Identity, text: str, start: str) -> None:
    if text == start:
        _session().edits.pop(identity, None)
    else:
        _session().edits[identity] = text


def _discard(identity: Identity) -> None:
    """Forget the edit and its result."""
    _session().edits.pop(identity, None)
    _session().reruns.pop(identity, None)
    _session().revisions[identity] = _session().revisions.get(identity, 0) + 1


def _session() -> _Session:
    found: _Session = st.session_state.setdefault(_SESSION, _Session({}, {}, {}, {}))
    return found


def _identity(screen: Screen, rollout: RolloutRecord) -> Identity:
    return str(screen.run.path), rollout.task_id, rollout.sample_id


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:g}"


def _first_line(text: str | None) -> str:
    return (text or "").split("\n", 1)[0][:200]
