"""The Export dialog: the filtered rollouts as a file, written by the library's export."""

from __future__ import annotations

import gzip
import tempfile
from typing import IO, cast

import streamlit as st

from dashboard import escape, facts
from dashboard.facts import counted
from dashboard.queries import query
from dashboard.state import Filter, View
from dashboard.workspace import OpenRun
from evaluator.report import write_report
from evaluator.runs.export import CASE_DEFAULTS, ROLLOUT_DEFAULTS, Per, export, export_columns
from evaluator.runs.expressions import KIND_COLUMN
from evaluator.runs.notes import CASE_NOTE_COLUMNS, NOTE_COLUMNS

_FORMATS = {"csv": "CSV", "jsonl": "JSONL", "parquet": "Parquet", "html": "HTML report"}
_MIME = {
    "csv": "text/csv", "jsonl": "application/jsonl", "parquet": "application/vnd.apache.parquet", "html": "text/html",
    "gz": "application/gzip",
}  # fmt: skip
_PER: dict[Per, str] = {"rollout": "one row per rollout", "case": "one row per test case"}
_OF_FILE = (
    "task_id", "sample_id", "sample_index", "group", "model", "step", "reward", "verdict", "error_message",
    "recorded_verdict", "recorded_word", "recorded_by", "given_reward", "completion",
)  # fmt: skip
_LONG_COLUMNS = {"code", "completion", "metadata"}
_PACKED_FROM = 50_000_000
"""Characters: Streamlit holds a download in memory, so a larger text file is packed."""
_LONGEST_NAME = 100


def offer(run: OpenRun, view: View) -> None:
    """The button that opens the dialog."""
    shown = query.count(run, view.filter)
    if st.button("Export", key="export", help="Export the filtered rollouts", disabled=shown == 0):
        _dialog(run, view.filter)


@st.dialog("Export", width="medium")
def _dialog(run: OpenRun, filter_: Filter) -> None:
    shown, total = query.count(run, filter_), query.count(run, Filter())
    facts.note(f"{shown:,} of {counted(total, 'rollout')}{', as filtered' if filter_ else ''}", strong=True)
    format_ = st.segmented_control(
        "Format", list(_FORMATS), format_func=_FORMATS.__getitem__, default="csv", required=True, key="export_format"
    )
    if format_ == "html":
        facts.note("One page to send around or print: figures, grid, the first failures, notes. It loads nothing.")
        _download(run, filter_, format_, "rollout", [])
        return
    per: Per = "rollout"
    if not run.recorded:  # nothing ran, so there are no results of test cases
        per = st.segmented_control(
            "Rows", list(_PER), format_func=_PER.__getitem__, default="rollout", required=True, key="export_per"
        )
    if per == "case":
        facts.note(counted(query.case_count(run, filter_), "test case"))
    columns = st.multiselect(
        "Columns", export_columns(per), default=default_columns(run, per), key=f"export_columns_{per}"
    )
    if format_ == "csv":
        facts.note("Cells that a spreadsheet would run as a formula start with a quote.")
    _download(run, filter_, format_, per, columns)


def default_columns(run: OpenRun, per: Per) -> list[str]:
    """The library's, the kind of error that the filter knows, and the notes' where there are any."""
    if per == "case":
        judged = any(note.test is not None for note in run.notes.tasks)
        return [*CASE_DEFAULTS, *(CASE_NOTE_COLUMNS if judged else ())]
    noted = bool(run.notes.rollouts or run.notes.tasks)
    if run.recorded:
        return [*_OF_FILE, *(NOTE_COLUMNS if noted else ())]
    at = ROLLOUT_DEFAULTS.index("error_type")
    return [*ROLLOUT_DEFAULTS[:at], KIND_COLUMN, *ROLLOUT_DEFAULTS[at:], *(NOTE_COLUMNS if noted else ())]


def _download(run: OpenRun, filter_: Filter, format_: str, per: Per, columns: list[str]) -> None:
    packed = format_ in ("csv", "jsonl") and _is_long(run, filter_, per, columns)
    name = file_name(run, filter_, per, format_) + (".gz" if packed else "")
    if packed:
        facts.note("The file is large, so it is packed. pandas and DuckDB read it as it is.")

    def made() -> bytes:
        with tempfile.TemporaryFile() as file:
            if packed:
                with gzip.GzipFile(fileobj=file, mode="wb", compresslevel=1, mtime=0) as inner:
                    _write(run, filter_, cast("IO[bytes]", inner), format_, per, columns)
            else:
                _write(run, filter_, file, format_, per, columns)
            file.seek(0)
            return file.read()

    st.download_button(
        escape.markdown(f"Download {name}"),
        made,
        name,
        _MIME["gz" if packed else format_],
        type="primary",
        on_click="ignore",
        disabled=not columns and format_ != "html",
        key="export_download",
    )


def _write(run: OpenRun, filter_: Filter, file: IO[bytes], format_: str, per: Per, columns: list[str]) -> None:
    rows = query.rows_inside(run, filter_) if filter_ else None
    if format_ == "html":
        words = "&".join(f"{name}={value}" for name, value in View(filter=filter_).params().items())
        write_report(run.run, file, rows=rows, chosen_by=words, by_outcome=filter_.by_outcome)
    else:
        export(run.run, file, format=format_, per=per, rows=rows, columns=columns)


def _is_long(run: OpenRun, filter_: Filter, per: Per, columns: list[str]) -> bool:
    if per == "case":
        return query.case_count(run, filter_) * 200 > _PACKED_FROM
    return not _LONG_COLUMNS.isdisjoint(columns) and query.characters(run, filter_) > _PACKED_FROM


def file_name(run: OpenRun, filter_: Filter, per: Per, format_: str) -> str:
    """The run, and what the filter says: `mine.time_limit.csv`."""
    others = {name: value for name, value in View(filter=filter_).params().items() if name != "verdict"}
    name = escape.file_name(".".join([run.run.name, *filter_.verdicts, *others.values()]))[:_LONGEST_NAME]
    return f"{name}{'.cases' if per == 'case' else ''}.{format_}"
