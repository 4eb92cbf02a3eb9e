"""Widgets that show a part of the view, and change it.

The browser sends the values of all widgets that it shows with whatever the visitor does. Where the address has changed
meanwhile and the new values are not there yet, that would undo the change: as if the visitor had chosen the old ones
again. So a widget whose value was changed by the address is a new one, of which the browser knows nothing yet.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Literal, TypedDict

import streamlit as st

from dashboard import state
from dashboard.state import View

_NUMBERS = "_bound"
"""Of each name: how often its widget was made anew."""


class Bound(TypedDict):
    """What Streamlit's widgets are to be given."""

    key: str
    on_change: Callable[[], None]


def to(name: str, value: object, choose: Callable[[View, Any], View]) -> Bound:
    """Binds the widget of this name to a value; `choose` gives the view of which a choice is a part."""
    numbers = st.session_state.setdefault(_NUMBERS, {})
    number = numbers.setdefault(name, 0)
    if st.session_state.get(_key(name, number), value) != value:
        number = numbers[name] = number + 1
    key = _key(name, number)
    st.session_state[key] = value

    def changed() -> None:
        if numbers[name] == number:
            state.write(choose(state.read(), st.session_state[key]))

    return {"key": key, "on_change": changed}


def place(name: str, width: Literal["stretch", "content"] = "stretch") -> AbstractContextManager[object]:
    """A container for one bound widget: of one made anew, the old one stays until the page is drawn to its end."""
    return st.container(key=f"bound_{name}", width=width)


def _key(name: str, number: int) -> str:
    return f"{name}.{number}" if number else name
