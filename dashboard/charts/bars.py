"""Bars and marks: how rewards are distributed by verdict, model and part; pass rates and variances of tasks and groups;
how long rollouts took.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import plotly.graph_objects as go

from dashboard import escape, theme
from dashboard.charts.curves import count_rollouts, dressed, look, soft
from dashboard.facts import counted
from dashboard.queries.aggregates import Signal
from dashboard.queries.distributions import Ending, PartMean, Spread, WallTimes
from evaluator.model import Verdict
from evaluator.runs.metrics import Interval

_FEW = 12
_BAR = 0.62
"""The height of a model's bar."""

Values = Sequence[tuple[float, str, int]]
"""(reward, verdict, rollouts)."""


def by_verdict(values: Values, width: float, *, height: int) -> go.Figure:
    """Stacked bars of rollouts by reward; where rewards are few, 0 and 1 have their own bars."""
    figure = go.Figure()
    rewards = sorted({reward for reward, _, _ in values})
    bar = width or _gap(rewards) * 0.6
    n = _stack(figure, values, bar, [f"reward {reward:.3g}" for reward in rewards])
    figure.update_xaxes(title_text=f"reward (n = {counted(n, 'rollout')})", tickformat=".3~g")
    if len(rewards) <= _FEW and not width:
        figure.update_xaxes(tickvals=rewards)
    return dressed(figure, height, legend=True)


def endings(found: Sequence[Ending], *, height: int) -> go.Figure:
    """Rollouts by step, stacked by verdict. Each bar's target has its place in `found`."""
    figure = go.Figure()
    values = [((each.low + each.high) / 2, each.verdict, each.rollouts) for each in found]
    names = dict.fromkeys((each.low, each.high) for each in found)
    places = [f"step {low:,}" if low == high else f"steps {low:,} to {high:,}" for low, high in names]
    width = _gap(sorted({x for x, _, _ in values})) * 0.85
    n = _stack(figure, values, width, places, {(x, part): place for place, (x, part, _) in enumerate(values)})
    figure.update_xaxes(title_text=f"step (n = {counted(n, 'rollout')})", tickformat=",d")
    return dressed(figure, height, legend=True)


def _stack(
    figure: go.Figure,
    values: Values,
    width: float,
    places: Sequence[str],
    targets: Mapping[tuple[float, str], int] | None = None,
) -> int:
    """Rollouts stacked by verdict at each place of the x axis; `places` are the places' names. Returns how many.

    `targets`: the target of each bar; without them those of a place share one.
    """
    xs = sorted({x for x, _, _ in values})
    names = {name for _, name, _ in values}
    for part in [v.value for v in Verdict if v.value in names]:
        own = [(x, count) for x, name, count in values if name == part]
        figure.add_bar(
            x=[x for x, _ in own],
            y=[count for _, count in own],
            width=width,
            customdata=[[targets[x, part] if targets else xs.index(x)] for x, _ in own],
            text=[counted(count, "rollout") for _, count in own],
            hovertext=[places[xs.index(x)] for x, _ in own],
            hovertemplate=f"%{{hovertext}}<br>{escape.plotly(part)}: %{{text}}<extra></extra>",
            **_verdict_bars(part),
        )
    heights = Counter[float]()
    for x, _, count in values:
        heights[x] += count
    figure.update_layout(barmode="stack", uniformtext={"minsize": 9, "mode": "hide"})
    count_rollouts(figure, max(heights.values(), default=0))
    return heights.total()


def by_model(means: Sequence[tuple[str, Interval]], *, height: int) -> go.Figure:
    """A bar per model: the mean of its rewards over tasks, with its 95% interval and its value."""
    figure = go.Figure()
    estimates = [mean for _, mean in means]
    figure.add_bar(
        x=[mean.value for mean in estimates],
        y=list(range(len(means)))[::-1],
        orientation="h",
        width=_BAR,
        error_x={
            "symmetric": False, "array": [mean.high - mean.value for mean in estimates],
            "arrayminus": [mean.value - mean.low for mean in estimates], "width": 4, "thickness": 1.5,
            "color": look(0).colour,
        },
        customdata=[[index] for index in range(len(means))],
        hovertext=[f"{escape.plotly(name)}<br>95%: {mean.low:.3f} to {mean.high:.3f}" for name, mean in means],
        hovertemplate="%{hovertext}<extra></extra>",
        marker={"color": look(0).faint(0.3), "line": {"width": 0}},
    )  # fmt: skip
    n = max((mean.n for mean in estimates), default=0)
    figure.update_xaxes(title_text=f"mean reward over tasks (n = {counted(n, 'task')}, 95%)", tickformat=".3~g")
    if all(mean.low >= 0 and mean.high <= 1 for mean in estimates):
        figure.update_xaxes(range=[0, 1.02])
    names = [f"{escape.plotly(name)} {mean.value:.3f}" for name, mean in reversed(means)]
    figure.update_yaxes(
        tickvals=list(range(len(means))), ticktext=names, showgrid=False, zeroline=False, range=[-0.6, len(means) - 0.4]
    )
    return dressed(figure, height)


