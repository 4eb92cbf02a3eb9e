"""Brings the failing line into sight: the one thing that the code view can't do without a script."""

from __future__ import annotations

import streamlit as st

from dashboard import theme

_mount = st.components.v2.component("rollscope_scroll", html="<span></span>", js=theme.asset("scroll.js"))


def to(anchor: str | None, *, key: str) -> None:
    """Scroll the code box to `anchor` when `key` is not the one of the last time."""
    _mount(key="scroll", data={"anchor": anchor, "key": key}, height=1)
