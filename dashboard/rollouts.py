"""The Rollouts page in its three shapes: tasks x samples, a table, one task's rollouts x test cases."""

from __future__ import annotations

import pyarrow as pa
import streamlit as st

from dashboard import bars, controls, escape, facts, select_table, state
from dashboard import grid as cells
from dashboard.controls import Screen
from dashboard.queries import aggregates, dataset, listing, records
from dashboard.queries.listing import ROLLOUTS_PER_PAGE, TASKS_PER_PAGE
from dashboard.queries.orders import GRID_SORTS, SORTS
from dashboard.state import View

_SHAPES = {"grid": "Grid", "table": "Table"}


def head(screen: Screen) -> str:
    """The choice of grid or table, and the order. Returns `grid` or `table`."""
    view = screen.view
    with st.container(horizontal=True, vertical_alignment="center"):
        if view.task:
            state.link("rollouts", view.place(), "All tasks")
            shape = "grid"
            facts.note(view.task, strong=True)
            state.link("tasks", view.place().but(task=view.task), "Its prompt and test cases")
        else:
            shape = controls.choice("Shape", _SHAPES, view, key="w_shape", default="grid")
            controls.sort_picker(view, GRID_SORTS if shape == "grid" else SORTS, key=f"w_sort_{shape}")
    return shape


def grid(screen: Screen) -> None:
    """Tasks x samples, one page of tasks at a time."""
    view, run = screen.view, screen.run
    count = listing.task_count(run, view.filter)
    controls.pager(view, count, TASKS_PER_PAGE, "tasks")
    rows = listing.grid(run, view.filter, view.sort, controls.page_of(view, count, TASKS_PER_PAGE))
    samples = {row.task_id: row.ids for row in rows}
    cells.tasks_by_samples(rows, lambda task, column: _open_sample(screen, task, samples.get(task, []), column))
    bars.legend(aggregates.verdict_counts(run, view.filter), aggregates.unverified_count(run, view.filter), view)


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
    counts = dataset.case_counts(run, view.task)
    cells.rollouts_by_cases(found.rows, counts, lambda sample, test: _open_case(screen, sample, test))
    if part := found.part("rollout"):
        facts.note(f"Shown: the {part} of this task.")


def table(screen: Screen) -> None:
    """One row per rollout, sorted and paged in SQL; a selected row opens."""
    view, run = screen.view, screen.run
    controls.pager(view, screen.shown, ROLLOUTS_PER_PAGE, "rollouts")
    page = controls.page_of(view, screen.shown, ROLLOUTS_PER_PAGE)
    found = listing.table(run, view.filter, view.sort, page)
    ids = found.select(["task_id", "sample_id"]).to_pylist()
    if found["unverified_reason"].null_count == len(found):
        found = found.drop_columns("unverified_reason")  # all are verified: an empty column would waste room

    def opened(row: int) -> None:
        _go(screen, ids[row]["task_id"], ids[row]["sample_id"], None)

    select_table.show(_drawn(found), key="rollout_table", columns=_COLUMNS, height=560, on_pick=opened)
    facts.note("Tick a row to open the completion.")


def _drawn(found: pa.Table) -> pa.Table:
    """The table with all its texts escaped."""
    for place, column in enumerate(found.schema):
        if pa.types.is_string(column.type):
            texts = [text and escape.text(text) for text in found.column(place).to_pylist()]
            found = found.set_column(place, column, pa.array(texts, column.type))
    return found


def _open_sample(screen: Screen, task: str, samples: list[str], column: int) -> None:
    if column < 0:
        state.go("rollouts", screen.view.place().but(task=task))
        return
    if column < len(samples):
        _go(screen, task, samples[column], None)


def _open_case(screen: Screen, sample: str, test: int) -> None:
    _go(screen, screen.view.task, sample, test if test >= 0 else None)


def _go(screen: Screen, task: str, sample: str, test: int | None) -> None:
    sort = screen.view.sort if screen.view.sort in SORTS else ""
    up = screen.view.below()
    target: View = screen.view.place().but(task=task, sample=sample, test=test, sort=sort, up=up)
    state.go("completion", target)


_COLUMNS = {
    "task_id": st.column_config.TextColumn("task", width=150),
    "sample_id": st.column_config.TextColumn("sample", width=160),
    "model": st.column_config.TextColumn("model", width=150),
    "verdict": st.column_config.TextColumn("verdict", width=110),
    "unverified_reason": st.column_config.TextColumn("not verified", width=150, help="why it is not verified"),
    "reward": st.column_config.NumberColumn("reward", format="%.3g", width=70),
    "tests_passed": st.column_config.NumberColumn("passed", width=65),
    "tests_total": st.column_config.NumberColumn("tests", width=55),
    "error_type": st.column_config.TextColumn("error", width=120),
    "error_message": st.column_config.TextColumn("message", width="large"),
    "error_line": st.column_config.NumberColumn("line", format="%d", width=50),
    "flags": st.column_config.TextColumn("flags", width=120),
    "wall_s": st.column_config.NumberColumn("wall, s", format="%.3f", width=75),
    "memory_mb": st.column_config.NumberColumn("memory, MiB", format="%.0f", width=95),
}
