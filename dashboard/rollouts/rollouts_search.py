"""The Rollouts page as a search: the field, and the line of the first match of each rollout that has one."""

from __future__ import annotations

import streamlit as st

from dashboard import controls, facts, widgets
from dashboard.components.rollout_table import Cell, Header, Match, Verdict
from dashboard.controls import Screen
from dashboard.filters import search_progress
from dashboard.queries import listing, search
from dashboard.queries.listing import ROLLOUTS_PER_PAGE
from dashboard.rollouts.rollouts_table import HEADERS, opened_from
from dashboard.wording import short_sample

_HELP = (
    "Text to find in completions and code, as written: case counts. Between slashes: a regular expression (RE2), "
    "such as /^import (os|sys)/ or /(?i)todo/."
)


def field(screen: Screen) -> None:
    """The text to find, which is part of the filter, and how far the search is."""
    find = screen.view.filter.find
    widgets.show(
        "text_input", "w_find_here", find, lambda view, chosen: view.but(find=chosen, page=1), "Find", width=330,
        placeholder="text, or /regular expression/", label_visibility="collapsed", help=_HELP,
    )  # fmt: skip
    if find:
        now = search.scan(screen.run, find).progress()
        if now.state == "finished" and not now.error:
            facts.note(search_progress.line(now))


def require_text(screen: Screen) -> None:
    """Without a text to find, says how to search, and ends the page."""
    if not screen.view.filter.find:
        facts.note(
            f"{_HELP} The search is part of the filter: it applies to all pages, next and previous, and the export."
        )
        st.stop()


def hits(screen: Screen) -> None:
    """One row per rollout that the search found, with the line of the first match."""
    view, run = screen.view, screen.run
    controls.pager(view, screen.shown, ROLLOUTS_PER_PAGE, "rollouts")
    found = listing.hits(run, view.filter, view.sort, controls.page_of(view, screen.shown, ROLLOUTS_PER_PAGE))
    headers = [
        *(HEADERS[name] for name in ("verdict", "task_id", "model", "sample_id")),
        Header("place", "in", sortable=False),
        Header("line", "line", "number", sortable=False),
        Header("match", "first match", "wide", sortable=False),
    ]
    rows: list[list[Cell]] = [
        [
            Verdict(hit.verdict), hit.task_id, hit.model, short_sample(hit.task_id, hit.sample_id, hit.model),
            "code" if hit.in_code else "text", f"{hit.line:,}", Match(hit.before.lstrip(), hit.hit, hit.after),
        ]
        for hit in found
    ]  # fmt: skip
    ids = [(hit.task_id, hit.sample_id) for hit in found]
    opened_from(screen, headers, ids, rows, key="hit_table", linked=3)
