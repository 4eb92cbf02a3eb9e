"""Changes the browser's address: one history entry a navigation, so that "back" goes where the visitor was.

`st.switch_page` makes two: the target's query on the page that is left, then the target.
"""

from __future__ import annotations

import itertools

import streamlit as st

from dashboard import theme

_mount = st.components.v2.component("rollscope_go", html="<span></span>", js=theme.asset("go.js"))
_numbers = itertools.count(1)


def change(address: str | None, *, key: str = "go", replace: bool = False) -> None:
    """Open a relative address, once; with `replace` in place of the present history entry. None opens nothing."""
    data = {"address": address, "number": next(_numbers) if address else 0, "replace": replace}
    with st.container(key=f"{key}_place"):
        _mount(key=key, data=data, height=1)
