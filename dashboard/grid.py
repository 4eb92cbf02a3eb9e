"""The grid of letters, a canvas of our own: tasks x samples, or one task's rollouts x test cases.

The component gets data only; it draws text on a canvas, so that an id can never be markup.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from dashboard import theme
from dashboard.queries.dataset import CaseCount
from dashboard.queries.listing import GridRow

_HTML = """<div class="grid">
<div class="scroller" tabindex="0" role="grid"><div class="space"><canvas></canvas></div></div>
<div class="status" aria-live="polite"></div></div>"""

_mount = st.components.v2.component(
    "rollscope_grid", html=_HTML, css=theme.asset("grid.css"), js=theme.asset("grid.js")
)

Opened = Callable[[str, int], None]
"""Called with the row's id and the column from 0; the column is -1 when the row itself was clicked."""


def tasks_by_samples(rows: Sequence[GridRow], on_open: Opened, *, height: int = 520) -> None:
    """One row a task, one cell a sample."""
    data = {
        "rows": [
            {
                "id": row.task_id,
                "label": row.task_id,
                "letters": row.letters,
                "mask": row.mask,
                "cells": [f"{id_} · {model}" if model else id_ for id_, model in zip(row.ids, row.models, strict=True)],
                "passed": row.passed,
                "graded": row.graded,
            }
            for row in rows
        ],
        "rates": True,
        "noun": "sample",
        "base": 1,
        "hint": "click a cell, or arrows and Enter: the completion · click a task: its test cases",
        "rowHint": "its rollouts by test case",
    }
    _show("task_grid", data, on_open, height)


def rollouts_by_cases(
    rows: Sequence[tuple[str, str, bool, str, str]],
    counts: Sequence[CaseCount],
    on_open: Opened,
    *,
    height: int = 520,
) -> None:
    """One row a rollout of one task, one cell a test case. A test case that nobody passes is marked `!`."""
    letters = {v.value: v.letter for v in theme.COLOURS}
    width = max((len(row[3]) for row in rows), default=0)
    suspect = {c.test_index for c in counts if c.passed == 0 and c.ran > 1}
    data = {
        "rows": [
            {
                "id": sample,
                "label": sample,
                "about": model,
                "letters": cells,
                "mask": ("1" if inside else "0") * len(cells),
                "verdict": letters.get(verdict, "?"),
            }
            for sample, verdict, inside, cells, model in rows
        ],
        "rates": False,
        "noun": "test",
        "base": 0,
        "marks": "".join("0" if index in suspect else "1" for index in range(width)),
        "hint": "click a cell, or arrows and Enter: the completion there · ! marks a test case that nobody passes",
        "rowHint": "the completion",
    }
    _show("case_grid", data, on_open, height)


def _show(key: str, data: dict[str, Any], on_open: Opened, height: int) -> None:
    def opened() -> None:
        cell = st.session_state[key].open
        on_open(str(cell["row"]), int(cell["column"]))

    _mount(key=key, data=data | {"palette": theme.palette(), "height": height}, on_open_change=opened)
