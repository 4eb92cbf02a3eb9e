"""Small pieces of text and figures. Text from files is escaped here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from dashboard import escape, theme
from dashboard.escape import html
from dashboard.wording import counted
from evaluator.runs.reading import Manifest

_PROBLEMS_SHOWN = 100


def line(found: Sequence[tuple[str, str]], *, title: str = "", chip: str = "") -> None:
    """Facts in one line: (name, value). `chip` is a verdict, shown before the title."""
    head = f"{chip_html(chip)} " if chip else ""
    if title:
        head = f'<div class="rs-title">{head}{html(title)}</div>'
    body = "".join(f"<div><span>{html(name)}</span> <b>{html(value)}</b></div>" for name, value in found)
    st.html(f'{head}<div class="rs-facts">{body}</div>')


def chip_html(word: str, title: str = "") -> str:
    """A verdict's letter on its colour. The tooltip is `title`, else the verdict's word."""
    verdict = theme.verdict(word)
    tooltip = escape.attribute(title or verdict.value)
    return f'<span class="rs-chip rs-v-{verdict.value}" title="{tooltip}">{verdict.letter}</span>'


def note(text: str, *, strong: bool = False) -> None:
    """A quiet line of text."""
    tag = "b" if strong else "span"
    st.html(f'<{tag} class="{"" if strong else "rs-soft"}" style="font-size:0.9rem">{html(text)}</{tag}>')


def section(text: str) -> None:
    """The heading of a part of a page."""
    st.html(f'<div class="rs-section">{html(text)}</div>')


def banner(text: str, *, command: str = "", warn: bool = False, code: bool = False) -> None:
    """A line that says what is wrong and what to do; one click selects the whole `command`.

    `code`: the text is mostly code, and drawn as code.
    """
    typed = f' <code class="rs-command">{html(command)}</code>' if command else ""
    look = "rs-banner" + " warn" * warn + " rs-mono" * code
    st.html(f'<div class="{look}" role="status">{html(text)}{typed}</div>')


def verbatim(text: str, *, height: int, wrap: bool = False) -> None:
    """A text with a button that copies it; without the button where some characters are invisible."""
    if escape.text(text) == text:
        st.code(text or " ", language=None, height=height, wrap_lines=wrap)
    else:
        st.html(f'<pre class="rs-text" tabindex="0" style="max-height:{height}px">{html(text)}</pre>')


def keys(found: Mapping[str, str]) -> None:
    """Keys with what they do."""
    rows = "".join(f"<dt><kbd>{html(key)}</kbd></dt><dd>{html(does)}</dd>" for key, does in found.items())
    st.html(f'<dl class="rs-keys">{rows}</dl>')


def problems(manifest: Manifest) -> None:
    """The bad lines of the input: where, what is wrong, how the line begins."""
    total = manifest.problems_total or len(manifest.problems)
    if not total:
        return
    with st.expander(f"{counted(total, 'bad input line')} left out", expanded=total <= 3):
        text = "\n".join(
            f"{bad.path}:{bad.line}: {bad.message}" + (f"\n    {bad.snippet[:200]}" if bad.snippet else "")
            for bad in manifest.problems[:_PROBLEMS_SHOWN]
        )
        more = f"\n… and {total - _PROBLEMS_SHOWN:,} more" if total > _PROBLEMS_SHOWN else ""
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
    if not count or count < 1 << 10:
        return f"{count or 0} B"
    return f"{count / (1 << 10):,.1f} KiB" if count < 1 << 20 else f"{count / (1 << 20):,.1f} MiB"
