"""Long texts, shortened to their beginning and end."""

from __future__ import annotations


def excerpt(text: str, room: int) -> str:
    """The text, or three quarters of `room` from its beginning and one from its end with the count between."""
    if len(text) <= room:
        return text
    head, tail = room * 3 // 4, room // 4
    return f"{text[:head]}\n... {len(text) - head - tail:,} characters left out ...\n{text[-tail:]}"
