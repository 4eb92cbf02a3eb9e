"""How the columns of the grid are arranged: by sample, or grouped under their models or training steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dashboard.queries.listing import GridRow

COLS = {"": "Samples", "model": "By model", "step": "By step"}
"""The words of `cols=` in the URL."""
GAP = " "
"""The letter of a place where a task has fewer samples than another."""


class Head(NamedTuple):
    """A heading over some columns."""

    label: str
    width: int


class Arranged(NamedTuple):
    """The headings, and for each row the sample in each column; None is a gap."""

    heads: list[Head]
    samples: list[list[int | None]]


def arranged(rows: Sequence[GridRow], cols: str) -> Arranged:
    """The columns of one page of tasks. Each group is as wide as the task with the most samples in it."""
    if cols not in ("model", "step"):
        return Arranged([], [list(range(len(row.ids))) for row in rows])
    grouped = [_grouped(row.models if cols == "model" else row.steps) for row in rows]
    values = {value for groups in grouped for value in groups}
    order = sorted(values, key=lambda value: (value in ("", None), value or 0 if cols == "step" else str(value)))
    widths = {value: max(len(groups.get(value, [])) for groups in grouped) for value in order}
    samples = [
        [place for value in order for place in _padded(groups.get(value, []), widths[value])] for groups in grouped
    ]
    return Arranged([Head(_label(value, cols), widths[value]) for value in order], samples)


def _grouped(values: Sequence[str | int | None]) -> dict[str | int | None, list[int]]:
    """The places of each value."""
    groups: dict[str | int | None, list[int]] = {}
    for place, value in enumerate(values):
        groups.setdefault(value, []).append(place)
    return groups


def _padded(places: list[int], width: int) -> list[int | None]:
    return [*places, *([None] * (width - len(places)))]


def _label(value: str | int | None, cols: str) -> str:
    if value in ("", None):
        return f"no {cols}"
    return f"step {value}" if cols == "step" else str(value)
