"""Widgets that show a part of the view, and change it.

With every action of the visitor, the browser sends the values of all widgets that it shows. After the address has
changed, these may still be the old values, which would undo the change. So a widget whose value was changed by the
address gets a new key, for which the browser has no value yet. Where it can be, its value is its default, and not set
in the session, which would undo a click that is made while the page is drawn again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

import streamlit as st

from dashboard import state
from dashboard.state import View

Kind = Literal["selectbox", "multiselect", "segmented_control", "pills", "pagination", "text_input", "text_area",
               "number_input", "toggle"]  # fmt: skip
"""A function of Streamlit."""
_DRAWN = "_drawn"
"""In the session: how often the widget of each name got a new key, and the value that it had with the last one at
first."""


def show(
    kind: Kind,
    name: str,
    value: Any,
    choose: Callable[[View, Any], View] | None,
    *words: object,
    width: Literal["stretch", "content"] | int = "stretch",
    **look: Any,
) -> str:
    """Draw the widget of this name with a value of the view; `choose` returns the view for a choice.

    `words` and `look` are Streamlit's. Without `choose`, as in a form, the value is in the session, under the returned
    key.
    """

    def changed(chosen: Any) -> None:
        if choose is not None:
            state.write(choose(state.read(), chosen))

    # The container hides the old widget, which stays until the page is drawn completely.
    with st.container(key=f"bound_{name}", width=width):
        return show_value(kind, name, value, changed if choose else None, *words, **look)


def show_value(
    kind: Kind,
    name: str,
    value: Any,
    change: Callable[[Any], object] | None,
    *words: object,
    clearable: bool = False,
    **look: Any,
) -> str:
    """The same for a value that is not in the address, but may also change without the visitor.

    `clearable`: the visitor can empty it. Streamlit allows that only where the default is None.
    """
    drawn = st.session_state.setdefault(_DRAWN, {})
    number, first = drawn.setdefault(name, (0, value))
    if st.session_state.get(_key(name, number), first) != value:
        number, first = drawn[name] = number + 1, value
    key = _key(name, number)

    def changed() -> None:
        if change is not None and drawn[name][0] == number:
            change(st.session_state[key])

    options = words[1] if len(words) > 1 else ()
    default = first
    if clearable:
        st.session_state[key], default = value, None
    if kind == "selectbox":
        assert isinstance(options, list)
        look["index"] = options.index(default) if default in options else None
    else:
        look["value" if kind in ("text_input", "text_area", "number_input", "toggle") else "default"] = default
    if change is not None:
        look["on_change"] = changed
    getattr(st, kind)(*words, key=key, **look)
    return key


def choice(
    label: str,
    options: Mapping[str, str],
    view: View,
    *,
    key: str,
    default: str = "",
    field: str = "view",
    **reset: object,
) -> str:
    """A row of alternatives, stored in the URL's `field`; `options` are word -> label. Returns the word.

    `reset`: other fields of the view that a choice changes.
    """
    named: str = getattr(view, field)
    current = named if named in options else default

    def choose(view: View, chosen: str | None) -> View:
        return view.but(**{field: "" if chosen == default else chosen or "", **reset})

    show("segmented_control", key, current, choose, label, list(options), format_func=options.__getitem__,
         label_visibility="collapsed", width="content")  # fmt: skip
    return current


def button(label: str, key: str, do: Callable[..., None], *given: object, **look: Any) -> None:
    """A button; a click calls `do` with what is given. `look` is Streamlit's."""
    st.button(label, key=key, on_click=do, args=given, **look)


def neighbour(label: str, shortcut: str, target: View | None) -> None:
    """The button that goes on to the next one, or back, if there is one."""
    button(label, label.lower(), state.write, target or View(), shortcut=shortcut, disabled=target is None)


def _key(name: str, number: int) -> str:
    return f"{name}.{number}" if number else name


def sent(key: str, name: str) -> Any:
    """What our component `key` sent as `name`, in its callback.

    None where the page changes in the same run, as with a click on the old page right after "back": Streamlit has
    dropped what it sent by then.
    """
    return st.session_state.get(key, {}).get(name)
