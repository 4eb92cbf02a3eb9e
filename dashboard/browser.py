"""What pages ask of the browser: to change its address, and to say when a page may be drawn again.

An address is changed with one history entry per navigation, so that "back" returns to the last page: `st.switch_page`
makes two, the target's query on the old page, then the target. Drawing a page closes an open dialog and drops a text
that is half typed. So the browser is asked first, and says when it is free.
"""

from __future__ import annotations

import hashlib
import itertools
from typing import NamedTuple

import streamlit as st

from dashboard import theme

_go = theme.component("go", "<span></span>", "typing.js")
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
        _go(key=key, data=data, height=1)


_redraw = theme.component("redraw")


def when_free(drawn: str, now: str) -> None:
    """In a fragment that is drawn all the time: draw the whole page once `now` differs from what was `drawn`."""
    due = "" if now == drawn else hashlib.sha256(now.encode()).hexdigest()
    if _redraw(key="redraw", data={"due": due}, height=1, on_free_change=lambda: None).free and due:
        st.rerun()
