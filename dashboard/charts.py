"""The Plotly figures. Verdicts have the grid's colours; axes are named; n is in the title; nothing moves."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from dashboard import theme
from dashboard.estimates import Point
from dashboard.wording import counted
from evaluator.model import Verdict

_MODEL_GREYS = ("#4A6A8A", "#8FA7BF", "#2B3F52", "#B9C7D4", "#6C7F91", "#D4DCE3", "#1C2A36", "#A1AEBA")
_EACH_A_TICK = 5
_CONFIG = {"displayModeBar": False, "scrollZoom": False}

Picked = Callable[[list[float]], None]
"""Called with the custom data of the mark that was clicked."""


def reward_histogram(values: Sequence[tuple[float, str, int]], width: float, *, by: str, height: int) -> go.Figure:
    """Stacked bars of rollouts by reward; 0 and 1 are bars of their own where rewards are few."""
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
            hovertemplate=f"reward %{{x:.3g}}<br>{_escaped(part)}: %{{text}}<extra></extra>",
        )
    n = sum(count for _, _, count in values)
    figure.update_layout(barmode="stack", bargap=0.08)
    figure.update_xaxes(title_text=f"reward (n = {counted(n, 'rollout')})", tickformat=".3~g")
    if len(rewards) <= 12 and not width:
        figure.update_xaxes(tickvals=rewards)
    heights = Counter[float]()
    for reward, _, count in values:
        heights[reward] += count
    few = max(heights.values(), default=0) <= _EACH_A_TICK  # Plotly would write halves of rollouts, rounded
    figure.update_yaxes(title_text="rollouts", rangemode="tozero", tickformat=",d", dtick=1 if few else None)
    figure.update_layout(uniformtext={"minsize": 9, "mode": "hide"})
    _dressed(figure, height, legend=True)
    if by == "verdict":  # up to eleven names: above the bars they would stand on them
        figure.update_layout(legend={"orientation": "v", "x": 1.01, "xanchor": "left", "y": 1, "yanchor": "top"})
    return figure


def pass_rates(rates: Sequence[tuple[str, int, int]], *, height: int) -> go.Figure:
    """One bar a task, the lowest pass rate first."""
    figure = go.Figure()
    figure.add_bar(
        x=list(range(1, len(rates) + 1)),
        y=[passed / graded for _, graded, passed in rates],
        customdata=[[index] for index in range(len(rates))],
        text=[_escaped(task) for task, _, _ in rates],
        textposition="none",
        marker={"color": theme.COLOURS[Verdict.PASSED], "line": {"width": 0}},
        hovertemplate="%{text}<br>pass rate %{y:.0%}<extra></extra>",
    )
    none = sum(passed == 0 for _, _, passed in rates)
    every = sum(passed == graded for _, graded, passed in rates)
    figure.update_xaxes(title_text=f"tasks, lowest first (n = {len(rates):,}; {none:,} at 0, {every:,} at 1)")
    figure.update_yaxes(title_text="pass rate", range=[0, 1.02], tickformat=".0%")
    figure.update_layout(bargap=0 if len(rates) > 120 else 0.15)
    return _dressed(figure, height)


def pass_at_k(curve: Sequence[Point], *, height: int) -> go.Figure:
    """pass@k against k, with the 95% band."""
    ks = [point.k for point in curve]
    estimates = [point.estimate for point in curve]
    colour = "#7FB0E0" if theme.is_dark() else "#2F5D8C"
    figure = go.Figure()
    figure.add_scatter(
        x=ks + ks[::-1],
        y=[e.high for e in estimates] + [e.low for e in estimates][::-1],
        fill="toself",
        fillcolor=f"rgba({int(colour[1:3], 16)},{int(colour[3:5], 16)},{int(colour[5:], 16)},0.18)",
        mode="lines",
        line={"width": 0},
        hoverinfo="skip",
    )
    figure.add_scatter(
        x=ks,
        y=[e.value for e in estimates],
        mode="lines+markers",
        line={"color": colour, "width": 2},
        marker={"size": 6, "color": colour},
        customdata=[[e.low, e.high] for e in estimates],
        text=[counted(point.tasks, "task") for point in curve],
        hovertemplate="pass@%{x}: %{y:.3f}<br>95%: %{customdata[0]:.3f} to %{customdata[1]:.3f}"
        "<br>%{text}<extra></extra>",
    )
    tasks = max((point.tasks for point in curve), default=0)
    step = 1 if len(ks) <= 16 and ks[-1:] == [len(ks)] else None
    figure.update_xaxes(title_text=f"k (n = {counted(tasks, 'task')}, 95% band)", dtick=step)
    figure.update_yaxes(title_text="pass@k", range=[0, 1.02], tickformat=".1f")
    return _dressed(figure, height)


def show(figure: go.Figure, key: str, alt: str, on_pick: Picked | None = None) -> None:
    """Draw a figure; `on_pick` makes its marks links."""
    options: dict[str, Any] = {"key": key, "config": _CONFIG} | _alt(alt)
    if on_pick is None:
        st.plotly_chart(figure, **options)
        return

    def picked() -> None:
        points = st.session_state[key]["selection"]["points"]
        if points:
            data = points[0].get("customdata") or []
            on_pick(list(data.values()) if isinstance(data, dict) else list(data))

    st.plotly_chart(figure, on_select=picked, selection_mode="points", **options)


def _alt(text: str) -> dict[str, str]:
    """`alt` came with Streamlit 1.65; the oldest version that is supported does not have it."""
    from inspect import signature

    return {"alt": text} if "alt" in signature(st.plotly_chart).parameters else {}


def _parts(values: Sequence[tuple[float, str, int]], by: str) -> list[str]:
    names = {name for _, name, _ in values}
    if by == "verdict":
        return [v.value for v in Verdict if v.value in names]
    return sorted(names)


def _marker(part: str, by: str, index: int) -> dict[str, object]:
    if by == "model":
        return {"color": _MODEL_GREYS[index % len(_MODEL_GREYS)]}
    verdict = theme.verdict(part)
    marker: dict[str, object] = {"color": theme.COLOURS[verdict], "line": {"width": 0}}
    if verdict in theme.HATCHED:
        marker["pattern"] = {"shape": "/"}
    return marker


def _name(part: str, by: str) -> str:
    return f"{theme.verdict(part).letter} {part}" if by == "verdict" else part


def _letters(part: str, by: str) -> dict[str, object]:
    """A verdict's letter within its bars: colour alone tells nobody who sees no colours."""
    if by != "verdict":
        return {"textposition": "none"}
    verdict = theme.verdict(part)
    font = {"color": theme.ink(theme.COLOURS[verdict]), "size": 11}
    inside = {"textposition": "inside", "insidetextanchor": "middle", "textangle": 0, "insidetextfont": font}
    return {"texttemplate": verdict.letter, **inside}


def _gap(rewards: Sequence[float]) -> float:
    return min((b - a for a, b in itertools.pairwise(rewards)), default=1.0)


def _escaped(text: str) -> str:
    """Plotly reads a little HTML in its labels."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _dressed(figure: go.Figure, height: int, *, legend: bool = False) -> go.Figure:
    figure.update_layout(
        height=height,
        margin={"l": 4, "r": 8, "t": 8, "b": 4},
        showlegend=legend,
        legend={"orientation": "h", "y": 1.12, "x": 0},
        dragmode=False,
        clickmode="event+select",
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"size": 12},
    )
    figure.update_xaxes(automargin=True, showgrid=False, title_standoff=6)
    figure.update_yaxes(automargin=True, title_standoff=6)
    return figure
