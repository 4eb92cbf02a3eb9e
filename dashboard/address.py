"""Changes the browser's address with one history entry per navigation, so that "back" returns to the last page.

`st.switch_page` makes two: the target's query on the old page, then the target.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import streamlit as st

from dashboard import theme

_mount = st.components.v2.component("rollscope_go", html="<span></span>", js=theme.asset("go.js"))
_numbers = itertools.count(1)


class Order(NamedTuple):
    """An address to open once, however often the browser gets it."""

    address: str
    number: int


def order(address: str) -> Order:
    """A new order."""
    return Order(address, next(_numbers))


def change(wanted: Order | None, page: str, *, key: str = "go", replace: bool = False) -> None:
    """On a page, open a relative address; `replace` replaces the current history entry. None opens nothing."""
    address, number = wanted or (None, 0)
    data = {"address": address, "number": number, "replace": replace, "key": key, "page": page}
    with st.container(key=f"{key}_place"):
        _mount(key=key, data=data, height=1)
