"""How far the filter's search in completions and code is; every page shows it until it has ended."""

from __future__ import annotations

import time

import streamlit as st

from dashboard import facts
from dashboard.facts import counted
from dashboard.queries import search
from dashboard.queries.search import Progress
from dashboard.workspace import OpenRun

_POLL_S = 0.5
_DRAW_S = 2.0
"""How often the whole page is drawn with what was found since."""


def watch(run: OpenRun, find: str) -> None:
    """A line while the search runs or when it was stopped, as the page then counts only what was found so far."""
    if not find:
        return
    scan = search.scan(run, find)
    with st.container(key="search_progress"):
        now = scan.progress()
        if now.error:
            facts.banner(now.error, warn=True)
        elif now.state == "running":
            _running(run, find, now.hits, time.monotonic())
        elif now.state == "stopped":
            with st.container(horizontal=True, vertical_alignment="center"):
                facts.note(f"Search stopped: {line(now)}. Only these are shown.", strong=True)
                st.button("Continue", key="search_continue", on_click=scan.resume)


def line(now: Progress) -> str:
    """`12,000 of 200,000 rollouts searched, 31 found`."""
    done = f"{now.done:,} of " if now.state != "finished" else ""
    return f"{done}{counted(now.total, 'rollout')} searched, {now.hits:,} found"


@st.fragment(run_every=_POLL_S)
def _running(run: OpenRun, find: str, shown: int, since: float) -> None:
    scan = search.scan(run, find)
    now = scan.progress()
    is_first = shown == 0 and now.hits > 0
    if now.state != "running" or is_first or (now.hits > shown and time.monotonic() - since > _DRAW_S):
        st.rerun()
    with st.container(horizontal=True, vertical_alignment="center"):
        st.progress(now.done / max(1, now.total), text=line(now), width=420)
        st.button("Stop", key="search_stop", on_click=scan.stop)
