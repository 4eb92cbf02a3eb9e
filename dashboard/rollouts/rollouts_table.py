"""The Rollouts page as a table: one row per rollout, or one per group of them; or as a search."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from dashboard import controls, facts, state, theme, widgets
from dashboard.components import rollout_table
from dashboard.components.rollout_table import Cell, Counts, Header, Match, Row, Verdict
from dashboard.controls import Screen
from dashboard.facts import number, short_sample
from dashboard.filters import search_progress
from dashboard.queries import listing, search, task_names
from dashboard.queries.listing import ROLLOUTS_PER_PAGE, Group
from dashboard.queries.orders import COLUMNS, GROUPS
from dashboard.rollouts.rollouts import completion
from dashboard.state import View
from evaluator.model import Verdict as VerdictWord

_HEIGHT = "max(300px, calc(100vh - 190px))"
_USUAL = (
    "verdict", "task_id", "model", "step", "sample_id", "reward", "recorded_verdict", "recorded_word", "tests",
    "error_type", "error_message", "flags", "wall_s", "memory_mb", "unverified_reason",
)  # fmt: skip
_ALWAYS = {"verdict", "task_id", "sample_id", "reward", "tests"}
"""The other usual columns are left out where no rollout of the page has a value."""
_OF_GRADES = {"recorded_verdict", "tests", "unverified_reason"}
"""Usual columns that say nothing of rollouts that are not graded: their verdict is the recorded one."""
HEADERS: dict[str, Header] = {
    name: Header(name, column.label, column.look, column.title) for name, column in COLUMNS.items()
}
_FORMATS: dict[str, Callable[[Any], str]] = {
    "reward": "{:.3g}".format,
    "given_reward": "{:.3g}".format,
    "wall_s": "{:.3f}".format,
    "cpu_s": "{:.3f}".format,
    "memory_mb": "{:,.0f}".format,
    "length": "{:,}".format,
}
"""What stands between the parts of a sample's id."""
_BY = {"": "no groups", "model": "model", "step": "step", "task_id": "task", "verdict": "verdict", "err": "error"}


def tools(screen: Screen) -> None:
    """What to group by, and which columns."""
    view = screen.view
    by = view.by if view.by in GROUPS else ""
    widgets.show(
        "selectbox", "w_by", by, lambda view, chosen: view.but(by=chosen or "", sort="", page=1), "Group by", list(_BY),
        format_func=lambda word: f"by {_BY[word]}" if word else "Group by", label_visibility="collapsed", width=130,
    )  # fmt: skip
    if not by:
        with st.popover("Columns", key="columns"):
            widgets.show(
                "pills", "w_fields", _fields(view), _with_fields, "Columns", list(COLUMNS), selection_mode="multi",
                label_visibility="collapsed", format_func=lambda name: HEADERS[name].label or name, width=420,
            )  # fmt: skip


def _fields(view: View) -> list[str]:
    """The columns of the address, in the table's order; the usual ones if it has none."""
    chosen = set(view.fields.split(",")) & COLUMNS.keys() or _USUAL
    return [name for name in COLUMNS if name in chosen]


def _with_fields(view: View, chosen: list[str]) -> View:
    names = [name for name in COLUMNS if name in chosen]
    return view.but(fields="" if set(names) == set(_USUAL) else ",".join(names))


def show(screen: Screen) -> None:
    """The table that the address says."""
    if screen.view.by in GROUPS:
        _groups(screen)
    else:
        _rollouts(screen)


def _rollouts(screen: Screen) -> None:
    """One row per rollout, sorted and paged in SQL; a click opens."""
    view, run = screen.view, screen.run
    controls.pager(view, screen.shown, ROLLOUTS_PER_PAGE, "rollouts")
    names = [name for name in _fields(view) if view.fields or not (run.recorded and name in _OF_GRADES)]
    page = controls.page_of(view, screen.shown, ROLLOUTS_PER_PAGE)
    found = listing.table(run, view.filter, view.sort, page, names)
    shown = {
        name: place
        for place, name in enumerate(names, 2)
        if view.fields or name in _ALWAYS or any(row[place] not in (None, "") for row in found)
    }
    known = task_names.names(run, sorted({row[0] for row in found}))
    reason = names.index("unverified_reason") + 2 if "unverified_reason" in names else None
    rows = [
        [
            known.get(row[0], row[0])
            if name == "task_id"
            else short_sample(row[0], row[1], row[shown["model"]] if "model" in shown else None)
            if name == "sample_id"
            else _cell(name, row[place], recorded=run.recorded, verified=not (reason and row[reason]))
            for name, place in shown.items()
        ]
        for row in found
    ]
    linked = next((number for number, name in enumerate(shown) if name in ("sample_id", "task_id")), 0)
    ids = [(row[0], row[1]) for row in found]
    opened_from(screen, [HEADERS[name] for name in shown], ids, rows, key="rollout_table", linked=linked)


