"""The Rewards page: its head, and its figures in two columns."""

from __future__ import annotations

import streamlit as st

from dashboard import charts, controls, facts, widgets
from dashboard.controls import Screen
from dashboard.queries import aggregates
from dashboard.rewards import rewards_figures
from dashboard.rewards.rewards_figures import Drawn

_FIGURES = (
    rewards_figures.by_model,
    rewards_figures.by_step,
    rewards_figures.variances,
    rewards_figures.pass_at_k,
    rewards_figures.wall_times,
    rewards_figures.by_length,
    rewards_figures.pass_rates,
    rewards_figures.by_verdict,
    rewards_figures.parts,
)
"""In the order of the page."""
_FIRST = 4
"""So many are drawn at first, above the fold: a browser takes long to draw a figure."""
_VIEWS = {"rewards": "First four", "more": "The others", "all": "All figures"}


def head(screen: Screen) -> None:
    """Counts, mean reward, and the choice of figures."""
    left, right = st.columns([3, 2], vertical_alignment="center")
    with left:
        _counts(screen)
    with right, st.container(horizontal=True, horizontal_alignment="right"):
        widgets.choice("Figures", _VIEWS, screen.view, key="w_figures", default="rewards")


def _counts(screen: Screen) -> None:
    totals = aggregates.totals(screen.run, screen.view.filter)
    ours = [("sandbox_error", f"{totals.sandbox_error:,}"), ("not verified", f"{totals.unverified:,}")]
    facts.line(
        [
            ("rollouts", f"{totals.rollouts:,}"),
            ("with a reward", f"{totals.rewarded:,}"),
            ("mean reward" + controls.pooled(screen, " of {} together"), facts.number(totals.mean_reward)),
            ("unknown", f"{totals.unknown:,}"),
            *([] if screen.run.recorded else ours),
        ],
        title="Rewards that the rollouts came with" if screen.run.recorded else "Rewards",
    )


def figures(screen: Screen) -> None:
    """The chosen figures in two columns, and below them a line about each that can't be drawn."""
    found = [draw(screen) for draw in _FIGURES]
    drawn = [each for each in found if not isinstance(each, str)]
    if screen.view.view != "all":
        drawn = drawn[_FIRST:] if screen.view.view == "more" else drawn[:_FIRST]
    columns = st.columns(2, gap="medium")
    for index, each in enumerate(drawn):
        with columns[index % 2]:
            _show(each)
    for reason in dict.fromkeys(each for each in found if isinstance(each, str) and each):
        facts.note(reason)


def _show(drawn: Drawn) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key=f"head_{drawn.key}"):
        facts.section(drawn.title)
        with st.popover("Table", key=f"table_{drawn.key}"):
            st.dataframe(drawn.table, hide_index=True, height=300, row_height=26)
    with st.container(key=f"figure_{drawn.key}"):
        charts.show(drawn.figure, drawn.key, drawn.alt, drawn.targets, fills=True)
    for note in drawn.notes:
        facts.note(note)
