"""The tasks of a comparison: the letters of both sides, and what changed. A click selects a task."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import streamlit as st

from dashboard import escape, theme

LETTERS_SHOWN: Final = 8
"""Samples drawn one by one; of more, the number of each letter."""

_mount = st.components.v2.component(
    "rollscope_compare",
    html='<div class="compare" role="table" aria-label="tasks of both sides"></div>',
    css=theme.asset("compare.css"),
    js=theme.asset("links.js", "compare.js"),
)


class Line(NamedTuple):
    """A task: the letters of A's and B's samples, the change in words, and the address that selects it."""

    task_id: str
    a: str
    b: str
    change: str
    href: str


def show(lines: Sequence[Line], selected: str, on_pick: Callable[[str], None]) -> None:
    """Draw the tasks; a click calls `on_pick` with the task's id."""

    def picked() -> None:
        on_pick(lines[int(st.session_state["compare_tasks"].pick)].task_id)

    data = {
        "rows": [
            {
                "label": escape.text(line.task_id),
                "a": _cells(line.a),
                "b": _cells(line.b),
                "change": line.change,
                "href": line.href,
                "selected": line.task_id == selected,
            }
            for line in lines
        ],
        "palette": theme.palette(),
    }
    _mount(key="compare_tasks", data=data, on_pick_change=picked)


def _cells(letters: str) -> list[tuple[str, str]]:
    """(letter, number after it): each sample, or the number of each letter where there are many."""
    if len(letters) <= LETTERS_SHOWN:
        return [(letter, "") for letter in letters]
    found = Counter(letters)
    return [(letter, f"{found[letter]:,}") for letter in theme.palette() if letter in found]
