"""A chart of a statement's rows: one column against another, perhaps one line or set of bars per value of a third."""

from __future__ import annotations

from typing import Any, NamedTuple

import plotly.graph_objects as go
import pyarrow as pa
import pyarrow.compute as pc

from dashboard import escape
from dashboard.charts import frame

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
        _add(result, kind, points, escape.plotly(name), index)
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


def _add(result: go.Figure, kind: str, points: list[tuple[float, float]], name: str, index: int) -> None:
    look = frame.look(index)
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
    frame.dressed(result, height, legend=legend)
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
