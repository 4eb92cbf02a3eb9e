"""A table of ours, of which a click anywhere in a row opens it and a click on a header sorts; `st.dataframe` can't.

The component sets every text as text. Sorting is the caller's, in SQL, as a page of rows is not all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from dashboard import escape, theme, widgets

_mount = theme.component(
    "table", '<div class="scroller" tabindex="0" role="group" aria-label="table"></div>', "links.js", "chips.js"
)


class Header(NamedTuple):
    """A column: its name for the sort, its label, and how it looks. Numbers are aligned right."""

    name: str
    label: str
    look: Literal["", "number", "wide", "long", "tight"] = ""
    title: str = ""
    sortable: bool = True


class Verdict(NamedTuple):
    """A verdict's letter on its colour; outlined if the rollout came with it, with a corner if it is not verified."""

    word: str
    text: str = ""
    recorded: bool = False
    verified: bool = True


class Match(NamedTuple):
    """A cell with a line of text in which a match is marked."""

    before: str
    hit: str
    after: str


class Counts(NamedTuple):
    """A cell with rollouts by verdict."""

    verdicts: Sequence[tuple[str, int]]


Cell = str | Verdict | Match | Counts | None


class Row(NamedTuple):
    """Its cells and its address; without one it does not open."""

    cells: Sequence[Cell]
    href: str | None


def show(
    headers: Sequence[Header],
    rows: Sequence[Row],
    *,
    key: str,
    sort: str,
    height: str,
    linked: int,
    on_sort: Callable[[str], None],
    selected: int | None = None,
) -> None:
    """Draw the table. A click on a row opens its address; on a header, it calls `on_sort` with the order.

    `linked` is the number of the column whose text is the link.
    """

    def sorted_by() -> None:
        name = widgets.sent(key, "sort")
        if header := next((header for header in headers if header.name == name), None):
            on_sort(next_sort(sort, header))

    data = {
        "columns": [{**header._asdict(), "sorted": _direction(sort, header.name)} for header in headers],
        "rows": [{"cells": [_cell(cell) for cell in row.cells], "href": row.href} for row in rows],
        "palette": theme.palette(),
        "height": height,
        "linked": linked,
        "selected": selected,
    }
    _mount(key=key, data=data, on_sort_change=sorted_by)


def next_sort(sort: str, header: Header) -> str:
    """The order after a click on a header: its better direction first, then the other, then none."""
    up, down = header.name, f"-{header.name}"
    order = ["", down, up] if header.look == "number" else ["", up, down]
    return order[(order.index(sort) + 1) % 3] if sort in order else order[1]


def _direction(sort: str, name: str) -> str:
    return {name: "up", f"-{name}": "down"}.get(sort, "")


def _cell(cell: Cell) -> object:
    match cell:
        case None | str():
            return cell and escape.text(cell)
        case Verdict():
            letter = theme.verdict(cell.word).letter
            marks = {"recorded": cell.recorded, "unverified": not cell.verified}
            return {"letter": letter, "text": escape.text(cell.text)} | {
                name: True for name, is_so in marks.items() if is_so
            }
        case Match():
            return {"parts": [escape.text(part) for part in cell]}
        case Counts():
            return {"counts": [[theme.verdict(word).letter, f"{count:,}"] for word, count in cell.verdicts]}
