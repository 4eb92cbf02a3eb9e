"""Widgets that show a part of the view, and change it.

With every action of the visitor, the browser sends the values of all widgets that it shows. After the address has
changed, these may still be the old values, which would undo the change. So a widget whose value was changed by the
address gets a new key, for which the browser has no value yet.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Literal, TypedDict, TypeVar

import streamlit as st

from dashboard import state
from dashboard.state import View

T = TypeVar("T")

_NUMBERS = "_bound"
"""How often the widget of each name got a new key."""


class Bound(TypedDict):
    """Arguments of a Streamlit widget."""

    key: str
    on_change: Callable[[], None]


def bound(name: str, value: T, choose: Callable[[View, T], View]) -> Bound:
    """Binds the widget of this name to a value; `choose` returns the view for a choice."""
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
    """A container for one bound widget. It hides the old widget, which stays until the page is drawn completely."""
    return st.container(key=f"bound_{name}", width=width)


def _key(name: str, number: int) -> str:
    return f"{name}.{number}" if number else name


def sent(key: str, name: str) -> Any:
    """What our component `key` sent as `name`, in its callback.

    None where the page changes in the same run, as with a click on the old page right after "back": Streamlit has
    dropped what it sent by then.
    """
    return st.session_state.get(key, {}).get(name)
