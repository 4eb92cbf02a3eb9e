"""Lists that are charts: verdicts or error clusters with a bar and a count, each a link to its rollouts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import streamlit as st

from dashboard import state, theme
from dashboard.queries import Cluster, VerdictCount
from dashboard.state import View

_verdicts = st.components.v2.component(
    "rollscope_verdict_bars",
    html='<div class="bars"></div>',
    css=theme.asset("bars.css"),
    js=theme.asset("bars.js"),
)
_legend = st.components.v2.component(
    "rollscope_verdict_legend",
    html='<div class="bars line"></div>',
    css=theme.asset("bars.css"),
    js=theme.asset("bars.js"),
)
_clusters = st.components.v2.component(
    "rollscope_cluster_bars",
    html='<div class="bars wide"></div>',
    css=theme.asset("bars.css"),
    js=theme.asset("bars.js"),
)


class Bar(NamedTuple):
    """One row, and the view of the rollouts behind it."""

    letter: str
    label: str
    rollouts: int
    share: float
    note: str
    target: View


def verdicts(counts: Sequence[VerdictCount], view: View) -> None:
    """One bar a verdict; a click shows its rollouts."""
    total = sum(c.rollouts for c in counts) or 1
    most = max((c.rollouts for c in counts), default=1)
    bars = [
        Bar(
            theme.verdict(c.verdict).letter,
            c.verdict,
            c.rollouts,
            c.rollouts / most,
            f"{c.rollouts / total:.1%}",
            view.place().but(verdicts=(c.verdict,)),
        )
        for c in counts
    ]
    _show(_verdicts, "verdict_bars", bars, tracks=True)


def plain(counts: Sequence[VerdictCount]) -> None:
    """The same without links, for a run that is being made."""
    most = max((c.rollouts for c in counts), default=1)
    bars = [Bar(theme.verdict(c.verdict).letter, c.verdict, c.rollouts, c.rollouts / most, "", View()) for c in counts]
    _show(_verdicts, "plain_bars", bars, tracks=True, links=False)


def legend(counts: Sequence[VerdictCount], view: View) -> None:
    """The grid's letters with their words and counts in one line; a click filters."""
    targets = [view.place().but(verdicts=(c.verdict,)) for c in counts]
    bars = [
        Bar(theme.verdict(c.verdict).letter, c.verdict, c.rollouts, 0, "", target)
        for c, target in zip(counts, targets, strict=True)
    ]
    _show(_legend, "verdict_legend", bars, tracks=False)


def clusters(found: Sequence[Cluster], view: View, *, key: str = "cluster_bars") -> None:
    """One row an error cluster; a click shows its rollouts."""
    most = max((c.rollouts for c in found), default=1)
    bars = [
        Bar(
            theme.verdict(c.verdict).letter,
            c.name,
            c.rollouts,
            c.rollouts / most,
            f"{c.tasks:,} task" + ("" if c.tasks == 1 else "s"),
            view.place().but(err=c.name),
        )
        for c in found
    ]
    _show(_clusters, key, bars, tracks=False)


def _show(mount: object, key: str, bars: Sequence[Bar], *, tracks: bool, links: bool = True) -> None:
    def picked() -> None:
        state.go("rollouts", bars[int(st.session_state[key].pick)].target)

    rows = [
        {
            "letter": bar.letter,
            "label": bar.label,
            "count": f"{bar.rollouts:,}",
            "share": bar.share,
            "note": bar.note,
            "href": state.href("rollouts", bar.target) if links else None,
        }
        for bar in bars
    ]
    data = {"rows": rows, "bars": tracks, "palette": theme.palette()}
    mount(key=key, data=data, on_pick_change=picked if links else _nothing)  # type: ignore[operator]


def _nothing() -> None:
    """Bars without links have no clicks to hear of."""
