"""The SQL page: a statement, and what it gave as a table, as a chart of one column against another, and as files."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import plotly.graph_objects as go
import pyarrow as pa
import pyarrow.compute as pc
import streamlit as st

from dashboard import charts, escape, facts, state, widgets
from dashboard.charts import curves
from dashboard.controls import Screen
from dashboard.facts import counted
from dashboard.queries import console
from dashboard.state import View
from dashboard.text import tables_view
from evaluator.runs.files import QueryError

if TYPE_CHECKING:
    from evaluator.runs.bounded_query import Form


KINDS = {"bar": "Bar", "line": "Line", "scatter": "Scatter"}
_POINTS = 5_000
_SERIES = 8
_TICKS = 40


class Axes(NamedTuple):
    """Names of columns; `series` may be empty."""

    x: str
    y: str
    series: str = ""


def numbers(table: pa.Table) -> list[str]:
    """The columns that can be the y axis."""
    return [field.name for field in table.schema if _is_number(field.type)]


def axes(table: pa.Table, x: str, y: str, series: str) -> Axes | None:
    """The chosen columns, with a choice for what is missing; None where no column has numbers."""
    columns, values = table.column_names, numbers(table)
    if not values:
        return None
    y = y if y in values else values[-1]
    x = x if x in columns else next((name for name in columns if name != y), y)
    return Axes(x, y, series if series in columns and series not in (x, y) else "")


def figure(table: pa.Table, kind: str, chosen: Axes, *, height: int) -> tuple[go.Figure, str]:
    """The figure, and what is left out of it."""
    drawn = _complete(table.slice(0, _POINTS), chosen)
    xs, ticks = _positions(drawn[chosen.x])
    ys = [float(value) for value in drawn[chosen.y].to_pylist()]
    names = [_text(value) for value in drawn[chosen.series].to_pylist()] if chosen.series else [""] * len(ys)
    every = list(dict.fromkeys(names))
    result = go.Figure()
    for index, name in enumerate(every[:_SERIES]):
        points = [(x, y) for x, y, of in zip(xs, ys, names, strict=True) if of == name]
        _add_series(result, kind, points, escape.plotly(name), index)
    _dress(result, chosen, len(ys), height, ticks, legend=bool(chosen.series))
    return result, "; ".join(_left_out(table, drawn, len(every), chosen))


def _complete(table: pa.Table, chosen: Axes) -> pa.Table:
    """The rows that have a number wherever the axes need one."""
    for name in (chosen.x, chosen.y):
        if _is_number(table[name].type):
            table = table.filter(pc.is_finite(table[name].cast(pa.float64(), safe=False)))
    return table


def _left_out(table: pa.Table, drawn: pa.Table, series: int, chosen: Axes) -> list[str]:
    said = []
    if table.num_rows > _POINTS:
        said.append(f"drawn: the first {_POINTS:,} of {table.num_rows:,} rows")
    if missing := min(table.num_rows, _POINTS) - drawn.num_rows:
        said.append(f"{missing:,} without a number left out")
    if series > _SERIES:
        said.append(f"{_SERIES} of {series:,} values of {chosen.series}")
    return said


def _add_series(result: go.Figure, kind: str, points: list[tuple[float, float]], name: str, index: int) -> None:
    look = curves.look(index)
    x, y = [x for x, _ in points], [y for _, y in points]
    if kind == "bar":
        shape = "" if look.dash == "solid" else "/"
        result.add_bar(x=x, y=y, name=name, marker={"color": look.colour, "pattern": {"shape": shape}})
        return
    result.add_scatter(
        x=x,
        y=y,
        name=name,
        mode="lines+markers" if kind == "line" else "markers",
        line={"color": look.colour, "width": 2, "dash": look.dash},
        marker={"color": look.colour, "size": 6, "symbol": look.symbol},
    )


def _positions(column: pa.ChunkedArray) -> tuple[list[float], list[str]]:
    """Where each value is on the x axis: its number, or the place of its text, with the texts of the places."""
    values = column.to_pylist()
    if _is_number(column.type):
        return [float(value) for value in values], []
    texts = [_text(value) for value in values]
    places = {text: place for place, text in enumerate(dict.fromkeys(texts))}
    return [float(places[text]) for text in texts], list(places)


def _dress(result: go.Figure, chosen: Axes, n: int, height: int, ticks: list[str], *, legend: bool) -> None:
    curves.dressed(result, height, legend=legend)
    result.update_layout(barmode="group")
    result.update_xaxes(title_text=f"{escape.plotly(chosen.x)} (n = {n:,})")
    result.update_yaxes(title_text=escape.plotly(chosen.y))
    if ticks:
        step = -(-len(ticks) // _TICKS)
        labels = [escape.plotly(text) for text in ticks[::step]]
        result.update_xaxes(tickvals=list(range(0, len(ticks), step)), ticktext=labels)


def _text(value: Any) -> str:
    return "none" if value is None else str(value)


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


_OUTCOME = "sql_outcome"
_AGAIN = "sql_again"
_ROWS_LOW = 7
"""So many rows fit into every window."""
_CUT = 300
"""Characters of a cell that are shown; files have all."""
_FILES: dict[Form, tuple[str, str]] = {
    "csv": ("CSV", "text/csv"),
    "jsonl": ("JSON lines", "application/jsonl"),
    "parquet": ("Parquet", "application/vnd.apache.parquet"),
}
_SHAPES = {"table": "Table", **KINDS}


class Outcome(NamedTuple):
    """What a statement gave, kept in the visitor's session so that a chart's axes don't run it again."""

    run: str
    sql: str
    grades: int
    """How many rollouts the run had."""
    table: pa.Table | None = None
    more: bool = False
    error: str = ""


