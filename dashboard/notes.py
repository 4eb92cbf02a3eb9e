"""Tags and a note on one rollout, kept in the run's side file."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import streamlit as st

from dashboard import escape, facts
from dashboard.controls import Screen
from dashboard.queries.records import RolloutRecord
from dashboard.text import tables_view
from dashboard.workspace import OpenRun
from evaluator.runs.notes import NotesError, RolloutNote, note_rollout

LONGEST_TAG = 60
LONGEST_NOTE = 10_000
_OTHERS = 30
"""Tags of other rollouts that can be chosen without typing them."""


def offer(screen: Screen, rollout: RolloutRecord) -> None:
    """The rollout's tags and note as chips, and the button that opens the editor."""
    found = _note(screen.run, rollout)
    if found.tags or found.note:
        st.html(tables_view.chips(found.tags, found.note), width="content")
    if st.button("Note", key="note", shortcut="M", help="Tag this rollout, or write a note on it"):
        _editor(screen.run, rollout)


@st.dialog("Tags and note", width="medium")
def _editor(run: OpenRun, rollout: RolloutRecord) -> None:
    found = _note(run, rollout)
    place = f"{rollout.row}_{run.notes_stamp}"  # another rollout's editor, or one saved elsewhere, starts anew
    note = st.text_area("Note", found.note, height=140, max_chars=LONGEST_NOTE, key=f"note_text_{place}")
    known = _known(run, found)
    chosen = list(found.tags)
    if known:
        # A list that opens would cover what is below it, and drop a tag that is typed but not yet entered.
        chosen = st.pills(
            "Tags", known, selection_mode="multi", default=chosen, format_func=escape.markdown, key=f"note_tags_{place}"
        )
    typed = st.text_input("New tags", placeholder="separated by commas", key=f"note_new_{place}")
    if st.button("Save", key="note_save", type="primary", shortcut="S"):
        tags = [*chosen, *typed.split(",")]
        if fault := save(run.path, rollout.task_id, rollout.sample_id, tags, note):
            facts.banner(fault, warn=True)
        else:
            st.rerun()


def _known(run: OpenRun, found: RolloutNote) -> list[str]:
    """The rollout's own tags, and the most common ones of others."""
    used = Counter(tag for note in run.notes.rollouts for tag in note.tags)
    others = sorted(used.keys() - found.tags, key=lambda tag: (-used[tag], tag))
    return list(dict.fromkeys([*found.tags, *others[:_OTHERS]]))


def save(run: Path, task_id: str, sample_id: str, typed: list[str], note: str) -> str:
    """Keep tags and a note, or remove them if both are empty. Returns why that is impossible, else ""."""
    tags = tidied(typed)
    long = next((tag for tag in tags if len(tag) > LONGEST_TAG), None)
    if long is not None:
        return f"A tag has at most {LONGEST_TAG} characters, not {len(long):,}: {long[:LONGEST_TAG]}…"
    try:
        note_rollout(run, task_id, sample_id, tags=tags, note=note.strip())
    except NotesError as error:
        return str(error)
    return ""


def tidied(typed: list[str]) -> tuple[str, ...]:
    """Tags without white space round them, in one line, each once; empty ones are left out."""
    return tuple(dict.fromkeys(tag for tag in (" ".join(text.split()) for text in typed) if tag))


def _note(run: OpenRun, rollout: RolloutRecord) -> RolloutNote:
    return run.notes.rollout(rollout.task_id, rollout.sample_id) or RolloutNote(rollout.task_id, rollout.sample_id)
