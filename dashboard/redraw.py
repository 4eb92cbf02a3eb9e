"""Draws a page again when what it shows has changed, without taking anything out of the visitor's hands.

Drawing a page closes an open dialog and drops a text that is half typed. So the browser is asked first, and says
when it is free.
"""

from __future__ import annotations

import hashlib

import streamlit as st

from dashboard import theme

_mount = st.components.v2.component("rollscope_redraw", html="<span></span>", js=theme.asset("redraw.js"))


def when_free(drawn: str, now: str) -> None:
    """In a fragment that is drawn all the time: draw the whole page once `now` differs from what was `drawn`."""
    due = "" if now == drawn else hashlib.sha256(now.encode()).hexdigest()
    if _mount(key="redraw", data={"due": due}, height=1, on_free_change=lambda: None).free and due:
        st.rerun()
