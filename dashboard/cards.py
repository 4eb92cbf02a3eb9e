"""Figures in a row; each links to its rollouts, if it has any."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import streamlit as st

from dashboard import state, theme
from dashboard.state import View

_mount = st.components.v2.component(
    "rollscope_cards",
    html='<div class="cards"></div>',
    css=theme.asset("cards.css"),
    js=theme.asset("links.js", "cards.js"),
)


class Card(NamedTuple):
    """A figure with its name, a note under it, and the view of the rollouts that it counts."""

    name: str
    value: str
    note: str
    target: View | None = None


def show(cards: Sequence[Card]) -> None:
    """Draw the figures; a click on one with a target shows its rollouts."""

    def picked() -> None:
        target = cards[int(st.session_state["cards"].pick)].target
        if target is not None:
            state.go("rollouts", target)

    data = [
        {
            "name": card.name,
            "value": card.value,
            "note": card.note,
            "href": state.href("rollouts", card.target) if card.target is not None else None,
        }
        for card in cards
    ]
    _mount(key="cards", data={"cards": data}, on_pick_change=picked)
