"""Draws a replay's steps: a list with loops folded, a slider, and the variables at a step; and where two runs part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st

from dashboard import escape, theme
from dashboard.escape import html
from dashboard.why import control_flow
from dashboard.why.control_flow import Fold, Node
from evaluator.syntax import lines_of
from evaluator.tracing import Change, Step

if TYPE_CHECKING:
    from dashboard.why.siblings import Parting

_CHANGES_SHOWN = 6


def parting(found: Parting, code: Sequence[str], other: Sequence[str]) -> None:
    """The two steps, one below the other; the line of ours is a link into the code."""
    at = found.before or found.ours
    where = f"at step {at.number:,}, line {at.line}" if at else "at their start"
    then = " They go on to different lines:" if found.before else ""
    rows = _parting_step("this one", found.ours, code, link=True) + _parting_step(
        "passing", found.theirs, other, link=False
    )
    title = f"<b>The runs part {html(where)}.</b>{then}"
    st.html(f'<div class="rs-parting">{title}<ul class="rs-frames rs-mono">{rows}</ul></div>')


def _parting_step(name: str, step: Step | None, lines: Sequence[str], *, link: bool) -> str:
    if step is None:
        return f"<li><span>{html(name)}</span><span></span><code>has ended</code></li>"
    text = lines[step.line - 1].strip() if step.line <= len(lines) else ""
    line = f'<a href="#L{step.line}">line {step.line}</a>' if link else f"<span>line {step.line}</span>"
    did = [f"{change.name} = {change.value}" for change in step.changed[:_CHANGES_SHOWN]] + [step.said]
    said = html(" · ".join(filter(None, did)))
    return f"<li><span>{html(name)}</span>{line}<code>{html(text)}</code><b>{said}</b></li>"


_HTML = """<div class="why">
<div class="bar"><button class="back" type="button" title="step before">◀</button>
<input type="range" min="0" aria-label="step">
<button class="on" type="button" title="next step">▶</button><span class="where" aria-live="polite"></span></div>
<div class="list" tabindex="0" role="listbox" aria-label="steps"></div>
<div class="names"></div></div>"""

_mount = theme.component("steps", _HTML, "links.js")

_LONGEST_LINE = 200


def steps(found: Sequence[Step], code: str, *, key: str) -> None:
    """The steps; selecting one marks its line in the code view. Another `key` selects the last step again."""
    lines = lines_of(code)
    branches = control_flow.branches(code, found)
    data = {
        "key": key,
        "nodes": [_node(each) for each in control_flow.folded(code, found)],
        "steps": [_step(step, lines, branches.get(index, "")) for index, step in enumerate(found)],
    }
    _mount(key="steps", data=data)


def _node(node: Node) -> object:
    """An index, or an object for a fold."""
    return node._asdict() | {"nodes": [_node(each) for each in node.nodes]} if isinstance(node, Fold) else node


def _step(step: Step, lines: Sequence[str], branch: str) -> dict[str, object]:
    text = lines[step.line - 1].strip()[:_LONGEST_LINE] if step.line <= len(lines) else ""
    return {
        "number": step.number,
        "line": step.line,
        "code": escape.text(text),
        "depth": step.depth,
        "call": escape.text(step.function),
        "frame": step.frame,
        "changed": _pairs(step.changed),
        "items": _pairs(step.items),
        "whole": _pairs(step.whole),
        "branch": branch,
        "said": escape.text(step.said),
    }


def _pairs(found: Sequence[Change]) -> list[tuple[str, str]]:
    return [(escape.text(name), escape.text(value)) for name, value in found]
