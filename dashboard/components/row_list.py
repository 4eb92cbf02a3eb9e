"""A list of rows of which one is selected; it fills the height that its place has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import streamlit as st

from dashboard import escape, theme, widgets

_mount = st.components.v2.component(
    "rollscope_row_list",
    html='<div class="list" role="region"></div>',
    css=theme.asset("row_list.css"),
    js=theme.asset("row_list.js"),
)


class Column(NamedTuple):
    """A column of texts; `width` is a CSS length, "" shares what is left."""

    name: str
    look: Literal["wrap", "line", "number", "mono", "mark"] = "line"
    width: str = ""
    help: str = ""


def show(
    columns: Sequence[Column], rows: Sequence[Sequence[str]], *, key: str, label: str, height: str, shown: str,
    on_pick: Callable[[int], None], selected: int | None = None,
) -> None:  # fmt: skip
    """Draw the rows; a click calls `on_pick` with the row's number, from 0.

    `height`: a CSS length. `shown`: what the list is about; when it changes, the selected row is scrolled into view.
    """

    def picked() -> None:
        if (row := widgets.sent(key, "pick")) is not None:
            on_pick(int(row))

    data = {
        "columns": [column._asdict() for column in columns],
        "rows": [{"cells": [escape.text(cell) for cell in row]} for row in rows],
        "selected": selected,
        "label": label,
        "height": height,
        "shown": shown,
    }
    _mount(key=key, data=data, on_pick_change=picked)
