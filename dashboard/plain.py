"""Text from files made plain for the place where it is shown: never markup, nothing unseen, no order but its own.

Every text that a page did not write itself goes through the function that is named for its place.
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
    """For a place that shows text as it is, such as a table, a canvas or a list of options."""
    return invisible.marked(value)


def html(value: str) -> str:
    """For HTML. The style sheet draws what is not seen, so that a selection that is copied has the text itself."""
    first, *others = invisible.split(value)
    pairs = zip(others[::2], others[1::2], strict=True)
    return escape(first) + "".join(f"{_unseen(character)}{escape(rest)}" for character, rest in pairs)


def _unseen(character: str) -> str:
    kept = "" if character == "\0" else escape(character)  # HTML has no NUL
    return f'<span class="rs-unseen" data-mark="{invisible.name(character)}">{kept}</span>'


def markdown(value: str) -> str:
    """For a label or a caption that Streamlit reads as Markdown."""
    return " ".join(invisible.marked(value).split()).translate(_MARKDOWN)


def plotly(value: str) -> str:
    """For any text of a figure: Plotly reads tags, entities, `%{...}` of templates, and TeX between dollar signs."""
    flat = " ".join(invisible.marked(value).split())
    if len(flat) > _LONGEST_IN_CHART:
        flat = f"{flat[: _LONGEST_IN_CHART - 13]}…{flat[-12:]}"
    return flat.translate(_PLOTLY)


def file_name(value: str) -> str:
    """For the name of a file that is downloaded."""
    return _NOT_IN_FILE_NAMES.sub("_", value).lstrip(".") or "_"
