"""The grid of letters: tasks x samples, or one task's rollouts x test cases. Its columns are samples, perhaps grouped
under their models or training steps.

The component draws text on a canvas, so that an id can never be markup.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from dashboard import escape, theme, widgets
from dashboard.queries.dataset import CaseCount
from dashboard.queries.listing import CaseRow, GridRow
from dashboard.state import Filter
from evaluator.model import Verdict

COLS = {"sample": "Samples", "model": "By model", "step": "By step"}
"""The words of `cols=` in the URL."""
_UNGRADED = {Verdict.UNKNOWN.letter, Verdict.SANDBOX_ERROR.letter}
_DESCRIBED = 10_000
"""Of up to so many cells the line below says which rollout they are: each click sends all of it to the browser."""
NO_FILTER = Filter()
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
    changes: Sequence[tuple[float, float] | None] = ()
    """Of each row the pass rates at its first and its last step, where the columns are steps."""


def arranged(rows: Sequence[GridRow], cols: str, filter_: Filter = NO_FILTER) -> Arranged:
    """The columns of one page of tasks: the models or steps that the filter names, else all. Each group is as wide as
    the task with the most samples in it."""
    if cols not in ("model", "step"):
        return Arranged([], [list(range(len(row.ids))) for row in rows])
    grouped = [_grouped(row.models if cols == "model" else row.steps) for row in rows]
    values = {value for groups in grouped for value in groups if _is_wanted(value, cols, filter_)}
    order = sorted(values, key=lambda value: (value in ("", None), value or 0 if cols == "step" else str(value)))
    widths = {value: max(len(groups.get(value, [])) for groups in grouped) for value in order}
    samples = [
        [place for value in order for place in _padded(groups.get(value, []), widths[value])] for groups in grouped
    ]
    heads = [Head(f"{_label(value, cols)}{_rate(rows, grouped, value)}", widths[value]) for value in order]
    changes = [_change(row, groups) for row, groups in zip(rows, grouped, strict=True)] if cols == "step" else ()
    return Arranged(heads, samples, changes)


def _is_wanted(value: str | int | None, cols: str, filter_: Filter) -> bool:
    if cols == "model":
        return filter_.model in ("", value)
    low, high = filter_.step_min, filter_.step_max
    return low is high is None or (isinstance(value, int) and (low or 0) <= value <= (value if high is None else high))


def _change(row: GridRow, groups: Mapping[str | int | None, list[int]]) -> tuple[float, float] | None:
    steps = sorted(step for step in groups if isinstance(step, int))
    ends = [_passed(row.letters[place] for place in groups[step]) for step in (steps[:1] + steps[-1:])]
    first, last = ends if len(steps) > 1 else (None, None)
    return None if first is None or last is None else (first, last)


def _rate(
    rows: Sequence[GridRow], grouped: Sequence[Mapping[str | int | None, list[int]]], value: str | int | None
) -> str:
    """The pass rate of a model or a step over the tasks of the page; "" where nothing is graded."""
    rate = _passed(row.letters[n] for row, groups in zip(rows, grouped, strict=True) for n in groups.get(value, []))
    return "" if rate is None else f" {rate:.0%}"


def _passed(letters: Iterable[str]) -> float | None:
    graded = [letter for letter in letters if letter not in _UNGRADED]
    return graded.count(Verdict.PASSED.letter) / len(graded) if graded else None


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


_HTML = """<div class="grid">
<div class="scroller" tabindex="0" role="grid"><div class="space"><canvas></canvas></div></div>
<div class="status" aria-live="polite"></div></div>"""

_mount = theme.component("grid", _HTML, "links.js")

ZOOMS = (6, 8, 10, 14, 20, 28)
"""Widths of a cell in pixels."""
ZOOM = 20
UNVERIFIED_MARK = "\N{BLACK UPPER RIGHT TRIANGLE}"
"""The corner of a cell that is not verified, for the legend."""

Chosen = Callable[[str, int], None]
"""Called with the row's id and the column, from 0; the column is -1 for the row's label."""


class Look(NamedTuple):
    """How the grid is drawn."""

    zoom: int
    """The width of a cell, in pixels."""
    selected: tuple[int, int] | None
    """The number of the selected cell's row, and its column."""
    height: str
    recorded: bool = False
    """Whether the letters are what the rollouts came with: outlined."""


