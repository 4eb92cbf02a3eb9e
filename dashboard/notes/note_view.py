"""How the tags and the note of a rollout look beside its title."""

from __future__ import annotations

from collections.abc import Sequence

from dashboard.escape import attribute, html

_SHOWN = 6
_LONGEST = 40
_TOOLTIP = 1_000


def chips(tags: Sequence[str], note: str) -> str:
    """The first tags and the start of the note, each a chip; all of it in the tooltip."""
    parts = [_chip("rs-tag", tag) for tag in tags[:_SHOWN]]
    if len(tags) > _SHOWN:
        parts.append(_chip("rs-tag", f"+{len(tags) - _SHOWN}", "\n".join(tags[_SHOWN:])))
    if note:
        parts.append(_chip("rs-note", " ".join(note.split()), note))
    return f'<div class="rs-noted">{"".join(parts)}</div>'


def _chip(kind: str, text: str, tooltip: str = "") -> str:
    shown = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
    return f'<span class="{kind}" title="{attribute((tooltip or text)[:_TOOLTIP])}">{html(shown)}</span>'
