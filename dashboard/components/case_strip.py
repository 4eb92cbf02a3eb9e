"""The test cases of the Completion page as letters, the current one framed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from dashboard import theme, widgets

_mount = st.components.v2.component(
    "rollscope_strip",
    html='<div class="strip" role="group" aria-label="test cases"></div>',
    css=theme.asset("strip.css"),
    js=theme.asset("strip.js"),
)


def show(cases: Sequence[tuple[int, str]], current: int | None, on_pick: Callable[[int], None]) -> None:
    """`cases` are (test index, verdict); a click calls `on_pick` with the index."""

    def picked() -> None:
        if (index := widgets.sent("strip", "pick")) is not None:
            on_pick(int(index))

    data = {
        "cases": [{"index": index, "letter": theme.verdict(word).letter} for index, word in cases],
        "current": current,
        "palette": theme.palette(),
    }
    _mount(key="strip", data=data, on_pick_change=picked)
