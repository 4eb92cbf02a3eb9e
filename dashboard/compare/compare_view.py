"""Draws the code of two sides beside each other, and the sentence about their difference. All text is escaped here."""

from __future__ import annotations

from collections.abc import Sequence

from dashboard.escape import html
from dashboard.text import code_view, diff
from dashboard.text.diff import Row, Span
from dashboard.wording import counted

_ALIKE = 0.5
"""Characters that two lines share, from which on only the others are marked."""


def headline(text: str, obstacles: Sequence[str]) -> str:
    """The sentence; or why there is none."""
    if not obstacles:
        return f'<div class="rs-title rs-headline">{html(text)}</div>'
    reasons = "".join(f"<li>{html(line)}</li>" for line in obstacles)
    return f'<div class="rs-banner warn" role="status"><b>No headline.</b><ul class="rs-reasons">{reasons}</ul></div>'


def beside(a: str, b: str) -> str:
    """Two programs as a table: equal stretches folded, changed lines marked, and in similar lines what differs."""
    comparison = diff.compare(a, b)
    if not comparison.rows:
        return code_view.code(a, height=_HEIGHT)
    colours = code_view.coloured_lines(a), code_view.coloured_lines(b)
    body = "".join(_row(row, *colours) for row in comparison.rows)
    notes = [] if comparison.whole else ["too long to align: only lines around the first difference are shown"]
    tail = "".join(f'<tr><td class="fold" colspan="4">{html(note)}</td></tr>' for note in notes)
    columns = '<colgroup><col class="no"><col><col class="no"><col></colgroup>'
    head = '<thead><tr><th colspan="2">A</th><th colspan="2">B</th></tr></thead>'
    table = f"<table>{columns}{head}<tbody>{body}{tail}</tbody></table>"
    return f'<div class="rs-diff rs-code-diff" tabindex="0" style="max-height:{_HEIGHT}">{table}</div>'


_HEIGHT = "max(260px, calc(100vh - 360px))"


def _row(row: Row, left: list[str], right: list[str]) -> str:
    if row.kind == "fold":
        return f'<tr><td class="fold" colspan="4">{counted(row.folded, "equal line")}</td></tr>'
    if row.kind == "gap":
        return f'<tr><td class="fold" colspan="4">{counted(sum(row.left_out), "character")} not shown</td></tr>'
    changed = row.kind == "change"
    similar = changed and _alike(row.left) and _alike(row.right)
    cells = (
        _cell(row.left_no, row.left, left, "minus" * changed, marked=similar),
        _cell(row.right_no, row.right, right, "plus" * changed, marked=similar),
    )
    return f"<tr>{''.join(cells)}</tr>"


def _cell(number: int | None, spans: list[Span] | None, coloured: list[str], look: str, *, marked: bool) -> str:
    if spans is None:
        return '<td class="no"></td><td></td>'
    if marked or number is None:
        drawn = "".join(f"<i>{html(text)}</i>" if differs else html(text) for text, differs in spans)
    else:
        drawn = coloured[number - 1]
    return f'<td class="no">{number or ""}</td><td class="{look}">{drawn}</td>'


def _alike(spans: list[Span] | None) -> bool:
    """Whether most of a line is in the other side's line, too."""
    if not spans or not any(differs for _, differs in spans):
        return False
    equal = sum(len(text.strip()) for text, differs in spans if not differs)
    return equal >= _ALIKE * sum(len(text.strip()) for text, _ in spans)
