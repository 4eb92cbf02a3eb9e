"""What all figures share; and lines with 95% bands: pass@k against k, reward and pass rate against step or length."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import plotly.graph_objects as go
import streamlit as st

from dashboard import escape, state, theme
from dashboard.estimates import Curve, step_rate, step_reward
from dashboard.facts import counted
from dashboard.queries.distributions import Means
from dashboard.state import View
from evaluator.runs.metrics import Interval

Target = tuple[str, View]
"""A page and the view that a click on a mark opens there. The first custom datum of a mark is its target's index."""

_LINES = (
    ("#2F5D8C", "#8A6D3B", "#3E9C94", "#1C2A36", "#7A5FA0", "#8B8F94"),
    ("#7FB0E0", "#C9A86A", "#6CCBC1", "#E3E6E9", "#B7A0DD", "#8B949C"),
)
"""On the light page and on the dark one: none is a verdict's. Dashes and marks also distinguish the lines."""
_DASHES = ("solid", "dash")
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "star", "circle-open")
_EACH_A_TICK = 5
_CONFIG = {"displayModeBar": False, "scrollZoom": False, "typesetMath": False}


class Look(NamedTuple):
    """How a line or its marks are drawn."""

    colour: str
    dash: str
    symbol: str

    def faint(self, opacity: float) -> str:
        """The colour for a band."""
        red, green, blue = (int(self.colour[i : i + 2], 16) for i in (1, 3, 5))
        return f"rgba({red},{green},{blue},{opacity})"


def look(index: int) -> Look:
    """The look of the line with this number; the first is the accent."""
    colours = _LINES[theme.is_dark()]
    dash = _DASHES[index % len(_DASHES)]
    return Look(colours[index % len(colours)], dash, _SYMBOLS[index % len(_SYMBOLS)])


def soft() -> str:
    """The colour of what explains: reference lines and their names."""
    return "#9AA4AD" if theme.is_dark() else "#5A636B"


def count_rollouts(figure: go.Figure, most: int) -> None:
    """The y axis counts rollouts, at most so many. Of few, Plotly would have ticks at half a rollout, rounded."""
    each = 1 if most <= _EACH_A_TICK else None
    figure.update_yaxes(title_text="rollouts", rangemode="tozero", tickformat=",d", dtick=each)


def dressed(figure: go.Figure, height: int, *, legend: bool = False) -> go.Figure:
    """The figure with what all have in common."""
    figure.update_layout(
        height=height,
        margin={"l": 4, "r": 8, "t": 8, "b": 4},
        showlegend=legend,
        # Beside the marks: above, up to eleven names would cover them.
        legend={"x": 1.01, "xanchor": "left", "y": 1, "yanchor": "top", "tracegroupgap": 0},
        dragmode=False,
        clickmode="event+select",
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"size": 12},
    )
    figure.update_xaxes(automargin=True, showgrid=False, title_standoff=6)
    figure.update_yaxes(automargin=True, title_standoff=12)
    return figure


def show(figure: go.Figure, key: str, alt: str, targets: Sequence[Target] = (), *, fills: bool = False) -> None:
    """Draw a figure; a click on a mark opens its target, if there are any. `fills`: as high as the place around it."""
    height: Literal["stretch", "content"] = "stretch" if fills else "content"
    if fills:
        figure.update_layout(height=None)
    if not targets:
        st.plotly_chart(figure, key=key, config=_CONFIG, alt=alt, height=height)
        return

    def picked() -> None:
        points = st.session_state[key]["selection"]["points"]
        if points:
            data = points[0].get("customdata") or []
            values = list(data.values()) if isinstance(data, dict) else list(data)
            if values:
                state.go(*targets[int(values[0])])

    st.plotly_chart(figure, key=key, config=_CONFIG, alt=alt, height=height, on_select=picked, selection_mode="points")


_ASIDE = 0.06
"""The distance between curves of a single point, which would hide each other."""
_MANY = 40
"""With more points the marks of a line would hide its band."""
_LABELS = 8
"""Names on an axis of lengths or of k, at most."""


class _Mark(NamedTuple):
    """A point of a line: its place, its estimate, what hovers over it, and its target's index."""

    x: float
    estimate: Interval
    text: str
    target: int


def pass_at_k(curves: Sequence[Curve], *, height: int) -> go.Figure:
    """pass@k against k on a doubling axis with its 95% band, one curve per model."""
    figure = go.Figure()
    several = len(curves) > 1
    longest = max((len(curve.points) for curve in curves), default=0)
    for index, curve in enumerate(curves):
        aside = 0.0 if longest > 1 else (index - (len(curves) - 1) / 2) * _ASIDE
        name = escape.plotly(curve.model)
        marks = [
            _Mark(
                math.log2(point.k) + aside, point.estimate, f"pass@{point.k}, {counted(point.tasks, 'task')} of {name}",
                index,
            )
            for point in curve.points
        ]  # fmt: skip
        _add_line(figure, name, marks, look(index), band=max(0.04, 0.2 / len(curves)))
    points = [point for curve in curves for point in curve.points]
    tasks = max((point.tasks for point in points), default=0)
    named = f"{counted(len(curves), 'model')}, " if several else ""
    figure.update_xaxes(title_text=f"k ({named}n = {counted(tasks, 'task')}, 95% band)")
    ks = sorted({point.k for point in points})
    if len(ks) <= _LABELS:
        figure.update_xaxes(tickvals=[math.log2(k) for k in ks], ticktext=[f"{k:,}" for k in ks])
    else:
        _doubling(figure, 1, ks[-1])
    if longest == 1:
        figure.update_xaxes(range=[-0.6, 0.6])
    figure.update_yaxes(title_text="pass@k", range=[0, 1.02], tickformat=".1f")
    return dressed(figure, height, legend=several)


