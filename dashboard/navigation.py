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

from dashboard import state

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
