"""The filter in the sidebar: which rollouts every page counts, lists and exports."""

from __future__ import annotations

import msgspec
import streamlit as st

from dashboard import escape, facts, state, widgets
from dashboard.queries import aggregates, filter_sql
from dashboard.queries.ranking import Ranking
from dashboard.state import VERDICT_WORDS, Filter, View
from dashboard.widgets import Bound
from dashboard.wording import counted
from dashboard.workspace import OpenRun


def show(run: OpenRun, view: View) -> None:
    """Every field of the filter, with the number of rollouts that it lets through."""
    filter_ = view.filter
    shown, total = filter_sql.count(run, filter_), filter_sql.count(run, Filter())
    facts.note(f"{shown:,} of {counted(total, 'rollout')}", strong=True)
    _text(filter_)
    with widgets.place("verdicts"):
        tied = _bound("verdicts", list(filter_.verdicts), ())
        st.multiselect("Verdict", VERDICT_WORDS, placeholder="any", **tied)
    _offer_models(run, filter_)
    errors = aggregates.clusters(run, _others(filter_, "err"))
    _pick("err", _labelled("Error", errors), [c.name for c in errors.rows], filter_.err)
    _offer_flags(run, filter_)
    reasons = aggregates.unverified_reasons(run, _others(filter_, "verified"))
    if aggregates.unverified_count(run, Filter()) or filter_.verified:
        words = [state.VERIFIED, state.UNVERIFIED, *(c.name for c in reasons.rows)]
        _pick("verified", _labelled("Verified", reasons), words, filter_.verified)
    _rewards(filter_)
    if filter_:
        cleared = view.but(filter=Filter(), page=1)
        st.button("Clear the filter", key="w_clear", on_click=state.write, args=(cleared,), width="stretch")


def _offer_models(run: OpenRun, filter_: Filter) -> None:
    found = filter_sql.models(run, _others(filter_, "model"))
    if filter_sql.models(run, Filter()).total > 1 or filter_.model:
        _pick("model", _labelled("Model", found), list(found.rows), filter_.model)


def _offer_flags(run: OpenRun, filter_: Filter) -> None:
    others = _others(filter_, "flag")
    words, packages = aggregates.flag_counts(run, others), aggregates.missing_packages(run, others)
    names = [c.name for c in (*words.rows, *packages.rows)]
    if aggregates.flag_counts(run, Filter()).rows or filter_.flag:
        _pick("flag", _labelled("Flag", packages), names, filter_.flag)


def _others(filter_: Filter, field: str) -> Filter:
    """The filter without one field: the choices of a field come from the rollouts that pass the others."""
    return msgspec.structs.replace(filter_, **{field: ""})


def _labelled(label: str, found: Ranking[object]) -> str:
    return f"{label} ({part})" if (part := found.part()) else label


def _text(filter_: Filter) -> None:
    with widgets.place("q"):
        st.text_input("Text", placeholder="task, sample, model or error", **_bound("q", filter_.q, ""))


def _pick(field: str, label: str, options: list[str], value: str) -> None:
    with widgets.place(field):
        st.selectbox(
            label, _with(options, value), index=None, format_func=escape.text, placeholder="any",
            **_bound(field, value or None, ""),
        )  # fmt: skip


def _rewards(filter_: Filter) -> None:
    left, right = st.columns(2)
    for column, field, label in ((left, "r_min", "Reward from"), (right, "r_max", "to")):
        tied = _bound(field, getattr(filter_, field), None)
        with column, widgets.place(field):
            st.number_input(label, value=None, step=0.1, format="%g", placeholder="any", **tied)


def _bound(field: str, value: object, empty: object) -> Bound:
    """Binds a widget to a field of the filter, which is `empty` if nothing is chosen."""

    def choose(view: View, chosen: object) -> View:
        chosen = tuple(chosen) if isinstance(chosen, list) else chosen
        return view.but(page=1, **{field: empty if chosen in (None, "", ()) else chosen})

    return widgets.bound(f"w_{field}", value, choose)


def _with(options: list[str], value: str) -> list[str]:
    """The options, and the URL's value even if the run does not have it."""
    return options if not value or value in options else [value, *options]
