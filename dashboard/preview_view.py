"""The HTML of the preview: a rollout in a few lines, and its code around the failing line."""

from __future__ import annotations

from dashboard import code_view
from dashboard.escape import html
from dashboard.facts import chip_html

_AROUND = 3
"""Lines above the failing line, and below it."""


def head(verdict: str, title: str, facts: list[str]) -> str:
    """The verdict, the rollout's name, and its facts in one line."""
    line = " · ".join(f"<span>{html(fact)}</span>" for fact in facts if fact)
    return (
        f'<div class="rs-preview-head">{chip_html(verdict)} <b>{html(title)}</b><div class="rs-soft">{line}</div></div>'
    )


def failing_lines(code: str, line: int, note: str) -> str:
    """The lines round the failing one."""
    lines = code_view.coloured_lines(code)
    first, last = max(1, line - _AROUND), min(len(lines), line + _AROUND)
    rows = "".join(_line(number, lines[number - 1], line, note) for number in range(first, last + 1))
    return f'<div class="rs-code rs-preview-code" tabindex="0"><div class="rows">{rows}</div></div>'


def _line(number: int, drawn: str, failing: int, note: str) -> str:
    kind = "ln fail" if number == failing else "ln"
    said = f'<span class="note">↳ {html(note)}</span>' if note and number == failing else ""
    return f'<span class="{kind}"><span class="no">{number}</span>{drawn or " "}{said}</span>'


def answers(rows: list[tuple[str, str, int, bool]]) -> str:
    """(verdict, answer, rollouts, whether it is the selected rollout's) of each answer to a test case, in one list."""
    items = "".join(
        f'<li class="{"here" if here else ""}">{chip_html(verdict)}<code>{html(answer)}</code><b>{count:,}</b></li>'
        for verdict, answer, count, here in rows
    )
    return f'<ul class="rs-answers">{items}</ul>'
