"""What stands on every page: the links between pages, the sidebar with run picker and filter, the banners."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec
import streamlit as st

from dashboard import bound, degraded, facts, front_door, grading, plain, sandbox_check, state, unfinished, workspace
from dashboard.bound import Bound
from dashboard.queries import filtering, outcomes
from dashboard.queries.most import Most
from dashboard.queries.orders import SORTS
from dashboard.state import VERDICT_WORDS, Filter, View
from dashboard.wording import counted
from dashboard.workspace import Entry, OpenRun

_LOOK_AGAIN_S = 3
_CLAUSE_NAMES = {
    "verdicts": "verdict",
    "model": "model",
    "err": "error",
    "flag": "flag",
    "verified": "verified",
    "q": "text",
    "r_min": "reward from",
    "r_max": "reward to",
}


@dataclass(frozen=True)
class Screen:
    """What a page draws: the view, the open run, and how many of its rollouts the filter lets through."""

    view: View
    run: OpenRun
    shown: int
    total: int


def navigation() -> None:
    """The pages, one link each; every link keeps the run and the filter."""
    view = state.read().place()
    with st.container(horizontal=True, key="nav", gap="small", vertical_alignment="center"):
        for name, title in state.PAGES.items():
            state.link(name, view, title)


def sidebar() -> None:
    """The run picker and the filter, nothing else."""
    view = state.read()
    with st.sidebar:
        entries = workspace.entries()
        if not entries:
            return
        chosen = workspace.entry(view)
        _run_picker(entries, chosen, view)
        if chosen is None or not chosen.graded:
            return
        run = workspace.open_run(chosen)
        _filter(run, view)


def banners() -> None:
    """Say what keeps this machine from grading, with its mend, above every page."""
    mend = sandbox_check.mend()
    if mend is not None:
        facts.banner(f"No sandbox here, so nothing can be graded or run; stored grades can be read. {mend}", warn=True)


def screen(*, named: bool = True) -> Screen:
    """The view and its run. Where there is none, says what to do next and ends the page.

    The address then says which run it is: elsewhere another one may be the first. With `named=False` a page has
    more to say in it, and calls `state.name` itself.
    """
    front_door.require()
    view = state.read()
    chosen = workspace.entry(view)
    if chosen is None:
        _no_entry(view)
        st.stop()
    view = view.but(run=chosen.name)
    if named or not chosen.graded:
        state.name(front_door.page(), view)
    if not chosen.graded:
        grading.offer(chosen)
        st.stop()
    run = workspace.open_run(chosen)
    _follow(run)
    total = filtering.count(run, Filter())
    degraded.banner(run)
    unfinished.banner(run, total)
    if total == 0:
        _empty_run(run)
        st.stop()
    return Screen(view, run, filtering.count(run, view.filter), total)


def _follow(run: OpenRun) -> None:
    """Draw the page again when a run that is being made has grown."""
    if unfinished.is_growing(run):
        _look_again(run.name, run.key)


@st.fragment(run_every=_LOOK_AGAIN_S)
def _look_again(name: str, key: str) -> None:
    chosen = next((e for e in workspace.entries() if e.name == name), None)
    if chosen is not None and workspace.open_run(chosen).key != key:
        st.rerun()


def require_rows(screen_: Screen) -> None:
    """Where the filter matches nothing: which field took the last rows, each with a button that undoes it."""
    if screen_.shown:
        return
    facts.banner(f"The filter matches none of {counted(screen_.total, 'rollout')}.", warn=True)
    for name, count in filtering.without_each(screen_.run, screen_.view.filter):
        label = f"Remove {_CLAUSE_NAMES[name]}: {counted(count, 'rollout')}"
        cleared = screen_.view.but(page=1, **{name: getattr(Filter(), name)})
        st.button(plain.markdown(label), key=f"undo_{name}", on_click=state.write, args=(cleared,))
    st.stop()


def sort_picker(view: View, sorts: dict[str, tuple[str, str]] = SORTS, *, key: str = "w_sort") -> None:
    """The order, kept in the URL."""
    current = view.sort if view.sort in sorts else ""
    with bound.place(key, width="content"):
        st.selectbox(
            "Order",
            list(sorts),
            format_func=lambda word: sorts[word][0],
            label_visibility="collapsed",
            width=210,
            **bound.to(key, current, lambda view, chosen: view.but(sort=chosen, page=1)),
        )


def page_of(view: View, count: int, size: int) -> int:
    """The page that the view asks for, or the last one that there is."""
    return min(view.page, max(1, -(-count // size)))


def pager(view: View, count: int, size: int, noun: str) -> None:
    """Page links for more than one page, with the part that is shown."""
    if count <= size:
        return
    page = page_of(view, count, size)
    first = (page - 1) * size
    with st.container(horizontal=True, vertical_alignment="center"):
        with bound.place("page", width="content"):
            st.pagination(-(-count // size), **bound.to("w_page", page, lambda view, chosen: view.but(page=chosen)))
        facts.note(f"{noun} {first + 1:,} to {min(first + size, count):,} of {count:,}")


def choice(label: str, options: dict[str, str], view: View, *, key: str, default: str) -> str:
    """A row of alternatives kept in the URL's `view`; `options` are word -> label. Returns the word."""
    current = view.view if view.view in options else default
    with bound.place(key, width="content"):
        st.segmented_control(
            label,
            list(options),
            format_func=lambda word: options[word],
            label_visibility="collapsed",
            **bound.to(key, current, lambda view, chosen: view.but(view="" if chosen == default else chosen or "")),
        )
    return current


