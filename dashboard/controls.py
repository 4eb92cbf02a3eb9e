"""What every page has: the links between pages, the sidebar with run picker and filter, the banners."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from dashboard import escape, facts, input_problems, navigation, sandbox_state, state, widgets, workspace
from dashboard.facts import counted
from dashboard.filters import filter_panel, search_progress
from dashboard.grading import run_banners, ungraded
from dashboard.grading.grading_jobs import jobs
from dashboard.queries import aggregates, query, search
from dashboard.state import Filter, View
from dashboard.workspace import Entry, OpenRun

_COUNTED = "_counted"
"""In the session: the key of the run that the sidebar counts."""
_FOUND = "_found"
"""How much the search had found when the sidebar began to count."""
_CLAUSE_NAMES = {
    "verdicts": "verdict",
    "model": "model",
    "err": "error",
    "flag": "flag",
    "verified": "verified",
    "tag": "tag",
    "given": "given reward",
    "recorded": "recorded verdict",
    "q": "text",
    "find": "text in code",
    "r_min": "reward from",
    "r_max": "reward to",
    "step_min": "step from",
    "step_max": "step to",
    "wall_min": "wall time from",
    "wall_max": "wall time to",
    "len_min": "length from",
    "len_max": "length to",
}


@dataclass(frozen=True)
class Screen:
    """What a page draws: the view, the open run, and how many of its rollouts pass the filter."""

    view: View
    run: OpenRun
    shown: int
    total: int


def page_links() -> None:
    """One link per page; each keeps the run and the filter."""
    view = state.read().place()
    with st.container(horizontal=True, key="nav", gap="small", vertical_alignment="center"):
        for name, title in state.PAGES.items():
            state.link(name, view, title)
        st.space("stretch")
        navigation.offer_keys(navigation.page())


def name_tab() -> None:
    """The browser's tab says which run and which page it shows."""
    chosen = workspace.entry(state.read())
    words = [*([chosen.name] if chosen else []), state.PAGES[navigation.page()], "Rollscope"]
    st.set_page_config(page_title=" · ".join(escape.text(word) for word in words))


def sidebar() -> None:
    """The run picker and the filter, nothing else."""
    view = state.read()
    st.session_state[_COUNTED] = None
    with st.sidebar:
        entries = workspace.entries()
        if not entries:
            return
        chosen = workspace.entry(view)
        _run_picker(entries, chosen, view)
        if chosen is None or jobs().starting(chosen.path) or not ungraded.is_readable(chosen):
            return
        run = workspace.open_run(chosen)
        st.session_state[_COUNTED] = run.key
        st.session_state[_FOUND] = search.scan(run, view.filter.find).hits if view.filter.find else 0
        filter_panel.show(run, view)


def banners() -> None:
    """Above every page: why this machine can't grade, and the fix."""
    fix = sandbox_state.fix()
    if fix is not None:
        facts.banner(f"No sandbox here: you can read grades, but not grade or run anything. {fix}", warn=True)


def screen(*, named: bool = True, even_empty: bool = False) -> Screen:
    """The view and its run. Without a run, says what to do next and ends the page.

    This puts the run into the URL, as another server may list another run first. A page that adds more to the URL
    passes `named=False` and calls `state.name` itself. `even_empty`: the page continues for a run without rollouts.
    """
    navigation.require()
    view = state.read()
    chosen = workspace.entry(view)
    if chosen is None:
        run_banners.back(view.run)
        _no_entry(view)
        st.stop()
    view = view.but(run=chosen.name)
    is_readable = ungraded.is_readable(chosen)
    if named or not is_readable:
        state.name(navigation.page(), view)
    if not is_readable:
        ungraded.unreadable(chosen)
        st.stop()
    if jobs().starting(chosen.path):
        run_banners.starting(chosen)
        st.stop()
    run = workspace.open_run(chosen)
    if st.session_state.get(_COUNTED) != run.key:
        st.rerun()  # it has grown since the sidebar was drawn: both must count the same rollouts
    total = query.count(run, Filter())
    run_banners.unreadable_notes(run)
    if run.recorded:
        ungraded.banners(chosen, run, whole=navigation.page() == "overview")
    else:
        run_banners.degraded(run)
        run_banners.growing(run)
        run_banners.stopped(run, total)
    if total == 0:
        _empty_run(run, view, with_problems=not even_empty)
        if not even_empty:
            st.stop()
    search_progress.watch(run, view.filter.find)
    if view.filter.find and search.ended_with_more(run, view.filter.find, st.session_state.get(_FOUND, 0)):
        st.rerun()  # the sidebar's counts are from before the search had ended
    return Screen(view, run, query.count(run, view.filter), total)


