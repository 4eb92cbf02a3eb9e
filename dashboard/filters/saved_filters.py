"""Filters that people saved under a name, in the run's side file: everybody who opens the run has them."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlencode

import streamlit as st

from dashboard import escape, facts, state
from dashboard.state import Filter, View
from dashboard.workspace import OpenRun
from evaluator.runs.notes import NotesError, save_filter

_FAULT = "_saved_filters_fault"
_NAME = "saved_name"
_LONGEST = 60


def offer(run: OpenRun, view: View) -> None:
    """The list of saved filters: each can be chosen and removed, and the current one saved."""
    saved = run.notes.filters
    with st.popover("Saved", key="saved_filters"):
        for place, (name, query) in enumerate(sorted(saved.items())):
            _offer_one(run, view, name, query, place)
        if not saved:
            facts.note("No filter is saved with this run.")
        st.text_input("Save the current filter as", key=_NAME, max_chars=_LONGEST, disabled=not view.filter)
        st.button(
            "Save this filter", key="save_filter", disabled=not view.filter, on_click=_save, args=(run, view.filter)
        )
        if fault := st.session_state.pop(_FAULT, ""):
            facts.banner(fault, warn=True)


def _offer_one(run: OpenRun, view: View, name: str, query: str, place: int) -> None:
    filter_ = state.parse(dict(parse_qsl(query))).filter
    with st.container(horizontal=True, gap="xsmall", key=f"saved_row_{place}"):
        label = escape.markdown(f"{name} (chosen)" if filter_ == view.filter else name)
        chosen = view.but(filter=filter_, page=1)
        st.button(label, key=f"saved_{place}", width="stretch", on_click=state.write, args=(chosen,))
        st.button("Remove", key=f"remove_{place}", type="tertiary", on_click=_change, args=(run, name, None))


def _save(run: OpenRun, filter_: Filter) -> None:
    name = " ".join(st.session_state[_NAME].split())
    if not name:
        st.session_state[_FAULT] = "Write a name first."
        return
    _change(run, name, urlencode(View(filter=filter_).params(), errors="backslashreplace"))
    if _FAULT not in st.session_state:
        st.session_state[_NAME] = ""


def _change(run: OpenRun, name: str, query: str | None) -> None:
    """Save or remove a filter, or leave the fault to show if the side file can't be written."""
    try:
        save_filter(run.path, name, query)
    except NotesError as error:
        st.session_state[_FAULT] = str(error)