def _run_picker(entries: list[Entry], chosen: Entry | None, view: View) -> None:
    names = [e.name for e in entries]
    graded = {e.name: e.graded for e in entries}
    with bound.place("run"):
        st.selectbox(
            "Run",
            names,
            format_func=lambda name: plain.text(name) if graded[name] else f"{plain.text(name)} (not graded)",
            placeholder="choose a run" if view.run else "",
            # Another run has other tasks, models and errors: its filter starts empty.
            **bound.to("w_run", chosen.name if chosen else None, lambda _, name: View(run=name or "")),
        )


def _filter(run: OpenRun, view: View) -> None:
    filter_ = view.filter
    shown, total = filtering.count(run, filter_), filtering.count(run, Filter())
    facts.note(f"{shown:,} of {counted(total, 'rollout')}", strong=True)
    _text(filter_)
    _pick("verdicts", "Verdict", list(VERDICT_WORDS), list(filter_.verdicts), many=True)
    _offer_models(run, filter_)
    errors = outcomes.clusters(run, _others(filter_, "err"))
    _pick("err", _labelled("Error", errors), _with([c.name for c in errors.rows], filter_.err), filter_.err or None)
    _offer_flags(run, filter_)
    reasons = outcomes.unverified_reasons(run, _others(filter_, "verified"))
    if outcomes.unverified_count(run, Filter()) or filter_.verified:
        words = [state.VERIFIED, state.UNVERIFIED, *(c.name for c in reasons.rows)]
        _pick("verified", _labelled("Verified", reasons), _with(words, filter_.verified), filter_.verified or None)
    _rewards(filter_)
    if filter_:
        cleared = view.but(filter=Filter(), page=1)
        st.button("Clear the filter", key="w_clear", on_click=state.write, args=(cleared,), width="stretch")


def _offer_models(run: OpenRun, filter_: Filter) -> None:
    found = filtering.models(run, _others(filter_, "model"))
    if filtering.models(run, Filter()).total > 1 or filter_.model:
        _pick("model", _labelled("Model", found), _with(found.rows, filter_.model), filter_.model or None)


def _offer_flags(run: OpenRun, filter_: Filter) -> None:
    others = _others(filter_, "flag")
    words, packages = outcomes.flag_counts(run, others), outcomes.missing_packages(run, others)
    names = [c.name for c in (*words.rows, *packages.rows)]
    if outcomes.flag_counts(run, Filter()).rows or filter_.flag:
        _pick("flag", _labelled("Flag", packages), _with(names, filter_.flag), filter_.flag or None)


def _others(filter_: Filter, field: str) -> Filter:
    """The filter's other fields: what these leave is what there is to choose from."""
    return msgspec.structs.replace(filter_, **{field: ""})


def _labelled(label: str, found: Most[Any]) -> str:
    return f"{label} ({part})" if (part := found.part()) else label


def _text(filter_: Filter) -> None:
    with bound.place("q"):
        st.text_input("Text", placeholder="task, sample, model or error", **_bound("q", filter_.q, ""))


def _pick(field: str, label: str, options: list[str], value: Any, *, many: bool = False) -> None:
    widget: Any = st.multiselect if many else st.selectbox
    extra = {} if many else {"index": None}
    with bound.place(field):
        widget(
            label,
            options,
            format_func=plain.text,
            placeholder="any",
            **_bound(field, value, () if many else ""),
            **extra,
        )


def _rewards(filter_: Filter) -> None:
    left, right = st.columns(2)
    for column, field, label in ((left, "r_min", "Reward from"), (right, "r_max", "to")):
        tied = _bound(field, getattr(filter_, field), None)
        with column, bound.place(field):
            st.number_input(label, value=None, step=0.1, format="%g", placeholder="any", **tied)


def _bound(field: str, value: Any, empty: Any) -> Bound:
    """A widget for a field of the filter, which is `empty` where nothing is chosen."""

    def choose(view: View, chosen: Any) -> View:
        chosen = tuple(chosen) if isinstance(chosen, list) else chosen
        return view.but(page=1, **{field: empty if chosen in (None, "", ()) else chosen})

    return bound.to(f"w_{field}", value, choose)


def _with(options: list[str], value: str) -> list[str]:
    """The options, with the URL's own value among them even where the run does not have it."""
    return options if not value or value in options else [value, *options]


def _no_entry(view: View) -> None:
    names = [e.name for e in workspace.entries()]
    if not names:
        facts.banner("Nothing is open. Start the dashboard with a run or with rollouts:", warn=True)
        st.code(
            "rollscope view RUN\nrollscope view ROLLOUTS.jsonl --dataset DATASET.jsonl\n"
            "rollscope grade ROLLOUTS.jsonl --dataset DATASET.jsonl",
            language=None,
        )
        return
    facts.banner(f"{view.run} is not open here. Choose one of the runs that are:", warn=True)
    for name in names:
        state.link("overview", View(run=name), name)


def _empty_run(run: OpenRun) -> None:
    manifest = run.manifest
    running = unfinished.is_growing(run)
    said = "No rollout has been graded yet: the run is being made." if running else "This run holds no rollouts."
    facts.banner(f"{said} Rollouts file: {manifest.get('rollouts') or 'not named'}.", warn=True)
    if not running:
        st.code("rollscope grade ROLLOUTS.jsonl --dataset DATASET.jsonl", language=None)
    facts.problems(manifest)