def by_step(points: Sequence[Means], *, rates: bool, height: int) -> go.Figure:
    """Mean reward, and with `rates` the pass rate, against the training step."""
    figure = go.Figure()
    _add_means(figure, points, lambda point: (point.low + point.high) / 2, "step", rates=rates)
    figure.update_xaxes(title_text=f"step (n = {_rollouts(points)}; mean and 95% over tasks)", tickformat=",d")
    return _means_dressed(figure, points, height)


def by_length(points: Sequence[Means], *, rates: bool, height: int) -> go.Figure:
    """Mean reward, and with `rates` the pass rate, against the completion's length on a doubling axis."""
    figure = go.Figure()
    _add_means(
        figure, points, lambda point: math.log2(max(1, math.sqrt(point.low * point.high))), "length", rates=rates
    )
    figure.update_xaxes(title_text=f"characters of the completion (n = {_rollouts(points)}; mean and 95% over tasks)")
    _doubling(figure, min((point.low for point in points), default=1), max((point.high for point in points), default=1))
    return _means_dressed(figure, points, height)


def _add_means(
    figure: go.Figure, points: Sequence[Means], place: Callable[[Means], float], noun: str, *, rates: bool
) -> None:
    parts = list(dict.fromkeys(point.part for point in points))
    same = all(point.reward == point.rate for point in points)
    kinds: list[tuple[str, Callable[[Means], Interval]]] = []
    if not same or not rates:
        kinds.append(("mean reward", step_reward))
    if rates and (same or len(parts) == 1):
        kinds.append(("mean reward = pass rate" if same else "pass rate", step_rate))
    index = 0
    for part in parts:
        for kind, estimate in kinds:
            name = kind if len(parts) == 1 else escape.plotly(part)
            marks = [
                _Mark(place(point), estimate(point), f"{noun} {_range(point)}, {counted(point.rollouts, 'rollout')}"
                      f"<br>{kind}, {escape.plotly(part)}", target)
                for target, point in enumerate(points)
                if point.part == part and (point.reward if estimate is step_reward else point.rate) is not None
            ]  # fmt: skip
            _add_line(figure, name, marks, look(index), band=0.12)
            index += 1


def _means_dressed(figure: go.Figure, points: Sequence[Means], height: int) -> go.Figure:
    several = len({point.part for point in points}) > 1
    lines = sum(trace.showlegend is not False for trace in figure.data)
    name = "mean reward" if several or lines > 1 else figure.data[-1].name if figure.data else ""
    figure.update_yaxes(title_text="" if lines > 1 and not several else name, tickformat=".3~g", zeroline=False)
    values = [point.reward for point in points if point.reward is not None]
    if values and min(values) >= 0 and max(values) <= 1:
        figure.update_yaxes(range=[0, 1.02])
    return dressed(figure, height, legend=lines > 1)


def _range(point: Means) -> str:
    return f"{point.low:,}" if point.low == point.high else f"{point.low:,} to {point.high:,}"


def _rollouts(points: Sequence[Means]) -> str:
    return counted(sum(point.rollouts for point in points), "rollout")


def _doubling(figure: go.Figure, low: int, high: int) -> None:
    """Names the powers of two on an axis of base-2 logarithms."""
    first, last = math.floor(math.log2(max(low, 1))), math.ceil(math.log2(max(high, 1)))
    places = list(range(first, last + 1, 1 + (last - first) // _LABELS))
    figure.update_xaxes(tickvals=places, ticktext=[f"{2**place:,}" for place in places])


def _add_line(figure: go.Figure, name: str, marks: Sequence[_Mark], line: Look, *, band: float) -> None:
    """The line with its band; a single point has an error bar instead."""
    known = [mark for mark in marks if not math.isnan(mark.estimate.low)]
    xs = [mark.x for mark in known]
    if len(marks) > 1:
        figure.add_scatter(
            x=xs + xs[::-1],
            y=[mark.estimate.high for mark in known] + [mark.estimate.low for mark in known][::-1],
            fill="toself",
            fillcolor=line.faint(band),
            mode="lines",
            line={"width": 0},
            hoverinfo="skip",
            showlegend=False,
            legendgroup=name,
        )
    figure.add_scatter(
        x=[mark.x for mark in marks],
        y=[mark.estimate.value for mark in marks],
        error_y={
            "visible": len(marks) == 1,
            "symmetric": False,
            "array": [mark.estimate.high - mark.estimate.value for mark in marks],
            "arrayminus": [mark.estimate.value - mark.estimate.low for mark in marks],
            "width": 4,
        },
        mode="lines+markers",
        cliponaxis=False,
        line={"color": line.colour, "width": 2 if len(marks) <= _MANY else 1.5, "dash": line.dash},
        marker={"size": 6 if len(marks) <= _MANY else 2.5, "color": line.colour, "symbol": line.symbol},
        name=name,
        legendgroup=name,
        customdata=[[mark.target] for mark in marks],
        text=[f"{mark.text}<br>{_interval(mark.estimate)}" for mark in marks],
        hovertemplate="%{text}<extra></extra>",
    )


def _interval(estimate: Interval) -> str:
    if math.isnan(estimate.low):
        return f"{estimate.value:.3f}, a single task"
    return f"{estimate.value:.3f}, 95%: {estimate.low:.3f} to {estimate.high:.3f}"