def nearest_zoom(zoom: int | None) -> int:
    """The width of `ZOOMS` that is nearest to the address's."""
    return min(ZOOMS, key=lambda width: abs(width - (zoom or ZOOM)))


def tasks_by_samples(
    rows: Sequence[GridRow],
    names: Mapping[str, str],
    columns: Arranged,
    look: Look,
    *,
    on_select: Chosen,
    on_open: Chosen,
) -> None:
    """One row per task, one cell per sample. A sample that is not verified has a marked corner.

    `names`: of the tasks that are not called by their ids.
    """
    described = sum(len(row.ids) for row in rows) <= _DESCRIBED
    data = {
        "rows": [
            _task_row(row, names.get(row.task_id, row.task_id), places, change, described=described)
            for row, places, change in zip(rows, columns.samples, columns.changes or [None] * len(rows), strict=True)
        ],
        "heads": [{"label": escape.text(head.label), "width": head.width} for head in columns.heads],
        "rates": True,
        "noun": "sample",
        "base": 1,
        "hint": "click: preview · again: open · a task: its tests",
        "rowHint": "its rollouts by test case",
    }
    _show("task_grid", data, look, on_select, on_open)


def _task_row(
    row: GridRow, name: str, places: Sequence[int | None], change: tuple[float, float] | None, *, described: bool
) -> dict[str, object]:
    about = [
        _about(id_, model, "" if step is None else f"step {step}", verified=mark == "0")
        for id_, model, step, mark in zip(row.ids, row.models, row.steps, row.unverified, strict=True)
        if described
    ]
    return {
        "id": row.task_id,
        "label": escape.text(name),
        "letters": _spread(row.letters, places, GAP),
        "mask": _spread(row.mask, places, "1"),
        "cells": ["" if place is None else about[place] for place in places if described],
        "corners": _spread(row.unverified, places, "0"),
        "share": change[1] if change else row.passed / row.graded if row.graded else 0,
        "count": f"{change[0] * 100:.0f}→{change[1]:.0%}" if change else f"{row.passed}/{row.graded}",
    }


def _spread(letters: str, places: Sequence[int | None], gap: str) -> str:
    return "".join(gap if place is None else letters[place] for place in places)


def rollouts_by_cases(
    rows: Sequence[CaseRow], counts: Sequence[CaseCount], look: Look, *, on_select: Chosen, on_open: Chosen
) -> None:
    """One row per rollout of one task, one cell per test case.

    A test case that no rollout passes is marked `!`. A rollout that is not verified has a marked corner.
    """
    letters = {v.value: v.letter for v in theme.COLOURS}
    width = max((len(row.letters) for row in rows), default=0)
    suspect = {c.test_index for c in counts if c.passed == 0 and c.ran > 1}
    data = {
        "rows": [
            {
                "id": row.sample_id,
                "label": escape.text(row.sample_id),
                "about": _about(row.model, verified=row.verified),
                "letters": row.letters,
                "mask": ("1" if row.inside else "0") * len(row.letters),
                "verdict": letters.get(row.verdict, "?"),
                "corner": not row.verified,
            }
            for row in rows
        ],
        "heads": [],
        "rates": False,
        "noun": "test",
        "base": 0,
        "marks": "".join("0" if index in suspect else "1" for index in range(width)),
        "hint": "click: preview · again: open · ! no rollout passes",
        "rowHint": "the completion",
    }
    _show("case_grid", data, look, on_select, on_open)


def _about(*known: str, verified: bool) -> str:
    """What the status line shows after a rollout's verdict."""
    return " · ".join(escape.text(text) for text in (*known, "" if verified else "not verified") if text)


def _show(key: str, data: Mapping[str, object], look: Look, on_select: Chosen, on_open: Chosen) -> None:
    def selected() -> None:
        if cell := widgets.sent(key, "select"):
            on_select(str(cell["row"]), int(cell["column"]))

    def opened() -> None:
        if cell := widgets.sent(key, "open"):
            on_open(str(cell["row"]), int(cell["column"]))

    more = {
        "palette": theme.palette(recorded=look.recorded),
        "height": look.height,
        "cell": look.zoom,
        "selected": look.selected,
        "recorded": look.recorded,
    }
    _mount(key=key, data={**data, **more}, on_select_change=selected, on_open_change=opened)
