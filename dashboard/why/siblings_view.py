"""Draws the nearest passing sibling's diff, and the step where two runs part."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from dashboard.escape import html
from dashboard.text import diff
from dashboard.text.diff import Row, Span
from dashboard.text.diff_view import text_block
from dashboard.why.parting import Parting
from dashboard.wording import counted
from evaluator.tracing import Step

_LONGEST = 400
_CHANGES_SHOWN = 6


def code_diff(ours: str, theirs: str, name: str) -> None:
    """Both codes in one column: our lines that are not in the other with a minus, the other's with a plus."""
    comparison = diff.compare(ours, theirs)
    if not comparison.rows:
        st.html(f'<div class="rs-soft">The code is the same.</div>{text_block(ours)}')
        return
    body, waiting = "", ""
    for row in comparison.rows:
        minus, plus = _pair(row)
        if row.kind != "change":
            body += waiting + minus
            waiting = ""
            continue
        body += minus
        waiting += plus
    head = f"<tr><th></th><th></th><th>− this one, + {html(name)}</th></tr>"
    columns = '<colgroup><col class="no"><col class="no"><col></colgroup>'
    table = f"<table>{columns}<thead>{head}</thead><tbody>{body}{waiting}</tbody></table>"
    st.html(f'<div class="rs-diff rs-one-column" tabindex="0">{table}</div>')


def _pair(row: Row) -> tuple[str, str]:
    """A row's line of ours, and of the other where that is another."""
    if row.kind == "fold":
        return f'<tr><td class="fold" colspan="3">{counted(row.folded, "line")} not shown</td></tr>', ""
    if row.kind == "gap":
        return '<tr><td class="fold" colspan="3">…</td></tr>', ""
    if row.kind == "equal":
        return _line(row.left_no, row.right_no, row.left, ""), ""
    minus = _line(row.left_no, None, row.left, "minus") if row.left is not None else ""
    plus = _line(None, row.right_no, row.right, "plus") if row.right is not None else ""
    return minus, plus


def _line(left: int | None, right: int | None, spans: list[Span] | None, kind: str) -> str:
    mark = {"minus": "−", "plus": "+"}.get(kind, " ")
    text = "".join(f"<i>{html(text)}</i>" if differs else html(text) for text, differs in _short(spans or []))
    numbers = "".join(f'<td class="no">{number or ""}</td>' for number in (left, right))
    return f'<tr>{numbers}<td class="{kind}">{mark} {text}</td></tr>'


def _short(spans: Sequence[Span]) -> list[Span]:
    return [(text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…", differs) for text, differs in spans]


def parting(found: Parting, code: Sequence[str], other: Sequence[str]) -> None:
    """The two steps, one below the other; the line of ours is a link into the code."""
    at = found.before or found.ours
    where = f"at step {at.number:,}, line {at.line}" if at else "at their start"
    then = " They go on to different lines:" if found.before else ""
    rows = _step("this one", found.ours, code, link=True) + _step("passing", found.theirs, other, link=False)
    title = f"<b>The runs part {html(where)}.</b>{then}"
    st.html(f'<div class="rs-parting">{title}<ul class="rs-frames rs-mono">{rows}</ul></div>')


def _step(name: str, step: Step | None, lines: Sequence[str], *, link: bool) -> str:
    if step is None:
        return f"<li><span>{html(name)}</span><span></span><code>has ended</code></li>"
    text = lines[step.line - 1].strip() if step.line <= len(lines) else ""
    line = f'<a href="#L{step.line}">line {step.line}</a>' if link else f"<span>line {step.line}</span>"
    did = [f"{change.name} = {change.value}" for change in step.changed[:_CHANGES_SHOWN]] + [step.said]
    said = html(" · ".join(filter(None, did)))
    return f"<li><span>{html(name)}</span>{line}<code>{html(text)}</code><b>{said}</b></li>"
