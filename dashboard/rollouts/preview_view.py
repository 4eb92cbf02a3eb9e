"""The HTML of the preview: a rollout in two lines, and the answers to a test case."""

from __future__ import annotations

from dashboard.escape import html
from dashboard.facts import chip_html


def head(verdict: str, title: str, facts: list[str]) -> str:
    """The verdict, the rollout's name, and its facts in one line."""
    line = " · ".join(f"<span>{html(fact)}</span>" for fact in facts if fact)
    return (
        f'<div class="rs-preview-head">{chip_html(verdict)} <b>{html(title)}</b><div class="rs-soft">{line}</div></div>'
    )


def answers(rows: list[tuple[str, str, int, bool]]) -> str:
    """(verdict, answer, rollouts, whether it is the selected rollout's) of each answer to a test case, in one list."""
    items = "".join(
        f'<li class="{"here" if here else ""}">{chip_html(verdict)}<code>{html(answer)}</code><b>{count:,}</b></li>'
        for verdict, answer, count, here in rows
    )
    return f'<ul class="rs-answers">{items}</ul>'
