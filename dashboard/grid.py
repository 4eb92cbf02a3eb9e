"""The grid of letters: tasks x samples, or one task's rollouts x test cases.

The component draws text on a canvas, so that an id can never be markup.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from dashboard import escape, theme
from dashboard.queries.dataset import CaseCount
from dashboard.queries.listing import CaseRow, GridRow

_HTML = """<div class="grid">
<div class="scroller" tabindex="0" role="grid"><div class="space"><canvas></canvas></div></div>
<div class="status" aria-live="polite"></div></div>"""

_mount = st.components.v2.component(
    "rollscope_grid", html=_HTML, css=theme.asset("grid.css"), js=theme.asset("grid.js")
)

_HEIGHT = 520
UNVERIFIED_MARK = "\N{BLACK UPPER RIGHT TRIANGLE}"
"""The corner of a cell that is not verified, for the legend."""

Opened = Callable[[str, int], None]
"""Called with the row's id and the column, from 0; the column is -1 after a click on the row's label."""


def tasks_by_samples(rows: Sequence[GridRow], on_open: Opened) -> None:
    """One row per task, one cell per sample. A sample that is not verified has a marked corner."""
    data = {
        "rows": [
            {
                "id": row.task_id,
                "label": escape.text(row.task_id),
                "letters": row.letters,
                "mask": row.mask,
                "cells": [
                    _about(id_, model, verified=mark == "0")
                    for id_, model, mark in zip(row.ids, row.models, row.unverified, strict=True)
                ],
                "corners": row.unverified,
                "passed": row.passed,
                "graded": row.graded,
            }
            for row in rows
        ],
        "rates": True,
        "noun": "sample",
        "base": 1,
        "hint": "click a cell (or arrows and Enter) for the completion · click a task for its test cases",
        "rowHint": "its rollouts by test case",
    }
    _show("task_grid", data, on_open)


def rollouts_by_cases(rows: Sequence[CaseRow], counts: Sequence[CaseCount], on_open: Opened) -> None:
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
        "rates": False,
        "noun": "test",
        "base": 0,
        "marks": "".join("0" if index in suspect else "1" for index in range(width)),
        "hint": "click a cell (or arrows and Enter) for the completion · ! marks a test case that no rollout passes",
        "rowHint": "the completion",
    }
    _show("case_grid", data, on_open)


def _about(*known: str, verified: bool) -> str:
    """What the status line shows after a rollout's verdict."""
    return " · ".join(escape.text(text) for text in (*known, "" if verified else "not verified") if text)


def _show(key: str, data: Mapping[str, object], on_open: Opened) -> None:
    def opened() -> None:
        cell = st.session_state[key].open
        on_open(str(cell["row"]), int(cell["column"]))

    _mount(key=key, data={**data, "palette": theme.palette(), "height": _HEIGHT}, on_open_change=opened)
