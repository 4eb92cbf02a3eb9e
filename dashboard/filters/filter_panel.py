"""The filter in the sidebar: which rollouts every page counts, lists and exports."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode

import streamlit as st

from dashboard import escape, facts, state, widgets
from dashboard.facts import counted
from dashboard.filters import export
from dashboard.queries import options, query
from dashboard.queries.options import Option
from dashboard.queries.query import Ranking
from dashboard.state import (
    AGREES,
    FAILED,
    FIRST_ALIKE,
    RECORDED_WORDS,
    SIGNALS,
    UNVERIFIED,
    VERDICT_WORDS,
    VERIFIED,
    Filter,
    View,
)
from dashboard.widgets import Kind
from dashboard.workspace import OpenRun
from evaluator.runs.notes import NotesError, save_filter

_SAVED_FAULT = "_saved_filters_fault"
_NAME = "saved_name"
_LONGEST = 60


def offer_saved(run: OpenRun, view: View) -> None:
    """The list of saved filters: each can be chosen and removed, and the current one saved."""
    saved = run.notes.filters
    with st.popover("Saved", key="saved_filters"):
        for place, (name, query) in enumerate(sorted(saved.items())):
            _offer_one(run, view, name, query, place)
        if not saved:
            facts.note("No filter is saved with this run.")
        st.text_input("Save the current filter as", key=_NAME, max_chars=_LONGEST, disabled=not view.filter)
        widgets.button("Save this filter", "save_filter", _save, run, view.filter, disabled=not view.filter)
        if fault := st.session_state.pop(_SAVED_FAULT, ""):
            facts.banner(fault, warn=True)


def _offer_one(run: OpenRun, view: View, name: str, query: str, place: int) -> None:
    filter_ = state.parse(dict(parse_qsl(query))).filter
    with st.container(horizontal=True, gap="xsmall", key=f"saved_row_{place}"):
        label = escape.markdown(f"{name} (chosen)" if filter_ == view.filter else name)
        chosen = view.but(filter=filter_, page=1)
        st.button(label, key=f"saved_{place}", width="stretch", on_click=state.write, args=(chosen,))
        st.button("Remove", key=f"remove_{place}", type="tertiary", on_click=_change, args=(run, name, None))


def _save(run: OpenRun, filter_: Filter) -> None:
    name = " ".join(st.session_state[_NAME].split())
    if not name:
        st.session_state[_SAVED_FAULT] = "Write a name first."
        return
    _change(run, name, urlencode(View(filter=filter_).params(), errors="backslashreplace"))
    if _SAVED_FAULT not in st.session_state:
        st.session_state[_NAME] = ""


def _change(run: OpenRun, name: str, query: str | None) -> None:
    """Save or remove a filter, or leave the fault to show if the side file can't be written."""
    try:
        save_filter(run.path, name, query)
    except NotesError as error:
        st.session_state[_SAVED_FAULT] = str(error)


_NONE: Ranking[Option] = Ranking([], 0)
_BOUNDS = (
    ("Reward from", "r_min", "r_max"),
    ("Step from", "step_min", "step_max"),
    ("Wall time from, s", "wall_min", "wall_max"),
    ("Characters from", "len_min", "len_max"),
)
"""The pairs of bounds: the first one's label, and their fields."""
_RECORDED_ORDER = {word: place for place, word in enumerate(RECORDED_WORDS)}
_OURS = ("verified", "given", "recorded")
"""Fields that are about our own grades."""
_ALIKE = "Of the samples of a task that answer all test cases alike, and fail in the same way, only the first."
_FIRST = {VERIFIED: 0, UNVERIFIED: 1}
_COUNT = re.compile(r" \([\d,]+\)$")
"""What `_counted` adds to a name."""


