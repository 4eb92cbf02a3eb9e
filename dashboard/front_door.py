"""Every page is reached through `app.py`, also when a new server's first visitor asks for another page.

Streamlit takes a `pages` folder for its older kind of multi-page app until `st.navigation` has been called
once in the process. Until then an address such as /completion runs the page's file alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import streamlit as st

from dashboard import state

_inside: ContextVar[str] = ContextVar("inside", default="")


def pages() -> Any:
    """Declare the pages. Returns the one that the address asks for."""
    found = [st.Page(state.path(name), title=title, default=name == "overview") for name, title in state.PAGES.items()]
    return st.navigation(found, position="hidden")


@contextmanager
def entered(current: Any) -> Iterator[None]:
    """While it is open, a page knows that `app.py` is around it, and which one it is."""
    token = _inside.set(current.url_path or "overview")
    try:
        yield
    finally:
        _inside.reset(token)


def page() -> str:
    """The name of the page that is drawn, one of `state.PAGES`."""
    return _inside.get()


def require() -> None:
    """Start again through `app.py` when this page's file was run alone."""
    if not _inside.get():
        pages()
        st.rerun()