def opened_from(
    screen: Screen,
    headers: Sequence[Header],
    ids: Sequence[tuple[str, str]],
    rows: Sequence[Sequence[Cell]],
    *,
    key: str,
    linked: int,
) -> None:
    """A table whose rows are the rollouts `ids`."""
    view = screen.view
    selected = next((place for place, (task, sample) in enumerate(ids) if view.at == f"{task}|{sample}"), None)
    drawn = [Row(cells, state.href("completion", _target(view, *pair))) for cells, pair in zip(rows, ids, strict=True)]
    rollout_table.show(
        headers, drawn, key=key, sort=view.sort, height=_HEIGHT, linked=linked,
        on_sort=lambda sort: state.write(state.read().but(sort=sort, page=1, at="")), selected=selected,
    )  # fmt: skip


def _target(view: View, task: str, sample: str) -> View:
    return completion(view.but(at=f"{task}|{sample}"), task, sample)


def _cell(name: str, value: Any, *, recorded: bool, verified: bool) -> Cell:
    if value is None:
        return None
    if name == "verdict":
        return Verdict(value, recorded=recorded, verified=verified)
    if name == "recorded_verdict":
        return Verdict(value, recorded=True)
    if name in ("error_message", "unverified_reason", "recorded_word", "recorded_by"):
        return " ".join(str(value).split())
    return _FORMATS.get(name, str)(value)


def _groups(screen: Screen) -> None:
    """One row per group, with what became of its rollouts; a click shows them."""
    view, run = screen.view, screen.run
    found = listing.groups(run, view.filter, view.by, view.sort, view.page)
    if not found.rows:  # beyond the last page
        found = listing.groups(run, view.filter, view.by, view.sort, 1)
    controls.pager(view, found.total, ROLLOUTS_PER_PAGE, "groups")
    headers = [
        Header("value", _BY[view.by], "long"),
        Header("rollouts", "rollouts", "number"),
        Header("pass_rate", "pass rate", "number", "of the graded rollouts"),
        Header("reward", "mean reward", "number", "of the rollouts with a reward"),
        Header("verdicts", "verdicts", "wide", "rollouts by verdict", sortable=False),
    ]
    rows = [
        Row(_group_cells(view.by, group), state.href("rollouts", target) if (target := _inside(view, group)) else None)
        for group in found.rows
    ]
    rollout_table.show(
        headers, rows, key="group_table", sort=view.sort, height=_HEIGHT, linked=0,
        on_sort=lambda sort: state.write(state.read().but(sort=sort, page=1)),
    )  # fmt: skip


def _group_cells(by: str, group: Group) -> list[Cell]:
    verdicts = [(v.value, group.verdicts[v.value]) for v in VerdictWord if v.value in group.verdicts]
    if group.value is None:
        value: Cell = "passed" if by == "err" else "none"
    elif by == "verdict":
        value = Verdict(theme.verdict(str(group.value)).value, str(group.value))
    else:
        value = str(group.value)
    rate = "–" if group.pass_rate is None else f"{group.pass_rate:.1%}"
    return [value, f"{group.rollouts:,}", rate, number(group.reward), Counts(verdicts)]


def _inside(view: View, group: Group) -> View | None:
    """The rollouts of a group; None where the filter can't say which they are."""
    list_ = view.place().but(view="table", fields=view.fields)
    if view.by == "err" and group.value is None:
        return list_.but(verdicts=("passed",))
    if group.value is None:
        return None
    if view.by == "task_id":
        return view.place().but(task=str(group.value))
    changes: dict[str, dict[str, object]] = {
        "model": {"model": group.value},
        "step": {"step_min": group.value, "step_max": group.value},
        "verdict": {"verdicts": (str(group.value),)},
        "err": {"err": group.value},
    }
    return list_.but(**changes[view.by])


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
