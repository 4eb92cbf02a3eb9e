"""Lists of verdicts, error clusters or flags with a count and perhaps a bar; each row links to its rollouts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import streamlit as st

from dashboard import escape, state, theme
from dashboard.components import grid
from dashboard.queries.aggregates import Cluster, FlagCount, VerdictCount
from dashboard.state import View
from dashboard.wording import counted

if TYPE_CHECKING:
    from streamlit.components.v2.types import ComponentRenderer


def _component(name: str, look: str) -> ComponentRenderer:
    html = f'<div class="{look}"></div>'
    return st.components.v2.component(
        name, html=html, css=theme.asset("bars.css"), js=theme.asset("links.js", "chips.js", "bars.js")
    )


_verdicts = _component("rollscope_verdict_bars", "bars")
_legend = _component("rollscope_verdict_legend", "bars line")
_clusters = _component("rollscope_cluster_bars", "bars wide tall")
_flags = _component("rollscope_flag_bars", "bars wide")
_unverified = _component("rollscope_unverified_bars", "bars wide whole")


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
    bars = [Bar(c.verdict, c.verdict, c.rollouts, f"{c.rollouts / total:.1%}", _only(c, view)) for c in counts]
    _show(_verdicts, "verdict_bars", bars, tracks=True, recorded=recorded)


def unlinked(counts: Sequence[VerdictCount]) -> None:
    """The same without links, for a run that is still growing."""
    bars = [Bar(c.verdict, c.verdict, c.rollouts, "", None) for c in counts]
    _show(_verdicts, "unlinked_bars", bars, tracks=True)


def legend(counts: Sequence[VerdictCount], unverified: int, view: View, *, recorded: bool) -> None:
    """The grid's letters and mark with their words and counts, in one line; a click filters."""
    bars = [Bar(c.verdict, c.verdict, c.rollouts, "", _only(c, view)) for c in counts]
    if unverified:
        target = view.place().but(verified=view.filter.unverified)
        bars.append(Bar(None, f"{grid.UNVERIFIED_MARK} not verified", unverified, "", target))
    _show(_legend, "verdict_legend", bars, tracks=False, recorded=recorded)


def clusters(found: Sequence[Cluster], view: View, *, recorded: bool) -> None:
    """One row per error cluster, as many as the window is high, the others by scrolling; a click shows its rollouts."""
    bars = [
        Bar(c.verdict, c.name.removeprefix(f"{c.verdict}: "), c.rollouts, counted(c.tasks, "task"),
            view.place().but(err=c.name))
        for c in found
    ]  # fmt: skip
    _show(_clusters, "cluster_bars", bars, tracks=False, recorded=recorded)


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


def _only(count: VerdictCount, view: View) -> View:
    return view.place().but(verdicts=(count.verdict,))


def _fold(mount: ComponentRenderer, key: str, bars: Sequence[Bar], shown: int) -> None:
    """The first rows, and the others in an expander."""
    _show(mount, key, bars[:shown], tracks=False)
    if others := bars[shown:]:
        with st.expander(f"{len(others):,} more"):
            _show(mount, f"more_{key}", others, tracks=False)


def _show(mount: ComponentRenderer, key: str, bars: Sequence[Bar], *, tracks: bool, recorded: bool = False) -> None:
    total = sum(bar.rollouts for bar in bars) or 1
    rows = [
        {
            "letter": theme.verdict(bar.verdict).letter if bar.verdict else None,
            "label": escape.text(bar.label),
            "count": f"{bar.rollouts:,}",
            "share": bar.rollouts / total,
            "note": bar.note,
            "href": state.href("rollouts", bar.target) if bar.target is not None else None,
        }
        for bar in bars
    ]
    data = {"rows": rows, "bars": tracks, "recorded": recorded, "palette": theme.palette()}
    mount(key=key, data=data)
