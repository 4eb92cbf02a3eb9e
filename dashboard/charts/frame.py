"""What all figures share: their look, the looks of lines, and clicks on marks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import plotly.graph_objects as go
import streamlit as st

from dashboard import state, theme
from dashboard.state import View

Target = tuple[str, View]
"""A page and the view that a click on a mark opens there. The first custom datum of a mark is its target's index."""

_LINES = (
    ("#2F5D8C", "#6C7F91", "#1C2A36", "#8FA7BF"),
    ("#7FB0E0", "#9FB0C0", "#E3E6E9", "#5F7F9F"),
)
"""On the light page and on the dark one. Other colours mean verdicts; dashes and marks also distinguish the lines."""
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
    dash = _DASHES[index // len(colours) % len(_DASHES)]
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
    figure.update_yaxes(automargin=True, title_standoff=6)
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
