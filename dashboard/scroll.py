"""Scrolls the code view to the failing line, for which it needs a script."""

from __future__ import annotations

import streamlit as st

from dashboard import theme

_mount = st.components.v2.component("rollscope_scroll", html="<span></span>", js=theme.asset("scroll.js"))


def to(anchor: str | None, *, key: str) -> None:
    """Scroll the code box to `anchor` if `key` differs from the last call's."""
    _mount(key="scroll", data={"anchor": anchor, "key": key}, height=1)
