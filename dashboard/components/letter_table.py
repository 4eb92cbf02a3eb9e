"""A table of links: a label, letters of verdicts in columns, a note. For tasks on two sides, or rollouts by checker."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

import streamlit as st

from dashboard import escape, theme

LETTERS_SHOWN: Final = 8
"""Letters of a cell that are drawn one by one; of more, the number of each."""

_mount = st.components.v2.component(
    "rollscope_letter_table",
    html='<div class="letters" role="table"></div>',
    css=theme.asset("letter_table.css"),
    js=theme.asset("links.js", "chips.js", "letter_table.js"),
)


class Line(NamedTuple):
    """A row: its label, the letters of each column, a note, and the address that a click leads to."""

    label: str
    letters: Sequence[str]
    note: str
    href: str
    selected: bool = False


def show(
    lines: Sequence[Line],
    *,
    key: str,
    head: Sequence[str],
    room: int,
    wide: bool = False,
    recorded: Sequence[bool] = (),
) -> None:
    """Draw the rows; a click opens the row's address.

    `head` names the label, the columns and the note. `room`: pixels of the page's height that others need. `wide`: the
    note is long, and gets half of the width. `recorded`: of each column, whether rollouts came with its verdicts.
    """

    data = {
        "rows": [
            {
                "label": escape.text(line.label),
                "cells": [_cells(letters) for letters in line.letters],
                "note": escape.text(line.note),
                "href": line.href,
                "selected": line.selected,
            }
            for line in lines
        ],
        "head": [escape.text(name) for name in head],
        "room": room,
        "wide": wide,
        "recorded": list(recorded),
        "palette": theme.palette(),
    }
    _mount(key=key, data=data)


def _cells(letters: str) -> list[tuple[str, str]]:
    """(letter, number after it): each sample, or the number of each letter where there are many."""
    if len(letters) <= LETTERS_SHOWN:
        return [(letter, "") for letter in letters]
    found = Counter(letters)
    return [(letter, f"{found[letter]:,}") for letter in theme.palette() if letter in found]
