"""Figures, bars and tables of letters or counts; what is counted opens with a click."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

import streamlit as st

from dashboard import documents, escape, meanings, state, theme
from dashboard.components import grid
from dashboard.facts import counted
from dashboard.queries.aggregates import Cluster, FlagCount, VerdictCount
from dashboard.state import View

if TYPE_CHECKING:
    from streamlit.components.v2.types import ComponentRenderer


_cards = theme.component("cards", '<div class="cards"></div>', "links.js")


class Card(NamedTuple):
    """A figure with its name, a note under it, and the view of what it counts on a page."""

    name: str
    value: str
    note: str
    target: View | None = None
    page: str = "rollouts"


def cards(cards: Sequence[Card], *, key: str = "cards") -> None:
    """Draw the figures; a click on one with a target opens it."""
    data = [
        {
            "name": card.name,
            "value": card.value,
            "note": card.note,
            "href": state.href(card.page, card.target) if card.target is not None else None,
            "about": about.sentence,
            "doc": about.doc and documents.href(about.doc),
        }
        for card in cards
        for about in [meanings.of(card.name)]
    ]
    _cards(key=key, data={"cards": data})


def _component(name: str, look: str) -> ComponentRenderer:
    return theme.component(name, f'<div class="{look}"></div>', "links.js", "chips.js", files="bars")


_verdicts = _component("verdict_bars", "bars")
_legend = _component("verdict_legend", "bars line")
_clusters = _component("cluster_bars", "bars wide tall")
_flags = _component("flag_bars", "bars wide")
_unverified = _component("unverified_bars", "bars wide whole")


class Bar(NamedTuple):
    """One row. With a `target`, the view of its rollouts, it is a link."""

    verdict: str | None
    """None for rows of several verdicts."""
    label: str
    rollouts: int
    note: str
    target: View | None


def verdicts(counts: Sequence[VerdictCount], view: View, *, recorded: bool) -> None:
    """One bar per verdict; a click shows its rollouts. `recorded`: the rollouts came with them, see `chips.js`."""
    total = sum(c.rollouts for c in counts) or 1
    bars = [
        Bar(c.verdict, _word(c, recorded=recorded), c.rollouts, f"{c.rollouts / total:.1%}", _only(c, view))
        for c in counts
    ]
    _bars(_verdicts, "verdict_bars", bars, tracks=True, recorded=recorded)


def unlinked(counts: Sequence[VerdictCount]) -> None:
    """The same without links, for a run that is still growing."""
    bars = [Bar(c.verdict, c.verdict, c.rollouts, "", None) for c in counts]
    _bars(_verdicts, "unlinked_bars", bars, tracks=True)


def legend(counts: Sequence[VerdictCount], unverified: int, view: View, *, recorded: bool) -> None:
    """The grid's letters and mark with their words and counts, in one line; a click filters."""
    bars = [Bar(c.verdict, _word(c, recorded=recorded), c.rollouts, "", _only(c, view)) for c in counts]
    if unverified:
        target = view.place().but(verified=view.filter.unverified)
        bars.append(Bar(None, f"{grid.UNVERIFIED_MARK} not verified", unverified, "", target))
    _bars(_legend, "verdict_legend", bars, tracks=False, recorded=recorded)


def clusters(found: Sequence[Cluster], view: View, *, recorded: bool) -> None:
    """One row per error cluster, as many as the window is high, the others by scrolling; a click shows its rollouts."""
    bars = [
        Bar(c.verdict, c.name.removeprefix(f"{c.verdict}: "), c.rollouts, _spread(c), view.place().but(err=c.name))
        for c in found
    ]  # fmt: skip
    _bars(_clusters, "cluster_bars", bars, tracks=False, recorded=recorded)


def _spread(cluster: Cluster) -> str:
    """In how many tasks, and in how many ways if these are more."""
    ways = f", {counted(cluster.behaviours, 'behaviour')}" if cluster.behaviours > cluster.tasks else ""
    return counted(cluster.tasks, "task") + ways


def flags(found: Sequence[FlagCount], view: View, shown: int) -> None:
    """One row per flag; a click shows its rollouts."""
    bars = [Bar(None, c.name, c.rollouts, counted(c.tasks, "task"), view.place().but(flag=c.name)) for c in found]
    _fold(_flags, "flag_bars", bars, shown)


