"""The groups whose rewards are all equal, which give a policy gradient nothing to learn from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import streamlit as st

from dashboard import escape, state, theme
from dashboard.queries.aggregates import FlatGroup
from dashboard.queries.query import Ranking
from dashboard.state import View

VIEW = "signal"
"""The Overview's `view` that lists all of them."""

_mount = st.components.v2.component(
    "rollscope_signal",
    html='<div class="signal"></div>',
    css=theme.asset("signal.css"),
    js=theme.asset("links.js", "signal.js"),
)


class Kind(NamedTuple):
    """Groups that ended alike, such as those in which every rollout failed."""

    name: str
    groups: Ranking[FlatGroup]


def show(kinds: Sequence[Kind], view: View, *, whole: bool) -> None:
    """A line per kind, with links to its groups; without `whole`, as many as fit."""
    listing = view.place().but(view=VIEW)
    data = [
        {
            "title": f"{kind.name} {kind.groups.total:,}",
            "href": None if whole else state.href("overview", listing),
            "items": [
                {"label": escape.text(_label(group)), "href": state.href("rollouts", _target(group, view))}
                for group in kind.groups.rows
            ],
        }
        for kind in kinds
        if kind.groups.total
    ]
    _mount(key="signal_whole" if whole else "signal", data={"kinds": data, "whole": whole})


def _label(group: FlatGroup) -> str:
    return group.task_id if group.group in (None, group.task_id) else f"{group.task_id} · {group.group}"


def _target(group: FlatGroup, view: View) -> View:
    return view.place().but(task=group.task_id)
