"""The Rollouts page as a grid, tasks x samples or one task's rollouts x test cases, and the selected cell's preview."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from dashboard import controls, facts, state, widgets
from dashboard.components import grid as cells
from dashboard.components import links
from dashboard.controls import Screen
from dashboard.queries import aggregates, dataset, listing, records, task_names
from dashboard.queries.listing import TASKS_PER_PAGE, CaseRow, GridRow
from dashboard.queries.orders import GRID_SORTS, SORTS, is_order
from dashboard.rollouts import preview
from dashboard.state import View
from dashboard.workspace import OpenRun

SHAPES = {"grid": "Grid", "table": "Table", "search": "Search"}
_FAILED = frozenset("WECTMONR")


def head(screen: Screen, tools: Mapping[str, Callable[[Screen], None]]) -> str:
    """The choice of a shape, and what belongs to it. Returns `grid`, `table`, `search` or `task`.

    `tools` draw what belongs to a shape other than the grid.
    """
    view = screen.view
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if view.task:
            shape = "task"
            state.link("rollouts", view.but(task="", test=None, at="", sort="", page=1), "All tasks")
            facts.note(task_names.name(screen.run, view.task), strong=True)
            state.link("tasks", view.place().but(task=view.task), "Its prompt and test cases")
        else:
            shape = widgets.choice("Shape", SHAPES, view, key="w_shape", default="grid")
        if shape == "grid":
            widgets.show(
                "selectbox", "w_sort_grid", view.sort if view.sort in GRID_SORTS else "",
                lambda view, chosen: view.but(sort=chosen, page=1), "Order", list(GRID_SORTS), width=210,
                format_func=lambda word: GRID_SORTS[word][0], label_visibility="collapsed",
            )  # fmt: skip
            _column_picker(screen)
        if shape in ("grid", "task"):
            _zoom(view)
        else:
            tools[shape](screen)
    return shape


def _column_picker(screen: Screen) -> None:
    several = listing.several(screen.run)
    known = {word: label for word, label in cells.COLS.items() if word == "sample" or word in several}
    if len(known) > 1:
        widgets.choice("Columns", known, screen.view, key="w_cols", field="cols", default=_default_columns(screen.run))


def _default_columns(run: OpenRun) -> str:
    """By step where one model was trained."""
    return "step" if listing.several(run) == ["step"] else "sample"


def _zoom(view: View) -> None:
    place = cells.ZOOMS.index(cells.nearest_zoom(view.zoom))
    with st.container(horizontal=True, gap=None, width="content"):
        for label, key, step in (("\N{MINUS SIGN}", "zoom_out", -1), ("\\+", "zoom_in", 1)):
            target = place + step
            is_end = not 0 <= target < len(cells.ZOOMS)
            zoom = None if is_end or cells.ZOOMS[target] == cells.ZOOM else cells.ZOOMS[target]
            st.button(label, key=key, disabled=is_end, on_click=_write, args=({"zoom": zoom},))


def grid(screen: Screen) -> None:
    """Tasks x samples, one page of tasks at a time, and the preview of the selected sample."""
    view, run = screen.view, screen.run
    count = listing.task_count(run, view.filter)
    controls.pager(view, count, TASKS_PER_PAGE, "tasks")
    unverified = 0 if run.recorded else aggregates.unverified_count(run, view.filter)
    links.legend(aggregates.verdict_counts(run, view.filter), unverified, view, recorded=run.recorded)
    _task_grid(run, controls.page_of(view, count, TASKS_PER_PAGE), is_paged=count > TASKS_PER_PAGE)


@st.fragment
def _task_grid(run: OpenRun, page: int, *, is_paged: bool) -> None:
    preview.follow()
    view = state.read().but(run=run.name)
    rows = listing.grid(run, view.filter, view.sort, page)
    columns = cells.arranged(rows, view.cols if view.cols in cells.COLS else _default_columns(run), view.filter)
    selected = _selected_sample(rows, columns.samples, view.at)
    known = {row.task_id: (row, places) for row, places in zip(rows, columns.samples, strict=True)}

    def sample_at(task: str, column: int) -> str | None:
        row, places = known.get(task, (None, []))
        place = places[column] if 0 <= column < len(places) else None
        return None if row is None or place is None else row.ids[place]

    def on_select(task: str, column: int) -> None:
        if sample := sample_at(task, column):
            _write({"at": f"{task}|{sample}"})

    def on_open(task: str, column: int) -> None:
        if sample := sample_at(task, column):
            preview.leave("completion", completion(view.but(at=f"{task}|{sample}"), task, sample))
        elif column < 0:
            preview.leave("rollouts", view.place().but(task=task, zoom=view.zoom))

    left, right = _halves(max((len(places) for places in columns.samples), default=0))
    with left:
        look = cells.Look(cells.nearest_zoom(view.zoom), selected, _height(184 + 42 * is_paged), run.recorded)
        names = task_names.names(run, [row.task_id for row in rows])
        cells.tasks_by_samples(rows, names, columns, look, on_select=on_select, on_open=on_open)
    with right:
        if selected and (sample := sample_at(task := rows[selected[0]].task_id, selected[1])):
            at = f"{task}|{sample}"
            preview.show(run, task, sample, None, completion(view.but(at=at), task, sample))


def _selected_sample(
    rows: Sequence[GridRow], columns: Sequence[Sequence[int | None]], at: str
) -> tuple[int, int] | None:
    """The cell of the address, else the first failure that the filter lets through, else the first that it does."""
    inside = None
    for number, (row, places) in enumerate(zip(rows, columns, strict=True)):
        if at.startswith(f"{row.task_id}|") and (sample := at[len(row.task_id) + 1 :]) in row.ids:
            return number, places.index(row.ids.index(sample))
    for number, (row, places) in enumerate(zip(rows, columns, strict=True)):
        for column, place in enumerate(places):
            if place is not None and row.mask[place] == "1":
                if row.letters[place] in _FAILED:
                    return number, column
                inside = inside or (number, column)
    return inside


def one_task(screen: Screen) -> None:
    """One task's rollouts x test cases. A column of failures means a suspect test, not a bad model."""
    view, run = screen.view, screen.run
    found = listing.case_grid(run, view.filter, view.task)
    if not found.rows:
        nearest = records.nearest(run, view.task)
        facts.banner(f"No rollout of {view.task} is in this run.", warn=True)
        if nearest:
            state.link("rollouts", view.but(task=nearest), f"Nearest: {nearest}")
        return
    _case_grid(run, view.task)
    if part := found.part("rollout"):
        facts.note(f"Shown: the {part} of this task.")


