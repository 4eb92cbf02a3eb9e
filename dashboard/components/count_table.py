"""Rollouts by two verdicts: a row for each recorded one, a column for each of ours. A number links to its rollouts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import streamlit as st

from dashboard import escape, state, theme
from dashboard.state import View

_mount = st.components.v2.component(
    "rollscope_count_table",
    html='<div class="counts"></div>',
    css=theme.asset("count_table.css"),
    js=theme.asset("links.js", "chips.js", "count_table.js"),
)


class Count(NamedTuple):
    """A number, and the view of what it counts."""

    rollouts: int
    target: View


class Line(NamedTuple):
    """A recorded verdict, a note, and a count for each column and for all."""

    verdict: str
    note: str
    counts: Sequence[Count]


def show(lines: Sequence[Line], columns: Sequence[str], *, key: str, corner: str) -> None:
    """Draw the table; `columns` are verdicts. A click on a number opens its rollouts."""
    data = {
        "head": [theme.verdict(word).letter for word in columns],
        "corner": corner,
        "rows": [
            {
                "letter": theme.verdict(line.verdict).letter,
                "label": escape.text(line.verdict),
                "note": escape.text(line.note),
                "cells": [_cell(count) for count in line.counts],
            }
            for line in lines
        ],
        "palette": theme.palette(),
    }
    _mount(key=key, data=data)


def _cell(count: Count) -> dict[str, str | None]:
    if not count.rollouts:
        return {"text": "·", "href": None}
    return {"text": f"{count.rollouts:,}", "href": state.href("rollouts", count.target)}
