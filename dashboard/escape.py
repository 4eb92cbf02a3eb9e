"""Text from files, escaped for each place where it is shown: never markup, nothing invisible, never reordered.

Every text that does not come from a page itself goes through the function named after its place.
"""

from __future__ import annotations

import re
from html import escape

from evaluator import invisible

_MARKDOWN = str.maketrans({char: f"\\{char}" for char in "\\`*_{}[]()<>#+-.!|~$:^=&\"'@/"})
_PLOTLY = str.maketrans({char: f"&#{ord(char)};" for char in "&<>%${}"})
_LONGEST_IN_CHART = 60
_NOT_IN_FILE_NAMES = re.compile(r"[^\w.-]+", re.ASCII)


def text(value: str) -> str:
    """For a place that shows text literally, such as a table, a canvas or a list of options."""
    return invisible.marked(value)


def html(value: str) -> str:
    """For HTML. The style sheet draws invisible characters, so that copying gives the text itself."""
    first, *others = invisible.split(value)
    pairs = zip(others[::2], others[1::2], strict=True)
    return escape(first) + "".join(f"{_unseen(character)}{escape(rest)}" for character, rest in pairs)


def attribute(value: str) -> str:
    """For an attribute of HTML, such as a tooltip."""
    return escape(text(value))


def _unseen(character: str) -> str:
    kept = "" if character == "\0" else escape(character)  # HTML has no NUL
    return f'<span class="rs-unseen" data-mark="{invisible.name(character)}">{kept}</span>'


def markdown(value: str) -> str:
    """For a label that Streamlit reads as Markdown."""
    return " ".join(invisible.marked(value).split()).translate(_MARKDOWN)


def plotly(value: str) -> str:
    """For any text in a figure: Plotly reads tags, entities, `%{...}` in templates, and TeX between dollar signs."""
    flat = " ".join(invisible.marked(value).split())
    if len(flat) > _LONGEST_IN_CHART:
        flat = f"{flat[: _LONGEST_IN_CHART - 13]}…{flat[-12:]}"
    return flat.translate(_PLOTLY)


def file_name(value: str) -> str:
    """For the name of a downloaded file."""
    return _NOT_IN_FILE_NAMES.sub("_", value).lstrip(".") or "_"