@st.fragment
def _case_grid(run: OpenRun, task: str) -> None:
    preview.follow()
    view = state.read().but(run=run.name)
    rows = listing.case_grid(run, view.filter, task).rows
    counts = dataset.case_counts(run, task)
    selected = _selected_case(rows, task, view)

    def on_select(sample: str, column: int) -> None:
        _write({"at": f"{task}|{sample}", "test": column if column >= 0 else None})

    def on_open(sample: str, column: int) -> None:
        test = column if column >= 0 else None
        here = view.but(at=f"{task}|{sample}", test=test)
        preview.leave("completion", completion(here, task, sample).but(test=test))

    left, right = _halves(len(counts))
    with left:
        look = cells.Look(cells.nearest_zoom(view.zoom), selected, _height(150), run.recorded)
        cells.rollouts_by_cases(rows, counts, look, on_select=on_select, on_open=on_open)
    with right:
        if selected:
            sample = rows[selected[0]].sample_id
            test = selected[1] if selected[1] >= 0 else None
            if test is not None:
                preview.task_answers(run, task, sample, test)
            here = view.but(at=f"{task}|{sample}", test=test)
            preview.show(run, task, sample, test, completion(here, task, sample))


def _selected_case(rows: Sequence[CaseRow], task: str, view: View) -> tuple[int, int] | None:
    """The cell of the address, else the first failure."""
    for number, row in enumerate(rows):
        if view.at == f"{task}|{row.sample_id}":
            return number, view.test if view.test is not None and view.test < len(row.letters) else -1
    for number, row in enumerate(rows):
        for column, letter in enumerate(row.letters):
            if row.inside and letter in _FAILED and view.test in (None, column):
                return number, column
    return (0, 0 if rows[0].letters else -1) if rows else None


def _height(around: int) -> str:
    """The height that the grid may have, where so many pixels are above and below it."""
    return f"max(300px, calc(100vh - {around}px))"


def _halves(columns: int) -> list[st.delta_generator.DeltaGenerator]:
    """The grid and the preview, which gets what so many columns leave."""
    share = 2 if columns <= 6 else 2.25 if columns <= 8 else 2.5 if columns <= 16 else 3
    return st.columns([share, 5 - share], gap="small")


def completion(view: View, task: str, sample: str) -> View:
    """The completion, opened from this list: its next and previous follow the list's order."""
    sort = view.sort if (view.view and is_order(view.sort)) or view.sort in SORTS else ""
    return view.place().but(task=task, sample=sample, sort=sort, up=view.below())


def _write(changes: dict[str, object]) -> None:
    state.write(state.read().but(**changes))
