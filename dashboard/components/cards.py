"""Figures in a row; each links to what it counts, if there is any."""

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
    """A figure with its name, a note under it, and the view of what it counts on a page."""

    name: str
    value: str
    note: str
    target: View | None = None
    page: str = "rollouts"


def show(cards: Sequence[Card], *, key: str = "cards") -> None:
    """Draw the figures; a click on one with a target opens it."""
    data = [
        {
            "name": card.name,
            "value": card.value,
            "note": card.note,
            "href": state.href(card.page, card.target) if card.target is not None else None,
        }
        for card in cards
    ]
    _mount(key=key, data={"cards": data})
