"""Invisible characters, characters that reorder others, and their names.

Joiners and variation selectors between characters beyond ASCII belong to normal writing (emoji, Persian, Hindi) and
do not count.
"""

from __future__ import annotations

import re
from typing import Final

BIDIRECTIONAL: Final = "\u202a-\u202e\u2066-\u2069"
"""Embeddings, overrides and isolates: the text after one is displayed in another order than it is read."""

_MARKS: Final = "\u061c\u200e\u200f"
_ZERO_WIDTH: Final = (
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b\u2028\u2029\u2060-\u2065\u206a-\u206f\u3164\ufeff\uffa0"
    "\ufff0-\ufffb\U000e0000-\U000e00ff"
)
_CONTROLS: Final = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"
_JOINERS: Final = "\u200c\u200d"
_SELECTORS: Final = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
_NO_LETTERS: Final = f"\x00-\x7f{BIDIRECTIONAL}{_MARKS}{_ZERO_WIDTH}{_JOINERS}"

_JOINING: Final = (
    f"(?<![^{_NO_LETTERS}])[{_JOINERS}]|[{_JOINERS}](?![^{_NO_LETTERS}{_SELECTORS}])"
    f"|(?<![^{_NO_LETTERS}{_SELECTORS}])[{_SELECTORS}](?!\u20e3)"
)
UNSEEN: Final = re.compile(f"[{BIDIRECTIONAL}{_MARKS}{_ZERO_WIDTH}]|{_JOINING}")
"""One such character."""
_DRAWN: Final = re.compile(f"[{BIDIRECTIONAL}{_MARKS}{_ZERO_WIDTH}{_CONTROLS}]|{_JOINING}")


def name(character: str) -> str:
    """`U+202E`."""
    return f"U+{ord(character):04X}"


def marked(text: str) -> str:
    """The text with a mark such as `⟨U+202E⟩` in place of each such character, and of control characters."""
    if text.isascii() and text.isprintable():
        return text
    return _DRAWN.sub(lambda found: f"⟨{name(found[0])}⟩", text)


def split(text: str) -> list[str]:
    """The text in pieces; every second piece is a character that `marked` would replace."""
    return re.split(f"({_DRAWN.pattern})", text)
