"""Draws bad lines as a table. All text from files is escaped here."""

from __future__ import annotations

from collections.abc import Sequence

from dashboard.escape import html
from dashboard.input_problems import BadRow


def table(found: Sequence[BadRow], *, with_file: bool, room: int) -> str:
    """A row per bad line: where it is, what is wrong, and below that how it begins. `room`: pixels that others need."""
    names = ["file"] * with_file + ["line", "byte", "what is wrong, and how the line begins"]
    head = "".join(f"<th>{name}</th>" for name in names)
    rows = "".join(_row(bad, with_file=with_file) for bad in found)
    style = f"max-height:max(300px, calc(100vh - {room}px))"
    return (
        f'<div class="rs-bad-lines" style="{style}" tabindex="0" role="region" aria-label="bad lines">'
        f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _row(bad: BadRow, *, with_file: bool) -> str:
    file = f"<td>{html(bad.path)}</td>" if with_file else ""
    offset = "–" if bad.offset is None else f"{bad.offset:,}"
    reason = f"<b>{html(bad.reason)}</b> " if bad.reason and not bad.message.startswith(bad.reason) else ""
    begins = f"<code>{html(bad.snippet)}</code>" if bad.snippet else ""
    return f"<tr>{file}<td>{bad.line:,}</td><td>{offset}</td><td>{reason}{html(bad.message)}{begins}</td></tr>"
