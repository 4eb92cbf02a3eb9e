"""The pages' style sheet, with the verdicts' colours."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from dashboard import meanings
from evaluator.model import Verdict
from evaluator.report import verdict_colours
from evaluator.report.verdict_colours import COLOURS, FAILED, HATCHED, ink, verdict

if TYPE_CHECKING:
    from streamlit.components.v2.types import ComponentRenderer

__all__ = [
    "COLOURS", "FAILED", "HATCHED", "UNGRADED", "apply", "component", "ink", "is_dark", "palette", "stylesheet",
    "verdict",
]  # fmt: skip

UNGRADED = "ungraded"
"""The key of the element that says that nothing was graded here: on such a page all letters are outlined."""
_ASSETS = Path(__file__).parent / "assets"


def palette(*, recorded: bool = False) -> dict[str, dict[str, object]]:
    """How the components draw a verdict, by its letter: word, sentence, colour, ink, hatched.

    `recorded`: for rollouts that are not graded.
    """
    return {
        v.letter: {
            "word": meanings.word(v, recorded=recorded), "about": meanings.explained(v, recorded=recorded),
            "unverified": meanings.explained(v, verified=False),
            "colour": COLOURS[v], "ink": ink(COLOURS[v]), "hatched": v in HATCHED,
        }
        for v in Verdict
    }  # fmt: skip


@cache
def _asset(*names: str) -> str:
    """The joined text of style sheets or scripts in `assets/`."""
    return "\n".join((_ASSETS / name).read_text(encoding="utf-8") for name in names)


def component(name: str, html: str = "<span></span>", *shared: str, files: str = "") -> ComponentRenderer:
    """A Streamlit component of ours. Its style sheet and script in `assets/` have its name, or `files`.

    `shared`: scripts that are put before its own.
    """
    css, js = f"{files or name}.css", f"{files or name}.js"
    style = _asset(css) if (_ASSETS / css).exists() else None
    return st.components.v2.component(f"rollscope_{name}", html=html, css=style, js=_asset(*shared, js))


def is_dark() -> bool:
    """Whether the page is dark. Streamlit reruns the script when it changes."""
    return st.context.theme.type == "dark"


def apply() -> None:
    """Put the style sheet on the page."""
    st.html(f"<style>{stylesheet(dark=is_dark())}</style>")


@cache
def stylesheet(*, dark: bool) -> str:
    """The pages' style sheet without comments, with the tokens of the light or the dark page."""
    tokens = "".join(f"--rs-{name}: {values[dark]};" for name, values in _TOKENS.items())
    chips = verdict_colours.rules("rs-v-", border="var(--rs-line)")
    chips += verdict_colours.outlines("rs-v-", f"st-key-{UNGRADED}", border="var(--rs-line)")
    sheets = [str(path.relative_to(_ASSETS)) for path in sorted((_ASSETS / "pages").glob("*.css"))]
    rules = re.sub(r"/\*.*?\*/", "", _asset(*sheets), flags=re.DOTALL)
    return f":root {{ {tokens} }}\n{rules}\n{chips}"


_TOKENS: dict[str, tuple[str, str]] = {
    "text": ("#1B1F23", "#E3E6E9"),
    "soft": ("#5A636B", "#9AA4AD"),
    "line": ("#D5D9DD", "#363C42"),
    "panel": ("#F7F8F9", "#1A1E22"),
    "accent": ("#2F5D8C", "#7FB0E0"),
    "fail-fill": ("#FFD9C2", "#5A2A0A"),
    "fail-edge": ("#D55E00", "#FF8A3D"),
    "fail-text": ("#8F3A00", "#FF8A3D"),
    "frame-edge": ("#B98B00", "#D9A400"),
    "minus": ("#FCE3D3", "#3A2416"),
    "minus-mark": ("#F4B183", "#8A4A1C"),
    "plus": ("#D5EFE6", "#12332A"),
    "plus-mark": ("#86D2BB", "#1F6B55"),
    "keyword": ("#7A2E8E", "#D7A6E8"),
    "string": ("#0B6B4F", "#7FD6B4"),
    "number": ("#9A4A00", "#F0B27A"),
    "comment": ("#4F5860", "#9AA4AD"),
    "name": ("#1F5A94", "#8DBCEB"),
    "builtin": ("#6A4C00", "#E3C46B"),
}
"""The style sheet's tokens: the value on the light page and on the dark one."""
