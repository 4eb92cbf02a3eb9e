"""Changes the browser's address: one history entry a navigation, so that "back" goes where the visitor was.

`st.switch_page` makes two: the target's query on the page that is left, then the target.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import streamlit as st

from dashboard import theme

_mount = st.components.v2.component("rollscope_go", html="<span></span>", js=theme.asset("go.js"))
_numbers = itertools.count(1)


class Order(NamedTuple):
    """An address to open, once however often the browser is told."""

    address: str
    number: int


def order(address: str) -> Order:
    """An order that no browser has carried out yet."""
    return Order(address, next(_numbers))


def change(wanted: Order | None, *, key: str = "go", replace: bool = False) -> None:
    """Open a relative address; with `replace` in place of the present history entry. None opens nothing."""
    address, number = wanted or (None, 0)
    data = {"address": address, "number": number, "replace": replace, "key": key}
    with st.container(key=f"{key}_place"):
        _mount(key=key, data=data, height=1)
