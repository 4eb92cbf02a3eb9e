"""A row per model: pass@1 with its interval, the mean reward and the shares of the verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import streamlit as st

from dashboard import escape, facts, state, theme
from dashboard.queries.aggregates import NO_MODEL, ModelCount, VerdictCount
from dashboard.state import View
from evaluator.metrics import Interval

_mount = st.components.v2.component(
    "rollscope_model_table",
    html='<div class="models"></div>',
    css=theme.asset("model_table.css"),
    js=theme.asset("links.js", "model_table.js"),
)


class Line(NamedTuple):
    """A model; without `pass_at_1` where the filter leaves no meaning to it."""

    model: ModelCount
    pass_at_1: Interval | None
    verdicts: Sequence[VerdictCount]


def show(lines: Sequence[Line], view: View) -> None:
    """Draw the table. A click on a name filters this page by the model, or no longer; one on a count opens rollouts."""
    rows = [_Row(line, view) for line in lines]
    data = {"rows": [row.data() for row in rows], "palette": theme.palette()}
    _mount(key="model_table", data=data)


class _Row:
    """What a row shows, and the addresses of its cells, by the cell's name."""

    def __init__(self, line: Line, view: View) -> None:
        self.line = line
        self.selected = view.filter.model == line.model.model
        self.hrefs: dict[str, str] = {}
        if line.model.model == NO_MODEL:
            return
        here = view.place().but(model=line.model.model)
        self.hrefs["model"] = state.href("overview", here.but(model="") if self.selected else here)
        self.hrefs["n"] = state.href("rollouts", here)
        for each in line.verdicts:
            self.hrefs[each.verdict] = state.href("rollouts", here.but(verdicts=(each.verdict,)))

    def data(self) -> dict[str, object]:
        """For the component; texts are escaped."""
        model, total, reward = self.line.model
        interval = self.line.pass_at_1
        known = interval is not None and interval.n > 0
        return {
            "model": escape.text(model),
            "n": f"{total:,}",
            "reward": facts.number(reward),
            "interval": [interval.low, interval.value, interval.high] if interval and known else None,
            "rate": facts.number(interval.value) if interval and known else "–",
            "range": f"{interval.low:.3f}–{interval.high:.3f}" if interval and known else "",
            "parts": [self._part(each, total) for each in self.line.verdicts],
            "selected": self.selected,
            "hrefs": self.hrefs,
        }

    def _part(self, each: VerdictCount, total: int) -> dict[str, object]:
        share = each.rollouts / total
        title = f"{each.verdict}: {each.rollouts:,} ({share:.1%})"
        return {"cell": each.verdict, "letter": theme.verdict(each.verdict).letter, "share": share, "title": title}