def parts(found: Sequence[PartMean], *, height: int) -> go.Figure:
    """The mean of each part of the reward, a mark per model."""
    figure = go.Figure()
    names = list(dict.fromkeys(each.name for each in found))
    models = list(dict.fromkeys(each.model for each in found))
    for index, model in enumerate(models):
        own = [(place, each) for place, each in enumerate(found) if each.model == model and each.mean is not None]
        figure.add_scatter(
            x=[each.mean for _, each in own],
            y=[len(names) - 1 - names.index(each.name) for _, each in own],
            mode="markers",
            marker={"size": 9, "color": look(index).colour, "symbol": look(index).symbol},
            name=escape.plotly(model),
            customdata=[[place] for place, _ in own],
            text=[
                f"{escape.plotly(each.name)}, {escape.plotly(model)}<br>mean of {counted(each.rollouts, 'rollout')}"
                for _, each in own
            ],
            hovertemplate="%{text}: %{x:.3f}<extra></extra>",
        )
    figure.update_xaxes(title_text=f"mean of the part ({counted(len(names), 'part')})", tickformat=".3~g")
    ticks = [escape.plotly(name) for name in reversed(names)]
    figure.update_yaxes(tickvals=list(range(len(names))), ticktext=ticks, range=[-0.5, len(names) - 0.5])
    return dressed(figure, height, legend=len(models) > 1)


def _verdict_bars(part: str) -> dict[str, object]:
    """Name, colour and letter of a verdict's bars. The letter is for readers who see no colours."""
    verdict = theme.verdict(part)
    marker: dict[str, object] = {"color": theme.COLOURS[verdict], "line": {"width": 0}}
    if verdict in theme.HATCHED:
        marker["pattern"] = {"shape": "/"}
    font = {"color": theme.ink(theme.COLOURS[verdict]), "size": 11}
    return {
        "name": f"{verdict.letter} {escape.plotly(part)}", "marker": marker, "texttemplate": verdict.letter,
        "textposition": "inside", "insidetextanchor": "middle", "textangle": 0, "insidetextfont": font,
    }  # fmt: skip


def _gap(rewards: Sequence[float]) -> float:
    return min((b - a for a, b in itertools.pairwise(rewards)), default=1.0)


_APART = 120
"""Bars up to this many have a gap between them."""
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
            x=0.28, y=0.2, text="p(1 - p)", showarrow=False, xshift=-26, font={"color": soft(), "size": 11}
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
    values = [(each.tenth / 10, each.verdict, each.rollouts) for each in times]
    n = _stack(figure, values, 0.092, list(map(_around, tenths)))
    for (seconds, name), (anchor, shift) in zip(limits, _SIDES, strict=False):
        figure.add_vline(x=math.log10(seconds), line={"color": soft(), "width": 1, "dash": "dash"})
        figure.add_annotation(
            x=math.log10(seconds), y=1, yref="paper", text=name, showarrow=False, xanchor=anchor, yanchor="top",
            xshift=shift, font={"color": soft(), "size": 11},
        )  # fmt: skip
    lowest = min([each / 10 for each in tenths], default=-3) - 0.15
    highest = max([each / 10 for each in tenths] + [math.log10(seconds) for seconds, _ in limits], default=1) + 0.8
    figure.update_xaxes(title_text=f"wall time of all test cases (n = {counted(n, 'rollout')})")
    figure.update_xaxes(tickvals=list(_TIMES), ticktext=list(_TIMES.values()), range=[lowest, highest])
    return dressed(figure, height, legend=True)


def edges(tenth: int) -> tuple[float, float]:
    """The times at which a bin of wall times begins and ends, in seconds; never round numbers, which occur."""
    low, high = (10 ** ((tenth + side) / 10) for side in (-0.5, 0.5))
    return round(low, 9), round(high, 9)


def _around(tenth: int) -> str:
    low, high = edges(tenth)
    return f"{low:.3g} to {high:.3g} s"