def unverified(found: Sequence[FlagCount], view: View, shown: int) -> None:
    """One row per reason why rollouts are not verified; a click shows them."""
    prefix = f"{state.UNVERIFIED}: "
    bars = [
        Bar(None, c.name.removeprefix(prefix), c.rollouts, counted(c.tasks, "task"), view.place().but(verified=c.name))
        for c in found
    ]
    _fold(_unverified, "unverified_bars", bars, shown)


def _word(count: VerdictCount, *, recorded: bool) -> str:
    return meanings.word(theme.verdict(count.verdict), recorded=recorded)


def _only(count: VerdictCount, view: View) -> View:
    return view.place().but(verdicts=(count.verdict,))


def _fold(mount: ComponentRenderer, key: str, bars: Sequence[Bar], shown: int) -> None:
    """The first rows, and the others in an expander."""
    _bars(mount, key, bars[:shown], tracks=False)
    if others := bars[shown:]:
        with st.expander(f"{len(others):,} more"):
            _bars(mount, f"more_{key}", others, tracks=False)


def _bars(mount: ComponentRenderer, key: str, bars: Sequence[Bar], *, tracks: bool, recorded: bool = False) -> None:
    total = sum(bar.rollouts for bar in bars) or 1
    rows = [
        {
            "letter": theme.verdict(bar.verdict).letter if bar.verdict else None,
            "about": _about(bar, recorded=recorded),
            "label": escape.text(bar.label),
            "count": f"{bar.rollouts:,}",
            "share": bar.rollouts / total,
            "note": bar.note,
            "href": state.href("rollouts", bar.target) if bar.target is not None else None,
        }
        for bar in bars
    ]
    data = {"rows": rows, "bars": tracks, "recorded": recorded, "palette": theme.palette(recorded=recorded)}
    mount(key=key, data=data)


def _about(bar: Bar, *, recorded: bool) -> str:
    """The sentence of a row that is a verdict or a mark itself; "" for others, whose label may be cut."""
    if bar.verdict and bar.label == meanings.word(verdict := theme.verdict(bar.verdict), recorded=recorded):
        return meanings.explained(verdict, recorded=recorded)
    return meanings.of("not verified").sentence if bar.label.startswith(grid.UNVERIFIED_MARK) else ""


_counts = theme.component("count_table", '<div class="counts"></div>', "links.js", "chips.js")


class Count(NamedTuple):
    """A number, and the view of what it counts."""

    rollouts: int
    target: View


class CountLine(NamedTuple):
    """A recorded verdict, a note, and a count for each column and for all."""

    verdict: str
    note: str
    counts: Sequence[Count]


def count_table(lines: Sequence[CountLine], columns: Sequence[str], *, key: str, corner: str) -> None:
    """Draw the table; `columns` are verdicts. A click on a number opens its rollouts."""
    data = {
        "head": [theme.verdict(word).letter for word in columns],
        "corner": corner,
        "rows": [
            {
                "letter": theme.verdict(line.verdict).letter,
                "label": escape.text(line.verdict),
                "note": escape.text(line.note),
                "cells": [_count_cell(count) for count in line.counts],
            }
            for line in lines
        ],
        "palette": theme.palette(),
    }
    _counts(key=key, data=data)


def _count_cell(count: Count) -> dict[str, str | None]:
    if not count.rollouts:
        return {"text": "·", "href": None}
    return {"text": f"{count.rollouts:,}", "href": state.href("rollouts", count.target)}


LETTERS_SHOWN: Final = 6
"""Letters of a cell that are drawn one by one; of more, the number of each."""

_letters = theme.component("letter_table", '<div class="letters" role="table"></div>', "links.js", "chips.js")


class LetterLine(NamedTuple):
    """A row: its label, the letters of each column, a note, and the address that a click leads to."""

    label: str
    letters: Sequence[str]
    note: str
    href: str
    selected: bool = False


def letter_table(
    lines: Sequence[LetterLine],
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
    _letters(key=key, data=data)


def _cells(letters: str) -> list[tuple[str, str]]:
    """(letter, number after it): each sample, or the number of each letter where there are many."""
    if len(letters) <= LETTERS_SHOWN:
        return [(letter, "") for letter in letters]
    found = Counter(letters)
    return [(letter, f"{found[letter]:,}") for letter in theme.palette() if letter in found]