def editor(screen: Screen) -> None:
    """The statement, with the button that runs it."""
    bounds = console.SHOWN
    with st.form("sql", border=False):
        key = widgets.show(
            "text_area", "sql_text", screen.view.query, None, "Statement", height=150, label_visibility="collapsed",
            placeholder="SELECT verdict, count(*) FROM rollouts GROUP BY verdict",
        )  # fmt: skip
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.form_submit_button(
                "Run", type="primary", key="sql_run", shortcut="Ctrl+Enter", on_click=_run, args=(key,)
            )
            facts.note(
                f"One SELECT, at most {bounds.seconds:g} s, {bounds.memory_mb} MB and {bounds.rows:,} rows. "
                "It reads the whole run, whatever the filter."
            )


def _run(key: str) -> None:
    st.session_state[_AGAIN] = True
    state.write(state.read().but(query=st.session_state[key].strip()))


def examples(view: View) -> None:
    """Statements to start from, as links."""
    with st.container(horizontal=True, gap="small", key="sql_examples"):
        for example in console.EXAMPLES:
            state.link("sql", view.place().but(query=example.sql), example.label)


def schema() -> None:
    """The tables, their columns and types."""
    facts.section("Tables")
    st.html(tables_view.schema(console.tables()))


def outcome(screen: Screen) -> Outcome | None:
    """What the view's statement gives; it runs once, and again when Run is pressed. None without a statement."""
    sql, run = screen.view.query, screen.run
    if not sql:
        return None
    known: Outcome | None = st.session_state.get(_OUTCOME)
    again = st.session_state.pop(_AGAIN, False)
    if known is not None and not again and (known.run, known.sql) == (str(run.path), sql):
        return known
    said = st.empty()

    def waiting(seconds: float) -> None:
        # Drawing also ends the statement if the visitor has moved on: Streamlit raises an exception here then.
        with said:
            facts.note(f"Running, {seconds:.1f} s" if seconds else "Waiting for other statements to end")

    made = Outcome(str(run.path), sql, screen.total)
    try:
        table, more = console.rows(run, sql, waiting)
        made = made._replace(table=table, more=more)
    except QueryError as error:
        made = made._replace(error=str(error))
    said.empty()
    st.session_state[_OUTCOME] = made
    return made


