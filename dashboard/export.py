"""The Export dialog: the filtered rollouts as a file, written by the library's export."""

from __future__ import annotations

import io

import streamlit as st

from dashboard import escape, facts
from dashboard.controls import Screen
from dashboard.queries import filter_sql
from dashboard.wording import counted
from evaluator.runs.export import CASE_DEFAULTS, ROLLOUT_DEFAULTS, Per, export
from evaluator.runs.schema import column_names

_MIME = {"csv": "text/csv", "jsonl": "application/jsonl", "parquet": "application/vnd.apache.parquet"}
_PER: dict[Per, str] = {"rollout": "one row per rollout", "case": "one row per test case"}


def offer(screen: Screen) -> None:
    """The button that opens the dialog."""
    if st.button("Export", key="export", disabled=screen.shown == 0):
        _dialog(screen)


@st.dialog("Export", width="medium")
def _dialog(screen: Screen) -> None:
    facts.note(f"{screen.shown:,} of {counted(screen.total, 'rollout')}, as filtered.", strong=True)
    left, right = st.columns(2)
    format_ = left.segmented_control("Format", list(_MIME), default="csv", required=True, key="export_format")
    per = right.segmented_control(
        "Rows", list(_PER), format_func=_PER.__getitem__, default="rollout", required=True, key="export_per"
    )
    defaults = ROLLOUT_DEFAULTS if per == "rollout" else CASE_DEFAULTS
    known = column_names("rollouts" if per == "rollout" else "cases")
    columns = st.multiselect("Columns", known, default=defaults, key=f"export_columns_{per}")
    if format_ == "csv":
        facts.note("Cells that a spreadsheet would run as a formula start with a quote.")
    filter_ = screen.view.filter

    def made() -> bytes:
        file = io.BytesIO()
        rows = filter_sql.rows_inside(screen.run, filter_) if filter_ else None
        export(screen.run.run, file, format=format_, per=per, rows=rows, columns=columns)
        return file.getvalue()

    name = escape.file_name(f"{screen.run.path.name}.{'cases.' if per == 'case' else ''}{format_}")
    st.download_button(
        escape.markdown(f"Download {name}"),
        made,
        name,
        _MIME[format_],
        type="primary",
        on_click="ignore",
        disabled=not columns,
        key="export_download",
    )
