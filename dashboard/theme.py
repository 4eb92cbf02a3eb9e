"""The verdicts' colours, the ink that is legible on them, and the pages' style sheet."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import streamlit as st

from evaluator.model import Verdict

_ASSETS = Path(__file__).parent / "assets"

COLOURS: dict[Verdict, str] = {
    Verdict.PASSED: "#009E73",
    Verdict.WRONG_ANSWER: "#D55E00",
    Verdict.RUNTIME_ERROR: "#CC79A7",
    Verdict.COMPILE_ERROR: "#882255",
    Verdict.TIME_LIMIT: "#E69F00",
    Verdict.MEMORY_LIMIT: "#56B4E9",
    Verdict.OUTPUT_LIMIT: "#0072B2",
    Verdict.NO_CODE: "#999933",
    Verdict.REJECTED: "#332288",
    Verdict.SANDBOX_ERROR: "#6B6B6B",
    Verdict.UNKNOWN: "#BBBBBB",
    Verdict.NOT_RUN: "#FFFFFF",
}

HATCHED = (Verdict.SANDBOX_ERROR, Verdict.UNKNOWN)
"""Also drawn hatched: they have no reward, and must never look like a failure."""

FAILED: tuple[Verdict, ...] = (
    Verdict.WRONG_ANSWER,
    Verdict.RUNTIME_ERROR,
    Verdict.COMPILE_ERROR,
    Verdict.TIME_LIMIT,
    Verdict.MEMORY_LIMIT,
    Verdict.OUTPUT_LIMIT,
    Verdict.NO_CODE,
    Verdict.REJECTED,
)
"""The verdicts that are the completion's own fault."""


def verdict(word: str) -> Verdict:
    """The verdict of a stored word; a word from a newer version counts as unknown."""
    try:
        return Verdict(word)
    except ValueError:
        return Verdict.UNKNOWN


def ink(colour: str) -> str:
    """Black or white, whichever has the higher contrast on `colour` (WCAG relative luminance)."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "#000000" if (luminance + 0.05) / 0.05 > 1.05 / (luminance + 0.05) else "#FFFFFF"


def palette() -> dict[str, dict[str, object]]:
    """How the components draw a verdict, by its letter: word, colour, ink, hatched."""
    return {
        v.letter: {"word": v.value, "colour": COLOURS[v], "ink": ink(COLOURS[v]), "hatched": v in HATCHED}
        for v in Verdict
    }


@cache
def asset(*names: str) -> str:
    """The joined text of style sheets or scripts in `assets/`."""
    return "\n".join((_ASSETS / name).read_text(encoding="utf-8") for name in names)


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
    chips = "".join(_chip_rule(v) for v in Verdict)
    sheets = [str(path.relative_to(_ASSETS)) for path in sorted((_ASSETS / "pages").glob("*.css"))]
    rules = re.sub(r"/\*.*?\*/", "", asset(*sheets), flags=re.DOTALL)
    return f":root {{ {tokens} }}\n{rules}\n{chips}"


def _chip_rule(v: Verdict) -> str:
    colour = COLOURS[v]
    rule = f"background-color: {colour}; color: {ink(colour)};"
    if v in HATCHED:
        rule += " background-image: repeating-linear-gradient(45deg, #0003 0 2px, #0000 2px 5px);"
    if v is Verdict.NOT_RUN:
        rule = "background: transparent; color: inherit; box-shadow: inset 0 0 0 1px var(--rs-line);"
    return f".rs-v-{v.value} {{ {rule} }}\n"


_TOKENS: dict[str, tuple[str, str]] = {
    "text": ("#1B1F23", "#E3E6E9"),
    "soft": ("#5A636B", "#9AA4AD"),
    "line": ("#D5D9DD", "#363C42"),
    "panel": ("#F7F8F9", "#1A1E22"),
    "accent": ("#2F5D8C", "#7FB0E0"),
    "fail-fill": ("#FFD9C2", "#5A2A0A"),
    "fail-edge": ("#D55E00", "#FF8A3D"),
    "frame-edge": ("#B98B00", "#D9A400"),
    "minus": ("#FCE3D3", "#3A2416"),
    "minus-mark": ("#F4B183", "#8A4A1C"),
    "plus": ("#D5EFE6", "#12332A"),
    "plus-mark": ("#86D2BB", "#1F6B55"),
    "keyword": ("#7A2E8E", "#D7A6E8"),
    "string": ("#0B6B4F", "#7FD6B4"),
    "number": ("#9A4A00", "#F0B27A"),
    "comment": ("#68727B", "#8D98A2"),
    "name": ("#1F5A94", "#8DBCEB"),
    "builtin": ("#6A4C00", "#E3C46B"),
}
"""The style sheet's tokens: the value on the light page and on the dark one."""
