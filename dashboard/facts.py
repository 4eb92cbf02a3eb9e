"""Small pieces of text and figures. Everything that comes from a file is made plain here."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import streamlit as st

from dashboard import plain, theme
from dashboard.plain import html
from dashboard.wording import counted


def line(found: Sequence[tuple[str, str]], *, title: str = "", chip: str = "") -> None:
    """Facts in one line: (name, value). `chip` is a verdict that stands before the title."""
    head = f"{chip_html(chip)} " if chip else ""
    if title:
        head = f'<div class="rs-title">{head}{html(title)}</div>'
    body = "".join(f"<div><span>{html(name)}</span> <b>{html(value)}</b></div>" for name, value in found)
    st.html(f'{head}<div class="rs-facts">{body}</div>')


def chip_html(word: str, title: str = "") -> str:
    """A verdict's letter on its colour, and its word, or `title`, for those who can't see it."""
    verdict = theme.verdict(word)
    said = escape(plain.text(title or verdict.value))
    return f'<span class="rs-chip rs-v-{verdict.value}" title="{said}">{verdict.letter}</span>'


def note(text: str, *, strong: bool = False) -> None:
    """A quiet line of text."""
    tag = "b" if strong else "span"
    st.html(f'<{tag} class="{"" if strong else "rs-soft"}" style="font-size:0.9rem">{html(text)}</{tag}>')


def section(text: str) -> None:
    """The name of a part of a page."""
    st.html(f'<div class="rs-section">{html(text)}</div>')


def banner(text: str, *, command: str = "", warn: bool = False, code: bool = False) -> None:
    """A line that says what is the matter and what to do; one click selects the whole `command`.

    `code`: the text is mostly code, and drawn as such.
    """
    typed = f' <code class="rs-command">{html(command)}</code>' if command else ""
    look = "rs-banner" + " warn" * warn + " rs-mono" * code
    st.html(f'<div class="{look}" role="status">{html(text)}{typed}</div>')


def verbatim(text: str, *, height: int, wrap: bool = False) -> None:
    """A text as it is, with a button that copies it; a box of our own where some of it would not be seen."""
    if plain.text(text) == text:
        st.code(text or " ", language=None, height=height, wrap_lines=wrap)
    else:
        st.html(f'<pre class="rs-text" tabindex="0" style="max-height:{height}px">{html(text)}</pre>')


def problems(manifest: dict[str, Any], shown: int = 100) -> None:
    """The bad lines of the input: where, what is wrong, how the line begins."""
    found = manifest.get("problems") or []
    total = manifest.get("problems_total") or len(found)
    if not total:
        return
    with st.expander(f"{counted(total, 'bad input line')} left out", expanded=total <= 3):
        text = "\n".join(
            f"{p.get('path', '')}:{p.get('line', '?')}: {p.get('message', '')}"
            + (f"\n    {p['snippet'][:200]}" if p.get("snippet") else "")
            for p in found[:shown]
        )
        more = f"\n… and {total - shown:,} more" if total > shown else ""
        st.html(f'<pre class="rs-text" style="max-height:220px">{html(text + more)}</pre>')


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
    if not count:
        return "0 B"
    for unit in ("B", "KiB", "MiB"):
        if count < 1024 or unit == "MiB":
            break
        count /= 1024  # type: ignore[assignment]
    return f"{count:,.0f} {unit}" if unit == "B" else f"{count:,.1f} {unit}"
