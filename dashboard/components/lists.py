"""Lists of which one row is selected: rows that fill the height of their place, the test cases as letters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from dashboard import escape, theme, widgets

_rows = theme.component("row_list", '<div class="list" role="region"></div>')


class Column(NamedTuple):
    """A column of texts; `width` is a CSS length, "" shares what is left."""

    name: str
    look: Literal["wrap", "line", "number", "mono", "mark"] = "line"
    width: str = ""
    help: str = ""


def row_list(
    columns: Sequence[Column],
    rows: Sequence[Sequence[str]],
    *,
    key: str,
    label: str,
    height: str,
    shown: str,
    on_pick: Callable[[int], None],
    selected: int | None = None,
) -> None:
    """Draw the rows; a click calls `on_pick` with the row's number, from 0.

    `height`: a CSS length; fewer rows take less. `shown`: what the list is about; when it changes, the selected row is
    scrolled into view.
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
    _rows(key=key, data=data, on_pick_change=picked)


_strip = theme.component("strip", '<div class="strip" role="group" aria-label="test cases"></div>')


def case_strip(cases: Sequence[tuple[int, str]], current: int | None, on_pick: Callable[[int], None]) -> None:
    """`cases` are (test index, verdict); a click calls `on_pick` with the index."""

    def picked() -> None:
        if (index := widgets.sent("strip", "pick")) is not None:
            on_pick(int(index))

    data = {
        "cases": [{"index": index, "letter": theme.verdict(word).letter} for index, word in cases],
        "current": current,
        "palette": theme.palette(),
    }
    _strip(key="strip", data=data, on_pick_change=picked)
