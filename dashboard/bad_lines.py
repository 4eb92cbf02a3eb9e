"""The page Bad lines: the bad lines of the input files by reason, each with its place and its beginning."""

from __future__ import annotations

import streamlit as st

from dashboard import controls, facts, state
from dashboard.components import lists
from dashboard.components.lists import Column
from dashboard.facts import counted
from dashboard.input_problems import BadLines
from dashboard.state import View
from dashboard.text import tables_view

_PER_PAGE = 100
_ALL = "all"
_ROOM = 220
_FILES_SHOWN = 3
"""Files whose command is shown."""


def show(found: BadLines, view: View) -> None:
    """Everything that is known of the lines that could not be used."""
    if not found.total:
        facts.banner("Every line could be used.")
        return
    files = list(dict.fromkeys(bad.path for bad in found.problems))
    _head(found, files)
    left, right = st.columns([1, 3], gap="medium")
    with left:
        reason = _reasons(found, view)
    with right:
        _lines(found, view, reason, with_file=len(files) > 1)


def _head(found: BadLines, files: list[str]) -> None:
    """How many, of which files, and what to do next."""
    known = [
        ("rollouts that could be used", f"{found.rows:,}"),
        ("file" if len(files) == 1 else "files", _named(files)),
    ]
    facts.line(known, title=f"{counted(found.total, 'line')} could not be used")
    if more := found.total - len(found.problems):
        facts.note(f"The first {len(found.problems):,} are kept and listed here; {more:,} more are only counted.")
    for path in files[:_FILES_SHOWN]:
        facts.banner("To check the file again, and see every bad line of it:", command=found.command(path))


def _named(files: list[str]) -> str:
    more = len(files) - _FILES_SHOWN
    return ", ".join(files[:_FILES_SHOWN]) + (f" and {more:,} more" if more > 0 else "")


def _reasons(found: BadLines, view: View) -> str:
    """The counts by reason, of which one can be chosen. Returns it, or "" for all."""
    counts = sorted(found.reasons.items(), key=lambda item: (-item[1], item[0]))
    names = ["", *(name for name, _ in counts)]
    chosen = view.view if view.view in found.reasons else ""
    counted_here = sum(found.reasons.values())
    rows = [[name or _ALL, f"{count:,}"] for name, count in [("", counted_here), *counts]]
    lists.row_list(
        [Column("reason", "wrap"), Column("lines", "number", "5em")],
        rows,
        key="reasons",
        label="reasons",
        height="fit-content",
        shown="reasons",
        on_pick=lambda place: state.write(view.but(view=names[place], page=1)),
        selected=names.index(chosen),
    )
    if counted_here < found.total:
        facts.note(f"The counts are of the {counted_here:,} lines that are kept.")
    return chosen


def _lines(found: BadLines, view: View, reason: str, *, with_file: bool) -> None:
    """One page of the kept lines with this reason."""
    listed = [bad for bad in found.problems if not reason or found.reason(bad) == reason]
    if not listed:
        facts.note("None of these is among the lines that are kept.")
        return
    page = controls.page_of(view, len(listed), _PER_PAGE)
    st.html(tables_view.bad_lines(listed[(page - 1) * _PER_PAGE : page * _PER_PAGE], with_file=with_file, room=_ROOM))
    controls.pager(view, len(listed), _PER_PAGE, "lines")