def result(screen: Screen, made: Outcome | None) -> None:
    """The rows as a table or a chart, with buttons that save them."""
    if made is None:
        facts.note("Type a statement or choose one of the examples; Ctrl+Enter runs it.")
        return
    if made.table is None:
        facts.banner(made.error[:1].upper() + made.error[1:], warn=True)
        return
    if made.grades != screen.total:
        facts.note(f"Of {counted(made.grades, 'rollout')}; the run has {screen.total:,} now: run it again.")
    shape = _head(screen, made.table, more=made.more)
    if made.table.num_rows == 0:
        facts.note("The statement gives no rows.")
    elif shape == "table":
        _table(screen, made.table)
    else:
        _chart(screen.view, made.table, shape)


def _head(screen: Screen, table: pa.Table, *, more: bool) -> str:
    """How many rows there are, the choice of a shape, and the files."""
    view = screen.view
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        rows = counted(table.num_rows, "row")
        facts.note(f"the first {rows}, there are more" if more else rows, strong=True)
        shape = widgets.choice("Shape", _SHAPES, view, key="sql_shape", default="table")
        st.space("stretch")
        if more:
            most = console.DOWNLOADED
            facts.note(f"files: up to {most.rows:,} rows, {most.result_mb} MB")
        for form, (label, mime) in _FILES.items():
            name = escape.file_name(f"{screen.run.run.name}.sql.{form}")
            made = partial(console.download, screen.run, view.query, form)
            st.download_button(label, made, name, mime, on_click="ignore", key=f"sql_{form}")
    return shape


def _table(screen: Screen, table: pa.Table) -> None:
    """The rows. Those that name a rollout or a task open it."""
    names = table.column_names
    drawn = pa.table([_drawn(column) for column in table.columns], names=[escape.text(name) for name in names])
    if "task_id" not in names:
        _data(drawn, key="sql_table")
        return

    def opened() -> None:
        cells = st.session_state["sql_rows"]["selection"]["cells"]
        if not cells:
            return
        row = cells[0][0]
        ids = {name: str(table[name][row].as_py()) for name in ("task_id", "sample_id") if name in names}
        up = screen.view.below("sql") if "sample_id" in names else ""
        view = View(run=screen.view.run, task=ids["task_id"], sample=ids.get("sample_id", ""), up=up)
        state.go("completion" if view.sample else "rollouts", view)

    _data(drawn, key="sql_rows", on_select=opened, selection_mode="single-cell")
    facts.note("A click on a row opens its " + ("completion." if "sample_id" in names else "task."))


def _data(drawn: pa.Table, **how: Any) -> None:
    """The table, as high as its rows, at most as the window lets it be."""
    with st.container(key="sql_box" if drawn.num_rows > _ROWS_LOW else None):
        height: Literal["stretch"] | int = "stretch" if drawn.num_rows > _ROWS_LOW else 38 + 26 * drawn.num_rows
        st.dataframe(drawn, hide_index=True, height=height, row_height=26, placeholder="", **how)


def _drawn(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Numbers and truth values as they are; anything else as text, escaped and cut."""
    kind = column.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind):
        return column
    if pa.types.is_decimal(kind):
        return column.cast(pa.float64(), safe=False)
    texts = [None if value is None else escape.text(str(value)[: _CUT + 1]) for value in column.to_pylist()]
    return pa.chunked_array(
        [[text and (text[:_CUT] + "…" if len(text) > _CUT else text) for text in texts]], pa.string()
    )


def _chart(view: View, table: pa.Table, kind: str) -> None:
    chosen = axes(table, view.by, view.fields, view.cols)
    if chosen is None:
        facts.note("A chart needs a column of numbers.")
        return
    names = table.column_names
    with st.container(horizontal=True, gap="small"):
        _axis("Across (x)", "by", names, chosen.x)
        _axis("Up (y)", "fields", numbers(table), chosen.y)
        _axis("One series per", "cols", [name for name in names if name not in chosen[:2]], chosen.series or None)
    drawn, left_out = figure(table, kind, chosen, height=360)
    charts.show(drawn, "sql_chart", f"{chosen.y} by {chosen.x}")
    if left_out:
        facts.note(left_out)


def _axis(label: str, field: str, options: list[str], current: str | None) -> None:
    def choose(view: View, to: str | None) -> View:
        return view.but(**{field: to or ""})

    widgets.show("selectbox", f"sql_{field}", current, choose, label, options, clearable=True, format_func=escape.text,
                 placeholder="none", width=220)  # fmt: skip
