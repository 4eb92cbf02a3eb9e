"""Every page is reached through `app.py`, even if the first visitor of a new server opens another address.

Streamlit takes a `pages` folder for its older kind of multi-page app until `st.navigation` has been called
once in the process. Until then an address such as /completion runs the page's file alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

import streamlit as st

from dashboard import facts, state

if TYPE_CHECKING:
    from streamlit.navigation.page import StreamlitPage


_inside: ContextVar[str] = ContextVar("inside", default="")


_OLD = {"trouble": "bad_lines"}
"""Addresses of earlier versions, and the pages that they open."""


def pages() -> StreamlitPage:
    """Declare the pages. Returns the current one; an old address leads to the page's own."""
    found = [st.Page(state.path(name), title=title, default=name == "overview") for name, title in state.PAGES.items()]
    old = [st.Page(lambda: None, url_path=name, title=name) for name in _OLD]
    current = st.navigation([*found, *old], position="hidden")
    if current.url_path in _OLD:
        st.switch_page(state.path(_OLD[current.url_path]), query_params=st.query_params.to_dict())
    return current


@contextmanager
def entered(current: StreamlitPage) -> Iterator[None]:
    """While it is open, a page knows that `app.py` runs it, and its own name."""
    token = _inside.set(current.url_path or "overview")
    try:
        yield
    finally:
        _inside.reset(token)


def page() -> str:
    """The name of the page that is drawn, one of `state.PAGES`."""
    return _inside.get()


def require() -> None:
    """Start again through `app.py` if this page's file was run alone."""
    if not page():
        pages()
        st.rerun()


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
        "Ctrl+Enter": "the same, in the editor; Tab indents there, Esc leaves it",
        "M": "tags and a note",
        "S": "save the note",
    },
    "tasks": {"1": "the task is good", "2": "bad", "3": "unsure", "S": "save the note"},
}


def offer_keys(page: str) -> None:
    """The button that lists the keys of this page."""
    if st.button("Keys", shortcut="H", key="keys", type="tertiary"):
        _listed(page)


@st.dialog("Keys")
def _listed(page: str) -> None:
    facts.keys(_KEYS.get(page, {}) | _EVERYWHERE)
    facts.note(f"On {state.PAGES[page]}. Keys work while no field has the focus.")
