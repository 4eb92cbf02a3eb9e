"""Small pieces of text and figures, and how the pages word counts and names. Text from files is escaped here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from dashboard import escape, meanings, theme
from dashboard.escape import html

_BETWEEN = "/:_- "


def counted(count: int, noun: str) -> str:
    """A number with its noun: `1 line`, `2 lines`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def short_sample(task_id: str, sample_id: str, model: str | None = None) -> str:
    """The sample's id without those of its task and model, which stand beside it."""
    rest = sample_id
    for part in (task_id, task_id.rpartition("/")[2], model or ""):
        after = rest.removeprefix(part)
        if part and after != rest and after.startswith((*_BETWEEN, "#")):
            rest = after.lstrip(_BETWEEN) or rest
    return rest


def line(
    found: Sequence[tuple[str, str]], *, title: str = "", chip: str = "", recorded: bool = False, own: bool = False
) -> None:
    """Facts in one line: (name, value). `chip` is a verdict, shown before the title; see `chip_html`."""
    head = f"{chip_html(chip, recorded=recorded, own=own)} " if chip else ""
    if title:
        head = f'<div class="rs-title">{head}{html(title)}</div>'
    body = "".join(f"<div><span>{html(name)}</span> <b>{html(value)}</b></div>" for name, value in found)
    st.html(f'{head}<div class="rs-facts">{body}</div>')


def chip_html(word: str, title: str = "", *, recorded: bool = False, own: bool = False, verified: bool = True) -> str:
    """A verdict's letter on its colour, with a corner if it is not verified. The tooltip is `title`, else its sentence.

    `recorded`: the verdict that the rollout came with, which is only outlined. `own`: one that was
    made here, which is not outlined among those either.
    """
    verdict = theme.verdict(word)
    look = f"rs-chip rs-v-{verdict.value}{' recorded' * recorded}{' own' * own}{' unverified' * (not verified)}"
    tooltip = escape.attribute(title or meanings.explained(verdict, verified=verified))
    return f'<span class="{look}" title="{tooltip}">{verdict.letter}</span>'


_TAIL = 10


def name_html(text: str) -> str:
    """A name, of which a click copies the whole. Where it does not fit, its middle is cut out."""
    start, end = text[:-_TAIL], text[-_TAIL:]
    parts = f"<span>{html(start)}</span><span>{html(end)}</span>"
    return f'<span class="rs-name" title="{escape.attribute(text)} (click to copy)">{parts}</span>'


def note(text: str, *, strong: bool = False) -> None:
    """A quiet line of text."""
    tag = "b" if strong else "span"
    st.html(f'<{tag} class="{"" if strong else "rs-soft"}" style="font-size:0.9rem">{html(text)}</{tag}>')


def section(text: str) -> None:
    """The heading of a part of a page."""
    st.html(f'<div class="rs-section">{html(text)}</div>')


def banner(text: str, *, command: str = "", warn: bool = False, code: bool = False, more: str = "") -> None:
    """A line that says what is wrong and what to do; one click selects the whole `command`.

    `code`: the text is mostly code, and drawn as code. `more`: the address of what explains it.
    """
    typed = f' <code class="rs-command">{html(command)}</code>' if command else ""
    typed += f' <a href="{escape.attribute(more)}" target="_blank">More</a>' if more else ""
    look = "rs-banner" + " warn" * warn + " rs-mono" * code
    st.html(f'<div class="{look}" role="status">{html(text)}{typed}</div>')


def verbatim(text: str, *, height: int) -> None:
    """A text with a button that copies it; without the button where some characters are invisible."""
    if escape.text(text) == text:
        st.code(text or " ", language=None, height=height, wrap_lines=True)
    else:
        st.html(f'<pre class="rs-text" tabindex="0" style="max-height:{height}px">{html(text)}</pre>')


def keys(found: Mapping[str, str]) -> None:
    """Keys with what they do."""
    rows = "".join(f"<dt><kbd>{html(key)}</kbd></dt><dd>{html(does)}</dd>" for key, does in found.items())
    st.html(f'<dl class="rs-keys">{rows}</dl>')


def number(value: float | None, digits: int = 3) -> str:
    """A figure, or a dash where there is none."""
    return "–" if value is None or value != value else f"{value:.{digits}f}"  # noqa: PLR0124


def seconds(value: float | None) -> str:
    """A time with its unit."""
    if value is None:
        return "–"
    return f"{value * 1000:.0f} ms" if value < 1 else f"{value:.2f} s"


def mebibytes(value: float | None) -> str:
    """A size of memory with its unit."""
    return "–" if value is None else f"{value:,.0f} MiB"


def size(count: int | None) -> str:
    """A number of bytes with its unit."""
    if not count or count < 1 << 10:
        return f"{count or 0} B"
    return f"{count / (1 << 10):,.1f} KiB" if count < 1 << 20 else f"{count / (1 << 20):,.1f} MiB"
