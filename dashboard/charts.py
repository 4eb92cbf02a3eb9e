"""The Plotly figures. Verdicts have the grid's colours; axes have names with n; nothing is animated."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

import plotly.graph_objects as go
import streamlit as st

from dashboard import escape, theme
from dashboard.estimates import Curve
from dashboard.queries.distributions import OTHER_MODELS
from dashboard.wording import counted
from evaluator.model import Verdict

_MODEL_GREYS = ("#4A6A8A", "#8FA7BF", "#2B3F52", "#B9C7D4", "#6C7F91", "#D4DCE3", "#1C2A36", "#A1AEBA", "#E3E8EC")
_MODEL_LINES = (
    ("#2F5D8C", "#6C7F91", "#1C2A36", "#8FA7BF"),
    ("#7FB0E0", "#9FB0C0", "#E3E6E9", "#5F7F9F"),
)
"""On the light page and on the dark one. Other colours mean verdicts; dashes and marks also distinguish the lines."""
_DASHES = ("solid", "dash")
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "star", "circle-open")
_EACH_A_TICK = 5
_APART = 120
"""Bars up to this many have a gap between them."""
_FEW = 12
_KS_ALL = 16
_ASIDE = 0.06
"""The distance between curves of a single point, which would hide each other."""
_CONFIG = {"displayModeBar": False, "scrollZoom": False, "typesetMath": False}

Picked = Callable[[list[float]], None]
"""Called with the custom data of the clicked mark."""


def reward_histogram(values: Sequence[tuple[float, str, int]], width: float, *, by: str, height: int) -> go.Figure:
    """Stacked bars of rollouts by reward; where rewards are few, 0 and 1 have their own bars."""
    figure = go.Figure()
    rewards = sorted({reward for reward, _, _ in values})
    bar = width or _gap(rewards) * 0.6
    for index, part in enumerate(_parts(values, by)):
        counts = {reward: count for reward, name, count in values if name == part}
        figure.add_bar(
            x=rewards,
            y=[counts.get(reward, 0) for reward in rewards],
            width=bar,
            name=_name(part, by),
            customdata=[[reward - width / 2, reward + width / 2] for reward in rewards],
            text=[counted(counts.get(reward, 0), "rollout") for reward in rewards],
            **_letters(part, by),
            marker=_marker(part, by, index),
            hovertemplate=f"reward %{{x:.3g}}<br>{escape.plotly(part)}: %{{text}}<extra></extra>",
        )
    n = sum(count for _, _, count in values)
    figure.update_layout(barmode="stack", bargap=0.08)
    figure.update_xaxes(title_text=f"reward (n = {counted(n, 'rollout')})", tickformat=".3~g")
    if len(rewards) <= 12 and not width:
        figure.update_xaxes(tickvals=rewards)
    heights = Counter[float]()
    for reward, _, count in values:
        heights[reward] += count
    few = max(heights.values(), default=0) <= _EACH_A_TICK  # else Plotly has ticks at half a rollout, rounded
    figure.update_yaxes(title_text="rollouts", rangemode="tozero", tickformat=",d", dtick=1 if few else None)
    figure.update_layout(uniformtext={"minsize": 9, "mode": "hide"})
    return _dressed(figure, height, legend=True)


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
    return _dressed(figure, height)


def pass_at_k(curves: Sequence[Curve], *, height: int) -> go.Figure:
    """pass@k against k with its 95% band, one curve per model."""
    figure = go.Figure()
    several = len(curves) > 1
    accent = "#7FB0E0" if theme.is_dark() else "#2F5D8C"
    longest = max((len(curve.points) for curve in curves), default=0)
    looks = _MODEL_LINES[theme.is_dark()] if several else (accent,)
    for index, curve in enumerate(curves):
        look = {"color": looks[index % len(looks)], "width": 2, "dash": _DASHES[index // len(looks) % len(_DASHES)]}
        aside = 0.0 if longest > 1 else (index - (len(curves) - 1) / 2) * _ASIDE
        _add_curve(figure, curve, look, _SYMBOLS[index % len(_SYMBOLS)], aside, band=0.10 if several else 0.18)
    points = [point for curve in curves for point in curve.points]
    tasks = max((point.tasks for point in points), default=0)
    last = max((point.k for point in points), default=0)
    step = 1 if last <= _KS_ALL else None
    named = f"{counted(len(curves), 'model')}, " if several else ""
    figure.update_xaxes(title_text=f"k ({named}n = {counted(tasks, 'task')}, 95% band)", dtick=step)
    if longest == 1:
        figure.update_xaxes(range=[0.4, 1.6])
    figure.update_yaxes(title_text="pass@k", range=[0, 1.02], tickformat=".1f")
    return _dressed(figure, height, legend=several)


def _add_curve(
    figure: go.Figure, curve: Curve, line: dict[str, object], symbol: str, aside: float, *, band: float
) -> None:
    """The line with its band; a single point has an error bar instead."""
    ks, estimates = [point.k for point in curve.points], [point.estimate for point in curve.points]
    colour, name = str(line["color"]), escape.plotly(curve.model)
    figure.add_scatter(
        x=ks + ks[::-1],
        y=[e.high for e in estimates] + [e.low for e in estimates][::-1],
        fill="toself",
        fillcolor=f"rgba({int(colour[1:3], 16)},{int(colour[3:5], 16)},{int(colour[5:], 16)},{band})",
        mode="lines",
        line={"width": 0},
        hoverinfo="skip",
        showlegend=False,
        legendgroup=name,
    )
    figure.add_scatter(
        x=[k + aside for k in ks],
        y=[e.value for e in estimates],
        error_y={
            "visible": len(ks) == 1,
            "symmetric": False,
            "array": [e.high - e.value for e in estimates],
            "arrayminus": [e.value - e.low for e in estimates],
            "width": 4,
        },
        mode="lines+markers",
        line=line,
        marker={"size": 6, "color": colour, "symbol": symbol},
        name=name,
        legendgroup=name,
        customdata=[[e.low, e.high, k] for k, e in zip(ks, estimates, strict=True)],
        text=[f"{counted(point.tasks, 'task')} of {name}" for point in curve.points],
        hovertemplate="pass@%{customdata[2]}: %{y:.3f}<br>95%: %{customdata[0]:.3f} to %{customdata[1]:.3f}"
        "<br>%{text}<extra></extra>",
    )


def show(figure: go.Figure, key: str, alt: str, on_pick: Picked | None = None) -> None:
    """Draw a figure. With `on_pick`, its marks can be clicked."""
    if on_pick is None:
        st.plotly_chart(figure, key=key, config=_CONFIG, alt=alt)
        return

    def picked() -> None:
        points = st.session_state[key]["selection"]["points"]
        if points:
            data = points[0].get("customdata") or []
            on_pick(list(data.values()) if isinstance(data, dict) else list(data))

    st.plotly_chart(figure, key=key, config=_CONFIG, alt=alt, on_select=picked, selection_mode="points")


def _parts(values: Sequence[tuple[float, str, int]], by: str) -> list[str]:
    names = {name for _, name, _ in values}
    if by == "verdict":
        return [v.value for v in Verdict if v.value in names]
    return sorted(names, key=lambda name: (name.endswith(OTHER_MODELS), name))


def _marker(part: str, by: str, index: int) -> dict[str, object]:
    if by == "model":
        return {"color": _MODEL_GREYS[index % len(_MODEL_GREYS)]}
    verdict = theme.verdict(part)
    marker: dict[str, object] = {"color": theme.COLOURS[verdict], "line": {"width": 0}}
    if verdict in theme.HATCHED:
        marker["pattern"] = {"shape": "/"}
    return marker


def _name(part: str, by: str) -> str:
    return f"{theme.verdict(part).letter} {part}" if by == "verdict" else escape.plotly(part)


def _letters(part: str, by: str) -> dict[str, object]:
    """A verdict's letter within its bars, for readers who see no colours."""
    if by != "verdict":
        return {"textposition": "none"}
    verdict = theme.verdict(part)
    font = {"color": theme.ink(theme.COLOURS[verdict]), "size": 11}
    inside = {"textposition": "inside", "insidetextanchor": "middle", "textangle": 0, "insidetextfont": font}
    return {"texttemplate": verdict.letter, **inside}


def _gap(rewards: Sequence[float]) -> float:
    return min((b - a for a, b in itertools.pairwise(rewards)), default=1.0)


def _dressed(figure: go.Figure, height: int, *, legend: bool = False) -> go.Figure:
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
    figure.update_yaxes(automargin=True, title_standoff=6)
    return figure