def require_rows(screen_: Screen) -> None:
    """If the filter matches nothing, offer to remove each of its fields, and end the page."""
    if screen_.shown:
        return
    if (find := screen_.view.filter.find) and search.scan(screen_.run, find).progress().state == "running":
        facts.note("Nothing found yet.")
        st.stop()
    facts.banner(f"The filter matches none of {counted(screen_.total, 'rollout')}.", warn=True)
    for name, count in query.without_each(screen_.run, screen_.view.filter):
        label = f"Remove {_CLAUSE_NAMES[name]}: {counted(count, 'rollout')}"
        cleared = screen_.view.but(page=1, **{name: getattr(Filter(), name)})
        st.button(escape.markdown(label), key=f"undo_{name}", on_click=state.write, args=(cleared,))
    st.stop()


def page_of(view: View, count: int, size: int) -> int:
    """The view's page number, at most the last page."""
    return min(view.page, max(1, -(-count // size)))


def pager(view: View, count: int, size: int, noun: str) -> None:
    """Links to further pages, if there are any, and the range that is shown."""
    if count <= size:
        return
    page = page_of(view, count, size)
    first = (page - 1) * size
    with st.container(horizontal=True, vertical_alignment="center"):
        widgets.show(
            "pagination", "w_page", page, lambda view, chosen: view.but(page=chosen), -(-count // size), width="content"
        )
        facts.note(f"{noun} {first + 1:,} to {min(first + size, count):,} of {count:,}")


_NAME_SHOWN = 20
"""Characters of a run's name for which there is room; the mark beside "Run" shows the whole."""


def _run_picker(entries: list[Entry], chosen: Entry | None, view: View) -> None:
    names = [e.name for e in entries]
    graded = {e.name: e.graded for e in entries}
    whole = escape.markdown(chosen.name) if chosen and len(chosen.name) > _NAME_SHOWN else None
    # Another run has other tasks, models and errors: its filter starts empty.
    widgets.show(
        "selectbox", "w_run", chosen.name if chosen else None, lambda _, name: View(run=name or ""), "Run", names,
        format_func=lambda name: escape.text(name) if graded[name] else f"{escape.text(name)} (not graded)",
        placeholder="choose a run" if view.run else "", help=whole,
    )  # fmt: skip


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
    facts.banner(f"{view.run} is not open here. Choose another run:", warn=True)
    for name in names:
        state.link("overview", View(run=name), name)


def pooled(screen: Screen, text: str) -> str:
    """The text with the number of models, for a figure over several; "" for a single model."""
    total = aggregates.models(screen.run, screen.view.filter).total
    return text.format(counted(total, "model")) if total > 1 else ""


def _empty_run(run: OpenRun, view: View, *, with_problems: bool) -> None:
    running = run_banners.is_growing(run)
    said = "The run has just started: no rollout is graded yet." if running else "This run holds no rollouts."
    facts.banner(f"{said} Rollouts file: {run.manifest.rollouts or 'unknown'}.", warn=True)
    if not running:
        st.code("rollscope grade ROLLOUTS.jsonl --dataset DATASET.jsonl", language=None)
    if with_problems:
        input_problems.link(run, view)
