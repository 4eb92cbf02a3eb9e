"""Is a task or a test case good? People's judgements and notes, kept in the run's side file."""

from __future__ import annotations

import os

import streamlit as st

from dashboard import facts, widgets
from dashboard.facts import counted
from dashboard.workspace import OpenRun
from evaluator.runs.notes import JUDGEMENTS, Judgement, NotesError, TaskNote, note_task, read_notes

_FAULT = "judgement_fault"


def offer(run: OpenRun, task_id: str, test: int | None = None) -> None:
    """The three buttons, and a note that Enter saves. For the task there are keys, too."""
    said = run.notes.task(task_id, test) or TaskNote(task_id, test)
    place = "task" if test is None else "test"
    typed = f"note_{place}_{task_id}_{test}"
    locked = not run.recorded and not os.access(run.path, os.W_OK)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"judge_{place}"):
        for number, word in enumerate(JUDGEMENTS, 1):
            chosen = said.judgement == word
            widgets.button(
                f"✓ {word}" if chosen else word, f"{word}_{place}", _judge, run, said, None if chosen else word, typed,
                type="primary" if chosen else "secondary", shortcut=str(number) if test is None else None,
                disabled=locked,
            )  # fmt: skip
        st.text_input(
            "Note", said.note, key=typed, placeholder=f"note on {'the task' if test is None else f'test {test}'}",
            label_visibility="collapsed", disabled=locked, on_change=_save, args=(run, said, typed),
        )  # fmt: skip
        if test is None:
            widgets.button("Save", "save_note", _save, run, said, typed, shortcut="S", disabled=locked)
    if locked:
        facts.banner("The run's folder is read-only here, so no judgement can be saved.", warn=True)
    if test is None and (fault := st.session_state.pop(_FAULT, "")):
        facts.banner(fault, warn=True)


def words(run: OpenRun) -> dict[str, str]:
    """What is judged of each task, in a few words: `bad`, `test 3 bad`."""
    found: dict[str, list[str]] = {}
    for note in sorted(run.notes.tasks, key=lambda note: -1 if note.test is None else note.test):
        if word := note.judgement or ("note" if note.note else ""):
            found.setdefault(note.task_id, []).append(word if note.test is None else f"test {note.test} {word}")
    return {task_id: ", ".join(parts) for task_id, parts in found.items()}


def totals(run: OpenRun) -> dict[str, str]:
    """Of each judgement that was made, how often: `1 task, 2 test cases`."""
    found: dict[str, str] = {}
    for word in JUDGEMENTS:
        said = [note.test for note in run.notes.tasks if note.judgement == word]
        tasks = said.count(None)
        counts = {"task": tasks, "test case": len(said) - tasks}
        if said:
            found[word] = ", ".join(counted(count, noun) for noun, count in counts.items() if count)
    return found


def _judge(run: OpenRun, said: TaskNote, judgement: Judgement | None, typed: str) -> None:
    note = str(st.session_state.get(typed, said.note))
    try:
        note_task(run.path, said.task_id, said.test, judgement=judgement, tags=said.tags, note=note)
    except NotesError as error:
        st.session_state[_FAULT] = str(error)


def _save(run: OpenRun, said: TaskNote, typed: str) -> None:
    """Save the note. A click on a judgement also ends the typing of a note: what it has just written stays."""
    try:
        now = read_notes(run.path).task(said.task_id, said.test) or TaskNote(said.task_id, said.test)
    except NotesError as error:
        st.session_state[_FAULT] = str(error)
        return
    _judge(run, now, now.judgement, typed)
