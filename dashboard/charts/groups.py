"""Tasks and groups of rollouts: pass rates, variances; and how long rollouts took."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import plotly.graph_objects as go

from dashboard import escape, theme
from dashboard.charts.frame import count_rollouts, dressed, look, soft
from dashboard.charts.rewards import verdict_bars
from dashboard.queries.aggregates import Signal
from dashboard.queries.distributions import Spread, WallTimes
from dashboard.wording import counted
from evaluator.model import Verdict

_APART = 120
"""Bars up to this many have a gap between them."""
_FEW = 12
_SMALLEST, _LARGEST = 6, 22
"""Pixels of the mark of one group, and of the most groups."""
_SIDES = (("right", -3), ("left", 3))
"""Where the names of the limits are: beside the lines, outside of both."""
_TIMES = {-3: "1 ms", -2: "10 ms", -1: "100 ms", 0: "1 s", 1: "10 s", 2: "100 s", 3: "1,000 s"}


class Step(NamedTuple):
    """Tasks with the same pass rate, drawn as one bar."""

    rate: float
    tasks: int
    name: str


def pass_rates(steps: Sequence[Step], *, height: int) -> go.Figure:
    """The tasks side by side, the lowest pass rate first: one bar per step, as wide as it has tasks."""
    figure = go.Figure()
    ends = list(itertools.accumulate(step.tasks for step in steps))
    total = ends[-1] if ends else 0
    figure.add_bar(
        x=[end - (step.tasks - 1) / 2 for step, end in zip(steps, ends, strict=True)],
        y=[step.rate for step in steps],
        width=[step.tasks * (0.85 if total <= _APART else 1) for step in steps],
        customdata=[[index] for index in range(len(steps))],
        text=[escape.plotly(step.name) for step in steps],
        textposition="none",
        marker={"color": theme.COLOURS[Verdict.PASSED], "line": {"width": 0}},
        hovertemplate="%{text}<br>pass rate %{y:.0%}<extra></extra>",
    )
    none = sum(step.tasks for step in steps if step.rate == 0)
    every = sum(step.tasks for step in steps if step.rate == 1)
    figure.update_xaxes(title_text=f"tasks, lowest first (n = {total:,}; {none:,} at 0, {every:,} at 1)")
    figure.update_xaxes(tickformat=",d", dtick=1 if total <= _FEW else None)
    figure.update_yaxes(title_text="pass rate", range=[0, 1.02], tickformat=".0%")
    return dressed(figure, height)


def variances(found: Sequence[Spread], signal: Signal, *, height: int) -> go.Figure:
    """Variance of the rewards of each group against its pass rate, and p(1-p), which rewards of 0 and 1 have."""
    figure = go.Figure()
    most = max((each.groups for each in found), default=1)
    rates = [place / 40 for place in range(41)]
    if found and max(each.variance for each in found) <= 0.26:
        figure.add_scatter(
            x=rates, y=[rate * (1 - rate) for rate in rates], mode="lines", hoverinfo="skip",
            line={"color": soft(), "width": 1, "dash": "dot"},
        )  # fmt: skip
        figure.add_annotation(
            x=0.5, y=0.25, text="p(1 - p)", showarrow=False, yshift=9, font={"color": soft(), "size": 11}
        )
    figure.add_scatter(
        x=[each.rate for each in found],
        y=[each.variance for each in found],
        mode="markers",
        cliponaxis=False,
        marker={
            "size": [_SMALLEST + (_LARGEST - _SMALLEST) * math.sqrt((each.groups - 1) / most) for each in found],
            "color": look(0).faint(0.55), "line": {"width": 1, "color": look(0).colour},
        },
        customdata=[[index] for index in range(len(found))],
        text=[escape.plotly(each.task_id) if each.groups == 1 else counted(each.groups, "group") for each in found],
        hovertemplate="%{text}<br>pass rate %{x:.1%}, variance %{y:.3g}<extra></extra>",
    )  # fmt: skip
    flat = f"{signal.flat:,} without signal: {signal.all_fail:,} all fail, {signal.all_pass:,} all pass"
    figure.update_xaxes(title_text=f"pass rate (n = {counted(signal.groups, 'group')}; {flat})", tickformat=".0%")
    figure.update_xaxes(range=[-0.04, 1.04], zeroline=False)
    figure.update_yaxes(title_text="variance of rewards", tickformat=".2~g", rangemode="tozero", zeroline=False)
    return dressed(figure, height)


def wall_times(times: Sequence[WallTimes], limits: Sequence[tuple[float, str]], *, height: int) -> go.Figure:
    """Rollouts by wall time on a logarithmic axis, stacked by verdict, with a line at each of two limits."""
    figure = go.Figure()
    tenths = sorted({each.tenth for each in times})
    names = {each.verdict for each in times}
    for part in [v.value for v in Verdict if v.value in names]:
        own = [each for each in times if each.verdict == part]
        figure.add_bar(
            x=[each.tenth / 10 for each in own],
            y=[each.rollouts for each in own],
            width=0.092,
            customdata=[[tenths.index(each.tenth)] for each in own],
            text=[counted(each.rollouts, "rollout") for each in own],
            hovertext=[_around(each.tenth) for each in own],
            hovertemplate=f"%{{hovertext}}<br>{escape.plotly(part)}: %{{text}}<extra></extra>",
            **verdict_bars(part),
        )
    for (seconds, name), (anchor, shift) in zip(limits, _SIDES, strict=False):
        figure.add_vline(x=math.log10(seconds), line={"color": soft(), "width": 1, "dash": "dash"})
        figure.add_annotation(
            x=math.log10(seconds), y=1, yref="paper", text=name, showarrow=False, xanchor=anchor, yanchor="top",
            xshift=shift, font={"color": soft(), "size": 11},
        )  # fmt: skip
    n = sum(each.rollouts for each in times)
    lowest = min([each / 10 for each in tenths], default=-3) - 0.15
    highest = max([each / 10 for each in tenths] + [math.log10(seconds) for seconds, _ in limits], default=1) + 0.8
    figure.update_layout(barmode="stack", uniformtext={"minsize": 9, "mode": "hide"})
    figure.update_xaxes(title_text=f"wall time of all test cases (n = {counted(n, 'rollout')})")
    figure.update_xaxes(tickvals=list(_TIMES), ticktext=list(_TIMES.values()), range=[lowest, highest])
    heights = Counter[int]()
    for each in times:
        heights[each.tenth] += each.rollouts
    count_rollouts(figure, max(heights.values(), default=0))
    return dressed(figure, height, legend=True)


def edges(tenth: int) -> tuple[float, float]:
    """The times at which a bin of wall times begins and ends, in seconds; never round numbers, which occur."""
    low, high = (10 ** ((tenth + side) / 10) for side in (-0.5, 0.5))
    return round(low, 9), round(high, 9)


def _around(tenth: int) -> str:
    low, high = edges(tenth)
    return f"{low:.3g} to {high:.3g} s"