def show(run: OpenRun, view: View) -> None:
    """Every field of the filter, with the number of rollouts that it lets through."""
    filter_ = view.filter
    shown, total = query.count(run, filter_), query.count(run, Filter())
    facts.note(f"{shown:,} of {counted(total, 'rollout')}", strong=True)
    with st.container(horizontal=True, gap="xsmall", key="filter_actions"):
        cleared = view.but(filter=Filter(), page=1)
        widgets.button("Clear", "w_clear", state.write, cleared, help="Clear the filter", disabled=not filter_)
        offer_saved(run, view)
        export.offer(run, view)
    _write_text("Text", "q", filter_.q, "task, sample, model or error")
    _write_text("In code", "find", filter_.find, "text or /regular expression/")
    found, known = options.options(run, filter_), options.options(run, Filter())
    _pick_verdicts(found.get("verdicts", _NONE), filter_.verdicts)
    if known.get("model", _NONE).total > 1 or filter_.model:
        _pick("Model", "model", found, filter_.model, order=lambda name: name)
    _pick("Error", "err", found, filter_.err)
    if "flag" in known or filter_.flag:
        _pick("Flag", "flag", found, filter_.flag, order=lambda name: ": " in name)
    if "tag" in known or filter_.tag:
        _pick("Tag", "tag", found, filter_.tag)
    for field in _OURS if run.recorded else ():  # nothing is graded here, so there is nothing to compare
        known = {name: ranking for name, ranking in known.items() if name != field}
    if any(option.name == UNVERIFIED for option in known.get("verified", _NONE).rows) or filter_.verified:
        _pick("Verified", "verified", found, filter_.verified, order=lambda name: _FIRST.get(name, len(_FIRST)))
    if "signal" in known or filter_.signal:
        _pick("Signal of the group", "signal", found, filter_.signal, order=SIGNALS.index)
    if "given" in known or filter_.given:
        _pick("Given reward, against ours", "given", found, filter_.given, order=AGREES.index)
    if "recorded" in known or filter_.recorded:
        _pick("Recorded verdict", "recorded", found, filter_.recorded, order=_RECORDED_ORDER.__getitem__)
    if not run.recorded:
        _show("toggle", "alike", bool(filter_.alike), "", "One of each behaviour", help=_ALIKE)
    _bounds(run, filter_)


def _write_text(label: str, field: str, value: str, hint: str) -> None:
    _show("text_input", field, value, "", label, placeholder=hint)


def _pick_verdicts(found: Ranking[Option], chosen: tuple[str, ...]) -> None:
    counts = dict(found.rows)
    counts[FAILED] = options.failed(found)
    words = [word for word in VERDICT_WORDS if counts.get(word) or word in chosen]
    _show("multiselect", "verdicts", list(chosen), (), "Verdict", words,
          format_func=lambda word: _counted(word, counts), placeholder="any")  # fmt: skip


def _pick(
    label: str,
    field: str,
    found: Mapping[str, Ranking[Option]],
    value: str,
    order: Callable[[str], Any] | None = None,
) -> None:
    """One of a field's options, those with the most rollouts first unless they have an order."""
    ranking = found.get(field, _NONE)
    counts = dict(ranking.rows)
    names = sorted(counts, key=order) if order else list(counts)
    if value and value not in counts:
        names.insert(0, value)  # the URL's value, even if the run does not have it
    part = ranking.part()
    _show("selectbox", field, value or None, "", f"{label} ({part})" if part else label, names,
          clearable=True, format_func=lambda name: _counted(name, counts), placeholder="any")  # fmt: skip


def _bounds(run: OpenRun, filter_: Filter) -> None:
    """From and to, folded unless one is set. The run's range stands where nothing is set."""
    known = options.ranges(run)
    is_set = any(getattr(filter_, field) is not None for _, *fields in _BOUNDS for field in fields)
    with st.expander("Reward, time, length", expanded=is_set):
        for label, low, high in _BOUNDS:
            if getattr(known, low) is None and getattr(filter_, low) is None and getattr(filter_, high) is None:
                continue
            left, right = st.columns(2, gap="xsmall")
            with left:
                _write_number(label, low, getattr(filter_, low), getattr(known, low))
            with right:
                _write_number("to", high, getattr(filter_, high), getattr(known, high))


def _write_number(label: str, field: str, value: float | None, known: float | None) -> None:
    decimal = field in ("r_min", "r_max", "wall_min", "wall_max")
    hint = "any" if known is None else f"{known:.3g}" if decimal else f"{known:,}"
    step, form = (0.1, "%g") if decimal else (1, "%d")
    _show("number_input", field, value, None, label, clearable=True, step=step, format=form, placeholder=hint)


def _show(kind: Kind, field: str, value: object, empty: object, *words: object, **look: Any) -> None:
    """A widget of a field of the filter, which is `empty` if nothing is chosen."""
    options = words[1] if len(words) > 1 and isinstance(words[1], list) else []
    named = {escape.text(name): name for name in options}

    def meant(label: object) -> object:
        """An option by its label: the browser sends the one that it drew last, perhaps with an earlier count."""
        return named.get(_COUNT.sub("", label), label) if isinstance(label, str) and label not in options else label

    def choose(view: View, chosen: object) -> View:
        chosen = tuple(map(meant, chosen)) if isinstance(chosen, list) else meant(chosen)
        chosen = FIRST_ALIKE if chosen is True else chosen
        return view.but(page=1, **{field: empty if chosen in (None, "", (), False) else chosen})

    # The Tasks page has a `w_find` of its own.
    widgets.show(kind, "w_in_code" if field == "find" else f"w_{field}", value, choose, *words, **look)


def _counted(name: str, counts: Mapping[str, int]) -> str:
    return f"{escape.text(name)} ({counts.get(name, 0):,})"
