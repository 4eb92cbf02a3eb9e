"""The keys that work on a page, listed under H. Each is also printed on its button."""

from __future__ import annotations

import streamlit as st

from dashboard import facts, state

_EVERYWHERE = {"H": "this list", "Tab": "the next button, link or field", "Esc": "close a dialog"}
_GRID = {
    "arrows": "move the cursor in the grid",
    "Enter": "open the cell",
    "Home, End": "the first and the last cell of the row",
}
_KEYS: dict[str, dict[str, str]] = {
    "overview": {"F": "open the first failure"},
    "rollouts": _GRID,
    "completion": {
        "J": "the next rollout in the filter",
        "K": "the previous one",
        "N": "the next failing test case",
        "U": "up to the list",
        "E": "edit the code and run it again",
        "X": "run this test case",
        "M": "tags and a note",
        "S": "save the note",
    },
    "tasks": {"1": "the task is good", "2": "bad", "3": "unsure", "S": "save the note"},
}


def offer(page: str) -> None:
    """The button that lists the keys of this page."""
    if st.button("Keys", shortcut="H", key="keys", type="tertiary"):
        _listed(page)


@st.dialog("Keys")
def _listed(page: str) -> None:
    facts.keys(_KEYS.get(page, {}) | _EVERYWHERE)
    facts.note(f"On {state.PAGES[page]}. Keys work while no field has the focus.")
